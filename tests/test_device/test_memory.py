"""Python's arrays on a device whose memory the host cannot touch: who looks at it anyway crashes."""

import pathlib
import sys
import warnings

import heddle
import jax
import jax.numpy as jnp
import numpy as np
import pytest

X = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
EXTERNAL = 12  # DLPack's number for a device of somebody's own


class Lender:
    """An array of another package on the same device, which only speaks DLPack."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.streams = array, array.shape, array.dtype, []

    def astype(self, dtype):
        return Lender(heddle.array(np.asarray(self.array).astype(dtype)))

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None, **wishes):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream, **wishes)


def test_arrays_lie_on_the_device():
    x = heddle.array(X)
    assert x.device == "test" and x.__dlpack_device__() == (EXTERNAL, 0)
    y = heddle.jit(lambda x: x @ x.T)(x)
    assert y.device == "test" and y.block_until_ready() is y
    np.testing.assert_allclose(y, X @ X.T, rtol=1e-5, atol=1e-6)
    assert float(heddle.jit(jnp.sum)(x)) == pytest.approx(float(X.sum()), rel=1e-5)
    np.testing.assert_array_equal(x[1:3], X[1:3])
    assert "device='test'" in repr(heddle.array(np.zeros((200, 200))))


def test_values_stay_between_calls():
    step = heddle.jit(lambda p, g: jax.tree.map(lambda a, b: a - b, p, g), donate="p")
    p, g = {"w": X, "b": X[0]}, {"w": heddle.array(X), "b": heddle.array(X[0])}
    for _ in range(30):
        p = step(p, g)
    np.testing.assert_allclose(p["w"], -29 * X, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(g["w"], X)


def test_donated_values_that_others_hold_stay_as_they_are():
    step = heddle.jit(lambda x: x + 1, donate="x")
    x = heddle.array(X)
    lent = Lender(heddle.jit(lambda x: x * 1)(x))
    y = step(lent)
    np.testing.assert_array_equal(lent.array, X)
    capsule = x.__dlpack__()  # somebody looks at it
    z = step(x)
    assert x.is_deleted() and capsule is not None
    np.testing.assert_array_equal(y, X + 1)
    np.testing.assert_array_equal(z, X + 1)
    with pytest.raises(heddle.Error, match="was donated"):
        step(x)


def test_memory_is_borrowed_by_dlpack():
    f = heddle.jit(lambda x, y: x * 2 + y)
    lent = Lender(heddle.array(X))
    for _ in range(10):
        np.testing.assert_allclose(f(lent, X), X * 3, rtol=1e-6)
    assert len(lent.streams) == 10
    half = Lender(heddle.array(X.astype(np.float16)))
    np.testing.assert_allclose(heddle.jit(lambda x: x + 1)(half), X + 1, atol=2e-3, rtol=2e-3)


def test_lent_memory_of_another_kind_is_refused():
    class Elsewhere(Lender):
        def __dlpack_device__(self):
            return (10, 3)

    with pytest.raises(heddle.Error, match="an array on rocm:3 came in, and the function runs on test"):
        heddle.jit(lambda x: x + 1)(Elsewhere(heddle.array(X)))


def test_meshes():
    f = heddle.jit(lambda x: jnp.tanh(x).sum(1), mesh={"dp": 2}, layouts={"x": "dp,_"})
    y = f(Lender(heddle.array(X)))
    assert y.layout == "dp" and y.device == "test" and [p.shape for p in y.parts] == [(3,), (3,)]
    again = heddle.jit(lambda y: y * 2, mesh={"dp": 2}, layouts={"y": "dp"})(y)
    np.testing.assert_allclose(again, 2 * np.tanh(X).sum(1), rtol=1e-5)
    whole = heddle.jit(lambda y: y + 1)(again)
    np.testing.assert_allclose(whole, 2 * np.tanh(X).sum(1) + 1, rtol=1e-5)


def test_profile_leaves_donated_values_alone():
    f = heddle.jit(lambda x: x + 1, donate="x")
    x = heddle.array(X)
    assert "%" in str(f.profile(x, steps=3))
    np.testing.assert_array_equal(x, X)


def test_deleted():
    x = heddle.array(X)
    x.delete()
    for use in (np.asarray, lambda a: a.__dlpack__(), lambda a: a.device, heddle.jit(lambda x: x + 1)):
        with pytest.raises(heddle.Error, match="was deleted"):
            use(x)


@pytest.fixture
def recorded():
    """Windows of recorded arrays on the device; every array is large enough for it."""
    from heddle.numpy._core import recorded

    before = recorded.at_once()
    recorded.set_at_once(0)
    recorded.set_device("cpu", 2)  # which is the test device here
    yield recorded
    recorded.set_device("cpu")
    recorded.set_at_once(before)


def turns(np, steps):
    u = np.zeros((20, 30))
    u[0] = 1
    for turn in range(steps):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
        u += turn
    return u


def test_recorded_arrays_stay_between_windows(recorded):
    import heddle.numpy as hn

    assert hn.device() == "test"
    before = hn.counts()
    recorded.set_direct("never")
    u = turns(hn, 3)
    hn.flush()
    u *= 2
    hn.flush()
    assert hn.counts()["bytes_back"] == before["bytes_back"]
    there = hn.counts()["bytes_there"]
    np.testing.assert_allclose(np.asarray(u), 2 * turns(np, 3), rtol=1e-12)
    assert float((u + 1).sum()) == pytest.approx((2 * turns(np, 3) + 1).sum())
    assert hn.counts()["bytes_there"] == there  # it is in both places now
    recorded.set_direct("")


def test_recorded_arrays_that_both_write(recorded):
    import heddle.numpy as hn

    def program(np):
        x = np.arange(12.0).reshape(3, 4)
        y = x * 2
        y[1, 2] = 100.0  # the host's
        z = y + x
        z[z > 50] = -1.0
        w = np.sort(z, axis=1) + np.linalg.solve(np.eye(3) * 2, np.ones((3, 1)))
        return [float(y.sum()), float(w[0, 1]), w.tolist(), (z @ z.T).tolist(), np.fft.fft(x).real.tolist()]

    for direct in ("", "never", "always"):
        recorded.set_direct(direct)
        for _ in range(3):  # unknown, on its way, known
            for got, wanted in zip(program(hn), program(np)):
                np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    recorded.set_direct("")


def test_random_programs_of_recorded_arrays(recorded):
    """Also those whose numbers lie in memory of Python's, which no thread of the device may give back."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
    import test_arrays_views as views

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(500_040, 500_070):
            recorded.set_at_once((0, 0, 12, 40)[seed % 4])
            recorded.set_direct(("never", "", "always", "")[seed % 4])
            recorded.set_device("cpu", (0, 2, 20)[seed % 3])
            views.compare(seed)
    recorded.set_direct("")
