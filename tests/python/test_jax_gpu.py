"""JAX programs with HEDDLE_DEVICE=cuda: the one device that JAX sees is the GPU. Skipped without one."""

import os

import heddle
import numpy as np
import pytest

try:
    heddle.array(np.zeros(1, np.float32), device="cuda")
except heddle.Error as why:
    pytest.skip(f"no GPU: {why}", allow_module_level=True)

os.environ["HEDDLE_DEVICE"] = "cuda"
os.environ["JAX_PLATFORMS"] = "heddle,cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.standard_normal((128, 64)).astype(np.float32)


def test_the_device_is_the_gpu():
    (device,) = jax.devices()
    assert "cuda:0" in str(device) and "Heddle" in device.client.platform_version
    assert "NVIDIA" in device.device_kind
    stats = device.memory_stats()
    assert stats["bytes_limit"] > 1 << 30


def test_training_loop():
    def loss(p, x, y):
        h = jax.nn.gelu(x @ p["a"]) @ p["b"]
        return jnp.mean((h - y) ** 2)

    @jax.jit
    def step(p, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        return jax.tree.map(lambda w, d: w - 0.01 * d, p, g), value

    p = {
        "a": jnp.asarray(RNG.standard_normal((64, 256)).astype(np.float32) * 0.1),
        "b": jnp.asarray(RNG.standard_normal((256, 8)).astype(np.float32) * 0.1),
    }
    y = jnp.asarray(RNG.standard_normal((128, 8)).astype(np.float32))
    x = jnp.asarray(X)
    losses = []
    for _ in range(30):
        p, value = step(p, x, y)
        losses.append(value)
    losses = [float(v) for v in losses]
    assert losses[-1] < losses[0]
    assert jax.devices()[0].memory_stats()["bytes_in_use"] > 0
    on_cpu = jax.tree.map(np.asarray, p)
    assert np.isfinite(on_cpu["a"]).all()


def test_agrees_with_the_cpu():
    cpu = jax.devices("cpu")[0]

    def f(x):
        return jax.nn.softmax(x @ x.T, axis=-1), jnp.sort(x, axis=0), jnp.linalg.qr(x[:64])[1], jnp.fft.fft(x[0])

    got = jax.jit(f)(X)
    want = jax.jit(f)(jax.device_put(X, cpu))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.abs(a), np.abs(b), rtol=2e-3, atol=2e-3)


def test_donation_and_deletion():
    @jax.jit
    def add(x):
        return x + 1

    twice = jax.jit(add, donate_argnums=0)
    x = jnp.asarray(X)
    y = twice(x)
    assert x.is_deleted()
    np.testing.assert_allclose(y, X + 1)
    y.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(y)


def test_host_memory_and_back():
    x = jnp.asarray(X)
    there = jax.device_put(x, jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))
    assert there.sharding.memory_kind == "pinned_host"
    back = jax.device_put(there, jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="device"))
    np.testing.assert_array_equal(back, X)
    np.testing.assert_array_equal(np.from_dlpack(x), X)
    np.testing.assert_array_equal(jax.device_put(x, jax.devices("cpu")[0]), X)


def test_callbacks_and_control_flow():
    seen = []

    @jax.jit
    def f(x):
        y = jax.pure_callback(lambda v: np.asarray(v) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        jax.debug.callback(lambda v: seen.append(float(v)), y.sum())
        return jax.lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * 1.5), (0, y))[1]

    np.testing.assert_allclose(f(jnp.ones(8)), np.full(8, 2 * 1.5**10), rtol=1e-5)
    jax.effects_barrier()
    assert seen == [16.0]


def test_random_numbers_are_the_same():
    cpu = jax.devices("cpu")[0]
    draw = jax.jit(lambda k: jax.random.normal(k, (1000,)))
    with jax.default_device(cpu):
        want = np.asarray(draw(jax.random.key(3)))
    np.testing.assert_allclose(draw(jax.random.key(3)), want, rtol=1e-5, atol=1e-6)
