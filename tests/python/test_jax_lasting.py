"""JAX on Heddle's backend: threads, and memory over many calls and compilations."""

import itertools
import os
import threading

import jax_backend  # first: it chooses the backend
import jax
import jax.numpy as jnp
import memory
import numpy as np

CALLS = int(os.environ.get("HEDDLE_TEST_CALLS", "50000"))
COMPILATIONS = int(os.environ.get("HEDDLE_TEST_COMPILATIONS", "150"))


def test_threads_call_at_the_same_time():
    f = jax.jit(lambda x, n: (x * n).sum())
    x = jnp.ones((64, 64))
    wrong = []

    def calls(n):
        for _ in range(100):
            if float(f(x, np.float32(n))) != 64 * 64 * n:
                wrong.append(n)

    threads = [threading.Thread(target=calls, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_compile_at_the_same_time():
    wrong = []

    def compile_some(n):
        for i in range(5):
            if float(jax.jit(lambda x: x * (10 * n + i))(2.0)) != 2 * (10 * n + i):
                wrong.append(n)

    threads = [threading.Thread(target=compile_some, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def assert_flat(work, times, warm_up, most):
    """This many times of work add less than `most` bytes, after a warm-up."""
    work(warm_up)
    memory.assert_flat(lambda: work(times), most)


def test_calls_hold_memory_flat():
    f = jax.jit(lambda x, y: (x + y, x @ y))
    x = jnp.ones((16, 16))

    def call(times):
        for _ in range(times):
            f(x, x)
        jax.block_until_ready(f(x, x))
    assert_flat(call, CALLS, CALLS // 5, 4_000_000)


def test_transfers_hold_memory_flat():
    x = np.ones((100, 100), np.float32)

    def transfer(times):
        for _ in range(times):
            np.asarray(jax.device_put(x) + 1)
    assert_flat(transfer, CALLS // 20, CALLS // 20, 4_000_000)


def test_callbacks_hold_memory_flat():
    f = jax.jit(lambda x: jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct((16,), jnp.float32), x))
    x = jnp.ones(16)

    def call(times):
        for _ in range(times):
            np.asarray(f(x))
    assert_flat(call, CALLS // 50, CALLS // 50, 4_000_000)


def test_compilations_hold_memory_flat():
    """JAX keeps what it has compiled; cleared of that, nothing is left of a program."""
    numbers = itertools.count()

    def compile_some(times):
        for i in itertools.islice(numbers, times):
            f = jax.jit(lambda x: (jnp.tanh(x) * i).sum() + i)
            assert float(f(np.zeros(3, np.float32))) == i
            if i % 50 == 0:
                jax.clear_caches()
        jax.clear_caches()
    memory.fill_cache_of_kernels()
    assert_flat(compile_some, COMPILATIONS, 100, 5_000 * COMPILATIONS)
