"""Ctrl-C while JAX compiles and runs on Heddle's backend: real processes, real signals."""

import signal

import jax_backend
import pytest

# Halves as long as the first number is below two: without end for zeros. An effect may go with it.
ENDLESS = """
    import os, signal, sys
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    def endless(x, effect=lambda y: None):
        def half(y):
            effect(y)
            return y * 0.5
        return jax.lax.while_loop(lambda y: y[0] < 2, half, x)

    def ready():
        print("ready", flush=True)

    x = np.zeros(64, np.float32)
    f = jax.jit(endless)
    f.lower(x).compile()
"""


def pressed(code, **variables):
    """Runs the code and presses Ctrl-C whenever it says "ready". Gives status, words and errors."""
    with jax_backend.started(ENDLESS, code, **variables) as child:
        words = []
        for line in child.stdout:
            if line.strip() == "ready":
                child.send_signal(signal.SIGINT)
            else:
                words += line.split()
        errors = child.stderr.read()
        return child.wait(), words, errors


@pytest.mark.parametrize("waits", [
    "y = f(x); ready(); y.block_until_ready()",
    "y = jax.jit(lambda x: endless(x, lambda y: jax.debug.callback(lambda z: None, y)))(x); ready(); "
    "y.block_until_ready()",
], ids=["pure", "with effects"])
def test_ends_a_process_that_waits(waits):
    status, _, errors = pressed(waits)
    assert status == -signal.SIGINT and "KeyboardInterrupt" in errors, errors


def test_ends_a_process_that_waits_for_eight_devices():
    status, _, errors = pressed("""
        over_x = NamedSharding(Mesh(np.array(jax.devices()), "x"), PartitionSpec("x"))
        y = f(jax.device_put(x, over_x))
        ready()
        y.block_until_ready()
    """, HEDDLE_DEVICES="8")
    assert status == -signal.SIGINT and "KeyboardInterrupt" in errors, errors


def test_a_program_of_which_nobody_holds_results_is_stopped():
    status, words, errors = pressed("""
        try:
            y = f(x)
            ready()
            while True:
                y.block_until_ready()
        except KeyboardInterrupt:
            del y
        g = jax.jit(lambda x: jnp.sort(x).sum())  # it would run behind the other
        print(g(jnp.ones(100_000)))
    """)
    assert (status, words) == (0, ["100000.0"]), errors


def test_the_second_one_stops_a_program_whose_results_are_held():
    _, words, errors = pressed("""
        y = f(x)
        outcome, interrupted, over = "", 0, False
        while not over:
            try:
                ready()
                try:
                    y.block_until_ready()
                except jax.errors.JaxRuntimeError as error:
                    outcome = str(error).split(":")[0]
                    signal.signal(signal.SIGINT, signal.SIG_IGN)  # one more may come when all is over
                    over = True
            except KeyboardInterrupt:
                interrupted += 1
        print(interrupted > 0, outcome)
    """)
    assert words == ["True", "CANCELLED"], errors


def test_the_first_one_leaves_results_that_are_held():
    """Who saves the state of his training on Ctrl-C gets the step that was under way."""
    status, words, errors = pressed("""
        y = jax.jit(lambda x: jax.lax.fori_loop(0, 200_000, lambda i, y: y + 1, x))(x)
        try:
            ready()
            while True:
                y.block_until_ready()
                sum(range(1000))
        except KeyboardInterrupt:
            print(y[0])
    """)
    assert (status, words) == (0, ["200000.0"]), errors


def test_a_program_without_end_does_not_keep_python_from_ending():
    assert jax_backend.said_by(ENDLESS, "y = f(x); print('over')") == ["over"]


def test_a_loop_of_calls_ends():
    status, _, errors = pressed("""
        g = jax.jit(lambda x: x + 1)
        y = g(x)
        ready()
        while True:
            g(x).block_until_ready()
            sum(range(1000))
    """)
    assert status == -signal.SIGINT and "KeyboardInterrupt" in errors, errors


# jaxlib turns a program into text first: there the signal comes, or as soon as one of many kernels is made.
COMPILING = """
    import heddle.jax_plugin, pathlib, signal, threading, time

    text_of = heddle.jax_plugin._text_of

    def text_and_press(code):
        heddle.jax_plugin._text_of = text_of
        {press}
        return text_of(code)

    def many_kernels(x):
        for i in range(60):
            x = jnp.sort(jnp.tanh(x * i) + i)
        return x

    def kernels_made():
        files = pathlib.Path(os.environ["HEDDLE_CACHE_DIR"]).rglob("*")
        return len([f for f in files if not f.name.startswith("plan_")])

    def press_at_the_first_kernel():
        while kernels_made() == before:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    before = kernels_made()
    lowered = jax.jit(many_kernels).lower(x)
    heddle.jax_plugin._text_of = text_and_press
    try:
        lowered.compile()
    except KeyboardInterrupt:
        print("interrupted")
    made = kernels_made()
    lowered.compile()
    print(made < kernels_made())
"""


@pytest.mark.parametrize("press", [
    "signal.raise_signal(signal.SIGINT)",
    "threading.Thread(target=press_at_the_first_kernel).start()",
], ids=["reading", "compiling"])
def test_ends_compiling(press, tmp_path):
    code = COMPILING.format(press=press)
    # Two kernels at a time, on every machine.
    words = jax_backend.said_by(ENDLESS, code, HEDDLE_CACHE_DIR=str(tmp_path), HEDDLE_THREADS="2")
    assert words == ["interrupted", "True"]


# The log tells where it is: the signal comes when the one kernel is handed to LLVM, which has it for seconds.
ONE_KERNEL = """
    import sys, heddle, jax, jax.numpy as jnp, numpy as np

    def tangents(x):
        for i in range(25):
            x = jnp.tan(x) + i
        return x

    x = jax.ShapeDtypeStruct((1000,), np.float64)
    try:
        {compile}
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr, flush=True)
    print(jnp.ones(3).sum())  # others may compile meanwhile
"""


@pytest.mark.parametrize("compile", [
    "jax.jit(tangents).lower(x).compile()", "heddle.jit(tangents).compile(x).function",
], ids=["jax", "heddle"])
def test_ends_compiling_inside_of_a_kernel(compile, tmp_path):
    log, pressed = [], False
    with jax_backend.started(
        ONE_KERNEL.format(compile=compile), HEDDLE_LOG="2", HEDDLE_CACHE_DIR=str(tmp_path),
        JAX_ENABLE_X64="1") as child:
        for line in child.stderr:
            log.append(line)
            if "compile: kernels took" in line and not pressed:
                child.send_signal(signal.SIGINT)
                pressed = True
            if "interrupted" in line:
                break
        assert not any("compile: code took" in said for said in log), log
        log += child.stderr.readlines()
        assert child.stdout.read().split() == ["3.0"] and child.wait() == 0, log


def test_a_thread_that_waits_does_not_abort_the_process_when_python_ends():
    assert jax_backend.said_by(ENDLESS, """
        import threading
        y = f(x)
        waits = threading.Thread(target=y.block_until_ready, daemon=True)
        waits.start()
        print("over")
    """) == ["over"]


def test_a_thread_that_compiles_does_not_crash_the_process_when_python_ends(tmp_path):
    with jax_backend.started("""
        import sys, threading, jax, jax.numpy as jnp, numpy as np

        def tangents(x):
            for i in range(25):
                x = jnp.tan(x) + i
            return x

        lowered = jax.jit(tangents).lower(jax.ShapeDtypeStruct((1000,), np.float64))
        threading.Thread(target=lowered.compile, daemon=True).start()
        sys.stdin.readline()
    """, HEDDLE_LOG="2", HEDDLE_CACHE_DIR=str(tmp_path), JAX_ENABLE_X64="1") as child:
        while "compile: kernels took" not in child.stderr.readline():
            pass
        errors = child.communicate("end\n")[1]
        assert child.returncode == 0, errors
