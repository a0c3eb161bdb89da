"""Operations that libraries bring: the example under examples/library, builders, wrong use, opaque functions."""

import importlib.util
import pathlib
import uuid

import numpy as np
import pytest

import heddle.numpy as hnp
import heddle.library
from heddle._core import _recorded as recorded
from heddle.errors import Error
from heddle.library import opaque, operation


@pytest.fixture(scope="module")
def waves():
    file = pathlib.Path(__file__).parents[2] / "examples" / "library" / "waves.py"
    spec = importlib.util.spec_from_file_location("waves", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pytestmark = pytest.mark.usefixtures("all_recorded")


def fresh(name):
    """Names are taken for as long as a process lives."""
    return f"test_{uuid.uuid4().hex}.{name}"


def test_three_libraries_in_one_window(waves):
    n, steps, dt, width = 64, 5, 1e-3, 0.1
    u, v = waves.simulate(n, steps)
    x = np.exp(-(((np.arange(n) - n / 2) * (20 / n)) ** 2))
    y = np.zeros(n)
    for _ in range(steps):
        curve = (np.roll(x, 1) + np.roll(x, -1) - 2 * x) / width**2
        y = y + dt * (curve - 0.1 * np.roll(x, n // 2))
        x = x + dt * y
    moving, resting = waves.energy(u, v)
    np.testing.assert_allclose(np.asarray(u), x, rtol=1e-12)
    np.testing.assert_allclose(float(moving), (y**2).sum() / 2, rtol=1e-10)
    np.testing.assert_allclose(float(resting), (x**2).sum() / 2, rtol=1e-10)
    np.testing.assert_array_equal(np.asarray(waves.crests(u)), np.flatnonzero((x > np.roll(x, 1)) & (x > np.roll(x, -1))))


def test_calls_of_libraries_fuse(waves):
    u, v, coupling = hnp.asarray(np.random.default_rng(0).random(64)), hnp.zeros(64), waves.potential(64)
    coupling._form("rows")
    hnp.flush()
    before = hnp.counts()
    v = v + 1e-3 * (waves.laplacian(u, 0.1) - coupling @ u)
    u = u + 1e-3 * v
    hnp.flush()
    after = hnp.counts()
    assert after["windows"] - before["windows"] == 1
    assert after["launches"] - before["launches"] == 1


def test_builders_have_what_an_operation_needs():
    name = fresh("everything")

    @operation(name)
    def everything(b, x, y, number, *, axis, word):
        assert word == "yes" and x.shape == (3, 4) and x.ndim == 2 and x.dtype == np.float64
        total = b.reduce(x, [axis], "add")
        other = b.transpose(b.transpose(y, [1, 0]), [1, 0])
        large = b.compare("GT", x, other)
        chosen = b.select(large, x, other)
        places = b.convert(b.iota([3, 4], 1, np.dtype("i8")), np.dtype("f8"))
        roots = b.op("sqrt", [b.op("abs", x)])
        least = b.call("numpy.minimum", x, y)
        joined = b.reshape(b.concatenate([chosen, places], 0), [6, 4])
        zeros = b.full([3, 4], 0.0, np.dtype("f8"))
        return [b.spread(total, [3, 4]) * b.spread(number, [3, 4]), joined, roots - zeros, -least / 2.0 + 1, b.dot(x, b.transpose(y, [1, 0]))]

    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))
    results = [np.asarray(one) for one in everything(hnp.asarray(x), y, 3, axis=0, word="yes")]
    places = np.broadcast_to(np.arange(4.0), (3, 4))
    expected = [np.broadcast_to(x.sum(0) * 3, (3, 4)), np.concatenate([np.maximum(x, y), places]), np.sqrt(abs(x)),
                -np.minimum(x, y) / 2 + 1, x @ y.T]  # fmt: skip
    for ours, theirs in zip(results, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert name in heddle.library.operations() and "sparse.row_product" in heddle.library.operations()


def test_a_mistake_in_a_builder_leaves_the_window_whole():
    @operation(fresh("wrong"))
    def wrong(b, x):
        return b.dot(x, b.full([5, 5], 1.0, np.dtype("f8")))

    @operation(fresh("raising"))
    def raising(b, x):
        x + x
        raise KeyError("mine")

    before = hnp.asarray(np.arange(3.0)) * 2
    with pytest.raises(Error, match="operation .*wrong"):
        wrong(before)
    with pytest.raises(KeyError, match="mine"):
        raising(before)
    np.testing.assert_array_equal(np.asarray(before + 1), [1, 3, 5])


def test_wrong_use():
    kept = []

    @operation(fresh("keeping"))
    def keeping(b, x):
        kept.extend((b, x))
        return x + 1.0

    @operation(fresh("reading"))
    def reading(b, x):
        float(hnp.asarray([1.0, 2.0]).sum())
        return x

    @operation(fresh("nothing"))
    def nothing(b, x):
        pass

    x = hnp.asarray(np.arange(3.0))
    np.testing.assert_array_equal(np.asarray(keeping(x)), [1, 2, 3])
    with pytest.raises(Error, match="over"):
        kept[1] + 1.0
    with pytest.raises(Error, match="over"):
        kept[0].reshape(kept[1], [3])
    with pytest.raises(Error):
        reading(x)
    with pytest.raises(TypeError, match="returns its value"):
        nothing(x)
    with pytest.raises(TypeError, match="at least one array"):
        keeping(3)
    with pytest.raises(TypeError):
        keeping("word", x)
    with pytest.raises(ValueError, match="empty"):
        keeping(hnp.zeros(0))
    with pytest.raises(ValueError, match="library"):
        operation("plain")
    with pytest.raises(Error, match="already"):
        operation("sparse.row_product")(lambda b, x: x)
    with pytest.raises(Error, match="no operation"):
        recorded.operation("no.such", [x], {})
    np.testing.assert_array_equal(np.asarray(x * 2), [0, 2, 4])


def test_opaque_functions_end_a_window_and_nothing_else():
    seen = []

    @opaque
    def middle(x, *, add):
        seen.append(type(x))
        with pytest.raises(ValueError):
            x[0] = 1
        return x + add, "word"

    a = hnp.asarray(np.arange(4.0)) * 3
    b, word = middle(a, add=1)
    np.testing.assert_array_equal(np.asarray(b * 2 + a), np.arange(4.0) * 9 + 2)
    assert seen == [np.ndarray] and word == "word"

    @opaque
    def fails(x):
        raise RuntimeError("mine")

    c = a + 1
    with pytest.raises(RuntimeError, match="mine"):
        fails(c)
    np.testing.assert_array_equal(np.asarray(c + a), np.arange(4.0) * 6 + 1)


@pytest.mark.parametrize("wrong", [lambda b, x: x, 3, None])
def test_an_operation_has_a_name(wrong):
    with pytest.raises(TypeError, match="an operation needs a name"):
        operation(wrong)
