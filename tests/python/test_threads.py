"""Threads, Ctrl-C, and memory over many calls."""

import itertools
import signal
import subprocess
import sys
import textwrap
import threading

import heddle
import jax
import jax.numpy as jnp
import memory
import numpy as np
import pytest


@pytest.mark.parametrize("mesh", [None, {"dp": 2}])
def test_threads_call_at_the_same_time(mesh):
    f = heddle.jit(lambda x, n: (x * n).sum(), mesh=mesh)
    x = np.ones((64, 64), np.float32)
    trouble = []

    def calls(n):
        for _ in range(50):
            if float(np.asarray(f(x, np.float32(n)))) != 64 * 64 * n:
                trouble.append(n)

    threads = [threading.Thread(target=calls, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not trouble


def test_other_threads_go_on_meanwhile():
    """The GIL is released: a thread of Python counts while another one is in a loop."""
    over = threading.Event()
    seen = []

    def slow(x):
        return jax.lax.fori_loop(0, 200, lambda i, y: jnp.tanh(y @ y), x)

    f = heddle.jit(slow)
    x = np.eye(300, dtype=np.float32)
    f(x)

    def count():
        while not over.is_set():
            seen.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    during = 0
    for _ in range(20):  # where cores are busy, it may get none for a while
        before = len(seen)
        f(x)
        during += len(seen) - before
        if during > 0:
            break
    over.set()
    thread.join()
    assert during > 0


PROGRAM = """
    import heddle, jax, jax.numpy as jnp, numpy as np, os, signal, sys, threading
    f = heddle.jit(lambda x: jax.lax.while_loop(lambda y: y[0, 0] < 2, lambda y: y * 0.5, x){mesh})
    x = np.zeros((64, 64), np.float32)
    f.compile(x)
    def press():
        import time
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
    try:
        threading.Thread(target=press).start()
        f(x)
    except KeyboardInterrupt:
        print("stopped")
    g = heddle.jit(lambda x: x + 1{mesh})
    print(np.asarray(g(x)).sum())
"""


@pytest.mark.parametrize("mesh", ["", ", mesh={'dp': 2}, layouts={'x': 'dp,_'}"])
def test_ctrl_c_ends_a_run_without_end(mesh):
    program = textwrap.dedent(PROGRAM.format(mesh=mesh))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["stopped", "4096.0"], done.stderr


def test_a_handler_that_does_not_raise_lets_it_run_on():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        f = heddle.jit(lambda n, x: jax.lax.fori_loop(0, n, lambda i, y: jnp.tanh(y @ y), x))
        turns = np.int32(3000)
        while not seen and turns < 2**28:  # a fast machine may be done before the first signal
            y = f(turns, np.eye(64, dtype=np.float32))
            turns *= np.int32(4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen
    assert np.asarray(y).shape == (64, 64)


def test_calls_hold_memory_flat():
    f = heddle.jit(lambda x, y: (x + y, x @ y))
    x = np.ones((16, 16), np.float32)

    def call(times):
        for _ in range(times):
            f(x, x)

    call(20_000)
    memory.assert_flat(lambda: call(100_000), 2_000_000)


def test_calls_on_arrays_of_heddle_hold_memory_flat():
    f = heddle.jit(lambda x: x * 1.0001, mesh={"dp": 2}, layouts={"x": "dp"}, donate=0)
    x = f(np.ones(1024, np.float32))

    def call(times):
        nonlocal x
        for _ in range(times):
            x = f(x)

    call(500)
    memory.assert_flat(lambda: call(2_000), 2_000_000)


def test_compilations_hold_memory_flat():
    from heddle import _core

    text = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %c = stablehlo.constant dense<{}.0> : tensor<4xf32>
  %0 = stablehlo.add %a, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
    x = np.zeros(4, np.float32)

    def compile_one(i):
        (y,) = _core.compile(_core.read_program(text.format(i)))([x])
        assert np.asarray(y)[0] == i

    numbers = itertools.count()

    def compile_some(times):
        for i in itertools.islice(numbers, times):
            compile_one(i)

    # As many as the cache of kernels keeps, and then a thousand.
    compile_some(600)
    memory.assert_flat(lambda: compile_some(1000), 5_000_000)


def test_functions_hold_memory_flat():
    """A function that is gone leaves nothing behind, once JAX has forgotten what it traced."""

    numbers = itertools.count()

    def call_some(times):
        for i in itertools.islice(numbers, times):
            f = heddle.jit(lambda x: (jnp.tanh(x) * i).sum() + i)
            assert float(np.asarray(f(np.zeros(3, np.float32)))) == i
            if i % 50 == 0:
                jax.clear_caches()
        jax.clear_caches()

    memory.fill_cache_of_kernels()
    call_some(100)
    memory.assert_flat(lambda: call_some(250), 1_250_000)
