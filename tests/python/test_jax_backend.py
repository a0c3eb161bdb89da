"""JAX on Heddle's backend, one device: what programs do every day."""

import os
import subprocess
import time

import jax_backend  # first: it chooses the backend
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback, serialize_executable
from jax.experimental.layout import Format, Layout

HEDDLE = jax.devices()[0]
CPU = jax.devices("cpu")[0]


def on_cpu(function, *arguments):
    """What JAX's own CPU backend makes of it."""
    return jax.jit(function)(*[jax.device_put(a, CPU) for a in arguments])


def agree(function, *arguments, rtol=1e-5):
    got, wanted = jax.jit(function)(*arguments), on_cpu(function, *arguments)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        assert one.devices() == {HEDDLE} and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-6)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_the_default_device_is_heddle():
    assert "Heddle" in HEDDLE.client.platform_version
    assert HEDDLE.platform == jax.default_backend() == "cpu"
    assert HEDDLE != CPU and HEDDLE.num_cores >= 1
    assert len(jax.devices()) == 1


def test_jit():
    agree(lambda x, y: {"sum": jnp.tanh(x) @ y, "max": jnp.max(y, axis=0)}, normal(5, 7), normal(7, 3))


def test_grad():
    agree(jax.grad(lambda x, y: jnp.sum(jax.nn.softmax(x @ y) ** 2)), normal(5, 7), normal(7, 3))


def test_scan():
    agree(lambda x, xs: jax.lax.scan(lambda c, y: (c * 0.5 + y, jnp.sum(c)), x, xs), normal(4), normal(9, 4))


def test_vmap():
    agree(jax.vmap(lambda x, i: jnp.sort(x)[i]), normal(6, 5), np.arange(6) % 5)


def test_while_and_cond():
    def collatz(n):
        step = lambda n: jax.lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n)
        return jax.lax.while_loop(lambda s: s[0] > 1, lambda s: (step(s[0]), s[1] + 1), (n, 0))[1]
    assert int(jax.jit(collatz)(27)) == 111


def test_random_numbers_are_those_of_the_cpu_backend():
    draw = lambda key: (jax.random.normal(key, (100,)), jax.random.permutation(key, 100))
    key = np.asarray([3, 4], np.uint32)
    agree(draw, key)


def test_linear_algebra():
    a = normal(6, 6) + 6 * np.eye(6, dtype=np.float32)
    agree(lambda a: jnp.linalg.solve(a, jnp.ones(6)), a, rtol=1e-4)


def test_x64():
    with jax.enable_x64(True):
        x = jax.jit(lambda x: x / 3)(np.float64(1))
    assert x.dtype == np.float64 and float(x) == 1 / 3


# ---- buffers

def test_donated_arguments_are_gone():
    x = jnp.ones(1000)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted() and not y.is_deleted() and float(y[0]) == 2


def test_donated_memory_is_used_again():
    x = jax.device_put(np.ones(1 << 20, np.float32)) + 0
    x.block_until_ready()
    before = x.unsafe_buffer_pointer()
    y = jax.jit(lambda x: x * 2, donate_argnums=0)(x)
    y.block_until_ready()
    assert y.unsafe_buffer_pointer() == before


def test_numpy_reads_results_in_place():
    x = jnp.arange(1000.0) * 2
    view = np.asarray(x)
    assert view.ctypes.data == x.unsafe_buffer_pointer() and not view.flags.writeable
    del x
    assert view[999] == 1998


def test_aligned_arrays_are_taken_in_place():
    memory = np.empty(4096 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    x = memory[start:start + 4096].view(np.float32)
    x[:] = 7
    y = jax.device_put(x)
    assert y.unsafe_buffer_pointer() == x.ctypes.data
    assert float(jax.jit(jnp.sum)(y)) == 7 * 1024


def test_strided_and_unaligned_arrays_are_copied():
    whole = normal(8, 9)
    for part in (whole[:, 1:], whole.T, whole[::-2, ::3], np.zeros((0, 3), np.float32)):
        np.testing.assert_array_equal(jax.device_put(part), part)


def test_jnp_array_copies():
    x = np.ones(1024, np.float32)
    y = jnp.array(x)
    y.block_until_ready()
    x[:] = 2
    assert float(y[0]) == 1


def test_a_copy_has_memory_of_its_own():
    x = jnp.arange(1000.0)
    y = jax.device_put(x, may_alias=False)
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    jax.jit(lambda x: x * 0, donate_argnums=0)(x).block_until_ready()
    assert float(y[999]) == 999


def test_a_held_view_outlives_its_array():
    x = jnp.arange(1000.0) + 1
    view = np.asarray(x)
    x.delete()
    assert view[999] == 1000


def test_a_layout_that_is_asked_for():
    columns = Format(Layout(major_to_minor=(1, 0)), jax.sharding.SingleDeviceSharding(HEDDLE))
    x = normal(2, 3)
    y = jax.jit(lambda x: x * 2, out_shardings=columns)(x)
    assert y.format.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(y, 2 * x)
    np.testing.assert_array_equal(jax.jit(lambda y: y + 1)(y), 2 * x + 1)
    rows = Format(Layout(major_to_minor=(0, 1)), jax.sharding.SingleDeviceSharding(HEDDLE))
    np.testing.assert_array_equal(np.from_dlpack(jax.device_put(y, rows)), 2 * x)
    compiled = jax.jit(lambda y: y.T, in_shardings=columns).lower(y).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(compiled(y), 2 * x.T)
    view = np.from_dlpack(y)  # as it lies
    assert view.strides == (4, 8) and view.ctypes.data == y.unsafe_buffer_pointer()
    np.testing.assert_array_equal(view, 2 * x)
    y.delete()
    np.testing.assert_array_equal(view, 2 * x)


def test_dlpack_to_numpy():
    x = jnp.arange(12.0).reshape(3, 4)
    view = np.from_dlpack(x)
    assert view.ctypes.data == x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(view, x)


def test_dlpack_round_trip():
    x = jnp.arange(12.0)
    np.testing.assert_array_equal(jnp.from_dlpack(x), x)


def test_transfers_between_backends():
    x = jnp.arange(5.0)
    there = jax.device_put(x, CPU)
    assert there.devices() == {CPU}
    back = jax.device_put(there + 1, HEDDLE)
    assert back.devices() == {HEDDLE}
    np.testing.assert_array_equal(back, np.arange(5) + 1)


def test_small_and_strange_types():
    for dtype in (jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn, jnp.int4, jnp.uint8, jnp.bool_, jnp.complex64):
        x = jnp.asarray([0, 1, 1, 0, 1], dtype)
        np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x[::-1])(x)), np.asarray(x)[::-1])


def test_results_come_later():
    """A call returns while its program runs."""
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 300, lambda i, x: jnp.tanh(x @ x), x))
    x = jnp.eye(400)
    slow(x).block_until_ready()

    def comes_later():
        y = slow(x)
        begun_early = not y.is_ready()
        y.block_until_ready()
        return begun_early and y.is_ready()

    # This thread may get no core until the program is over, but not every time.
    assert any(comes_later() for _ in range(20))


# ---- what JAX asks about devices and programs

def test_memory_stats():
    # Far more than other tests may give back meanwhile.
    before = HEDDLE.memory_stats()
    x = jax.device_put(np.ones(1 << 24, np.float32)) + 1
    x.block_until_ready()
    after = HEDDLE.memory_stats()
    assert after["bytes_in_use"] - before["bytes_in_use"] >= 60 << 20
    assert after["peak_bytes_in_use"] >= after["bytes_in_use"]
    assert after["bytes_limit"] > 0
    del x
    until = time.monotonic() + 60
    while HEDDLE.memory_stats()["bytes_in_use"] > after["bytes_in_use"] - (60 << 20):
        assert time.monotonic() < until, "it is not given back"
        time.sleep(0.01)


def test_text_of_what_was_compiled():
    def f(x):
        return jax.lax.erf(jnp.sin(x)) @ x.T + jax.random.normal(jax.random.key(0), (4, 4))

    text = jax.jit(f).lower(jnp.ones((4, 4))).compile().as_text()
    assert text.startswith("HloModule jit_f") and " sine(" in text and " dot(" in text
    text = jax.jit(jnp.linalg.cholesky).lower(jnp.ones((4, 4))).compile().as_text()
    assert 'custom_call_target="heddle.lapack.potrf"' in text and "uplo = 76" in text


def test_cost_analysis():
    compiled = jax.jit(lambda x, y: x @ y).lower(normal(64, 32), normal(32, 16)).compile()
    cost = compiled.cost_analysis()
    assert cost["flops"] == pytest.approx(2 * 64 * 32 * 16, rel=0.1)
    assert cost["bytes accessed"] >= 4 * (64 * 32 + 32 * 16 + 64 * 16)


def test_memory_analysis():
    compiled = jax.jit(lambda x, y: (x @ y).T).lower(normal(64, 32), normal(32, 16)).compile()
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == 4 * (64 * 32 + 32 * 16)
    assert memory.output_size_in_bytes == 4 * 64 * 16
    assert memory.temp_size_in_bytes >= 0


def test_an_executable_survives_serialisation():
    compiled = jax.jit(lambda x: {"y": x * 3}).lower(jnp.ones(4)).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    assert float(loaded(jnp.ones(4))["y"][1]) == 3


CACHED = """
    import jax, jax.numpy as jnp
    jax.config.update("jax_compilation_cache_dir", {folder!r})
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    counted = dict()
    jax.monitoring.register_event_listener(
        lambda event, **_: counted.update({{event: counted.get(event, 0) + 1}}))
    print(jax.jit(lambda x: jnp.sin(x) * 2)(jnp.ones(3)).sum())
    print(counted.get("/jax/compilation_cache/cache_hits", 0))
"""


def test_another_process_finds_what_was_compiled(tmp_path):
    code = CACHED.format(folder=str(tmp_path))
    first, second = jax_backend.said_by(code), jax_backend.said_by(code)
    assert first[1] == "0" and int(second[1]) >= 1
    assert first[0] == second[0]


# ---- calls of Python functions

def test_debug_print(capsys):
    @jax.jit
    def f(x):
        jax.debug.print("x is {x}", x=x[1])
        return x + 1
    f(jnp.arange(3.0))
    jax.effects_barrier()
    assert "x is 1.0" in capsys.readouterr().out


def test_pure_callback():
    where = lambda x: np.flip(x).copy()
    f = jax.jit(lambda x: jax.pure_callback(where, jax.ShapeDtypeStruct((4,), jnp.float32), x * 2) + 1)
    np.testing.assert_array_equal(f(jnp.arange(4.0)), [7, 5, 3, 1])


def test_a_callback_may_use_jax():
    def inner(x):
        return np.asarray(jnp.cumsum(x))
    f = jax.jit(lambda x: jax.pure_callback(inner, jax.ShapeDtypeStruct((4,), jnp.float32), x))
    np.testing.assert_array_equal(f(jnp.ones(4)), [1, 2, 3, 4])


def test_ordered_callbacks_keep_their_order():
    seen = []

    def note(x):
        seen.append(int(x))
        return np.float32(x)

    @jax.jit
    def f(x):
        def body(i, x):
            return x + io_callback(note, jax.ShapeDtypeStruct((), jnp.float32), i, ordered=True)
        return jax.lax.fori_loop(0, 20, body, x)
    assert float(f(1.0)) == 1 + sum(range(20))
    assert float(f(0.0)) == sum(range(20))
    jax.effects_barrier()
    assert seen == [*range(20), *range(20)]


def test_debug_callback_in_a_scan():
    seen = []

    @jax.jit
    def f(xs):
        def body(c, x):
            jax.debug.callback(lambda x: seen.append(float(x)), x, ordered=True)
            return c + x, None
        return jax.lax.scan(body, 0.0, xs)[0]
    assert float(f(jnp.arange(5.0))) == 10
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3, 4]


def test_options_of_xla_change_nothing():
    f = jax.jit(lambda x: x + 1, compiler_options={"xla_cpu_enable_fast_math": True})
    assert float(f(1.0)) == 2


def test_other_memories_of_the_host():
    there = jax.sharding.SingleDeviceSharding(HEDDLE, memory_kind="pinned_host")
    x = jax.device_put(np.ones(3, np.float32), there)
    assert x.sharding.memory_kind == "pinned_host"
    y = jax.jit(lambda x: jax.device_put(x, jax.sharding.SingleDeviceSharding(HEDDLE)) + 1)(x)
    np.testing.assert_array_equal(y, [2, 2, 2])


def test_backends_can_be_made_again():
    assert jax_backend.said_by("""
        import jax
        from jax.extend import backend
        first = float(jax.jit(lambda x: x + 1)(1.0))
        backend.clear_backends()
        print(first, float(jax.jit(lambda x: x + 1)(1.0)))
    """) == ["2.0", "2.0"]


def test_a_process_may_end_while_programs_run():
    jax_backend.said_by("""
        import jax, jax.numpy as jnp
        y = jax.jit(lambda x: jax.lax.fori_loop(0, 3000, lambda i, x: jnp.tanh(x @ x), x))(jnp.eye(300))
    """)


# ---- HEDDLE_PLAN

PLANNED = """
    import jax, jax.numpy as jnp, numpy as np
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(8, 16)), rng.normal(size=(16, 4))
    f = lambda x, w: (jax.nn.relu(x @ w), jnp.sum(x))
    x, w = x.astype(np.float32), jnp.asarray(w.astype(np.float32)) + 0  # a program that the plan does not fit
    got = jax.jit(f)(x, w)
    cpu = jax.devices("cpu")[0]
    wanted = jax.jit(f)(jax.device_put(x, cpu), jax.device_put(w, cpu))
    assert got[0].devices() == {jax.devices()[0]} and len(jax.devices()) == 1
    print(all(np.allclose(a, b, atol=1e-5) for a, b in zip(got, wanted)))
"""


def test_a_plan_deals_a_program_for_one_device_out(tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text('{"mesh": "x=4", "shard": {"arg0": "x,_", "arg1": "_,_"}}')
    done = jax_backend.child(PLANNED, HEDDLE_PLAN=str(plan), HEDDLE_LOG="1")
    assert done.stdout.split() == ["True"], done.stderr
    assert f"jit__lambda is dealt out by the plan {plan} over x=4" in done.stderr
    assert f"the plan {plan} does not fit jit_add, which runs on one device" in done.stderr


SEARCHED = """
    import jax, jax.numpy as jnp, numpy as np
    rng = np.random.default_rng(0)
    x, w = (rng.normal(size=size).astype(np.float32) for size in ((512, 256), (256, 384)))

    def step(x, w):
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean(jax.nn.relu(x @ w)))(w)
        return loss, w - gradient

    got = jax.jit(step)(x, w)
    cpu = jax.devices("cpu")[0]
    wanted = jax.jit(step)(jax.device_put(x, cpu), jax.device_put(w, cpu))
    print(all(np.allclose(a, b, atol=1e-5) for a, b in zip(got, wanted)), got[0].devices() == set(jax.devices()))
    tiny = jax.jit(lambda x: x + 1)(1.0)  # over before devices could meet
"""


def test_a_plan_that_is_searched_for():
    done = jax_backend.child(SEARCHED, HEDDLE_PLAN="auto", HEDDLE_LOG="1", HEDDLE_THREADS="2")
    assert done.stdout.split() == ["True", "True"], done.stderr
    assert "jit_step is dealt out by the plan auto over core=2" in done.stderr
    assert "jit__lambda is dealt out" not in done.stderr and "does not fit" not in done.stderr


def test_a_plan_that_the_tool_has_searched_for(tmp_path):
    program, plan = tmp_path / "step.mlir", tmp_path / "plan.json"
    write = f"\n    open({str(program)!r}, 'w').write(jax.jit(step).lower(x, w).as_text())"
    assert jax_backend.child(SEARCHED.split("got =")[0] + write).returncode == 0
    subprocess.run([os.environ["HEDDLE"], "plan", program, "--mesh", "a=2,b=2", "--plan", "auto", "-o", plan],
                   check=True, capture_output=True)
    assert '"search"' in plan.read_text()
    done = jax_backend.child(SEARCHED, HEDDLE_PLAN=str(plan), HEDDLE_LOG="1")
    assert done.stdout.split() == ["True", "True"], done.stderr
    assert f"jit_step is dealt out by the plan {plan} over a=2,b=2" in done.stderr
