"""Functions, indices by arrays and attributes of heddle.numpy beside NumPy's: equal, however much is recorded."""

import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded


@pytest.fixture(params=["compiled", "call by call", "as it comes"])
def mode(request):
    before = recorded.at_once()
    recorded.set_at_once(before if request.param == "as it comes" else 0)
    recorded.set_direct({"compiled": "never", "call by call": "always"}.get(request.param, ""))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield request.param
    hn.flush()
    recorded.set_at_once(before)
    recorded.set_direct("")


def floats(n, *shape):
    return n.asarray(np.random.default_rng(7).standard_normal(shape))


def wholes(n, *shape, top=50):
    return n.asarray(np.random.default_rng(8).integers(-top, top, shape))


def complexes(n, *shape):
    draw = np.random.default_rng(9)
    return n.asarray(draw.standard_normal(shape) + 1j * draw.standard_normal(shape))


def after(a, work):
    """What an array is when something was done with it."""
    work(a)
    return a


def put(a, at, value):
    a[at] = value


def set_attribute(a, name, value):
    setattr(a, name, value)


def added(a):
    a += 1
    return a


IDX, MASK = np.array([[1, -2], [0, 1]]), np.array([True, False, True, True, False])

FUNCTIONS = {
    "x[[]]": lambda n: floats(n, 5, 3)[[]],
    "x[[], :]": lambda n: (floats(n, 5, 3) + 1)[[], :],
    "x[idx]": lambda n: (floats(n, 5, 3) + 1)[IDX],
    "x[:, idx]": lambda n: (floats(n, 5, 3) + 1)[:, IDX],
    "x[idx, idx]": lambda n: (floats(n, 5, 3) + 1)[IDX, IDX],
    "x[idx, 1]": lambda n: (floats(n, 5, 3) + 1)[IDX, 1],
    "x[1:, idx, ::2]": lambda n: (floats(n, 5, 3, 4) + 1)[1:, IDX, ::2],
    "x[:, idx, idx]": lambda n: (floats(n, 5, 3, 4) + 1)[:, IDX, IDX],
    "x[idx, :, idx]": lambda n: (floats(n, 5, 3, 4) + 1)[IDX, :, IDX],
    "x[idx, None, idx]": lambda n: (floats(n, 5, 3, 4) + 1)[IDX, None, IDX],
    "x[0, ..., idx]": lambda n: (floats(n, 5, 3, 4) + 1)[0, ..., IDX],
    "x[..., idx]": lambda n: (floats(n, 5, 3, 4) + 1)[..., IDX],
    "x[1, :, [0, 2]]": lambda n: (floats(n, 5, 3, 4) + 1)[1, :, [0, 2]],
    "x[mask]": lambda n: (floats(n, 5, 3) + 1)[MASK],
    "x[mask, 1]": lambda n: (floats(n, 5, 3) + 1)[MASK, 1],
    "x[x > 0]": lambda n: (lambda x: x[x > 0])(floats(n, 5, 3) + 1),
    "x[::-1][idx]": lambda n: (floats(n, 5, 3) + 1)[::-1][IDX],
    "x.T[idx]": lambda n: (floats(n, 5, 3) + 1).T[IDX],
    "x[own index]": lambda n: (lambda x: x[x[:2] % 5])(wholes(n, 5) + 1),
    "x[idx] = number": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, IDX, 7)),
    "x[idx] = array": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, [3, 0, 1], floats(n, 3, 3))),
    "x[idx] twice the same": lambda n: after(wholes(n, 5) + 1, lambda x: put(x, [3, 0, 3, 3], [1, 2, 3, 4])),
    "x[:, idx] = row": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, (slice(None), [2, 0]), floats(n, 2))),
    "x[idx, idx] = array": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, (IDX, IDX), floats(n, 2, 2))),
    "x[1:, idx] = array": lambda n: after(floats(n, 5, 4, 3) + 1, lambda x: put(x, (slice(1, None), [1, 3]), floats(n, 4, 2, 3))),
    "x[idx, :, idx] = array": lambda n: after(floats(n, 5, 4, 3) + 1, lambda x: put(x, ([0, 2], slice(None), [1, 2]), floats(n, 2, 4))),
    "x[mask] = array": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, MASK, floats(n, 3, 3))),
    "x[mask] = number": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, MASK, 4)),
    "x[x < 0] = -x[x < 0]": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, x < 0, -x[x < 0])),
    "x[idx] += 1": lambda n: after(wholes(n, 5) + 1, lambda x: put(x, [1, 1, 2], x[[1, 1, 2]] + 1)),
    "x.T[idx] = number": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x.T, [0, 2], 7)),
    "x[idx] = wider": lambda n: after(wholes(n, 5) + 1, lambda x: put(x, [1, 2], floats(n, 2) * 9)),
    "x.shape =": lambda n: after(floats(n, 6, 2) + 1, lambda x: set_attribute(x, "shape", (3, -1))),
    "x == None": lambda n: (floats(n, 6) + 1) == None,  # noqa: E711
    "x != text": lambda n: (floats(n, 6) + 1) != "text",
    "copy(x.T).strides": lambda n: np.array(n.copy((floats(n, 6, 2) + 1).T).strides),
    "x.T.copy().strides": lambda n: np.array((floats(n, 6, 2) + 1).T.copy().strides),
    "x.copy('F').strides": lambda n: np.array((floats(n, 6, 2) + 1).copy("F").strides),
    "z.real": lambda n: (complexes(n, 5, 3) * 2).real * 3,
    "z.imag[1:] = 3": lambda n: after(complexes(n, 5, 3) * 2, lambda z: put(z.imag, slice(1, None), 3)),
    "z.real *= 2": lambda n: after(complexes(n, 5, 3) * 2, lambda z: z.real.__imul__(2)),
    "z.real[idx] = 5": lambda n: after(complexes(n, 5) * 2, lambda z: put(z.real, [0, 3], 5)),
    "z.T.real = z.imag": lambda n: after(complexes(n, 3, 3) * 2, lambda z: set_attribute(z.T, "real", z.imag)),
    "z.imag.sum": lambda n: (complexes(n, 5, 3) * 2).imag.sum(axis=0),
    "x.imag": lambda n: (floats(n, 5, 3) * 2).imag,
    "abs(z)": lambda n: abs(complexes(n, 5, 3) * 2),
    "exp(z)": lambda n: n.exp(complexes(n, 5, 3) * 2),
    "z / w": lambda n: (complexes(n, 5, 3) * 2) / (complexes(n, 3) + 1j),
    "z.sum": lambda n: (complexes(n, 5, 3) * 2).sum(axis=0) + (complexes(n, 5, 3) * 2).mean(),
    **{f"x ** {by}": lambda n, by=by: (floats(n, 5, 3) ** 2 + 1) ** by for by in (2, 3, 4, 2.0, 0.5, -1, 2.5, -2)},
    "z ** 2": lambda n: (complexes(n, 5, 3) + 1) ** 2,
    "i ** 2.0": lambda n: (wholes(n, 5, 3) + 1) ** 2.0,
    "x **= 3": lambda n: after(floats(n, 5) + 1, lambda x: x.__ipow__(3)),
    "joined": lambda n: n.concatenate([floats(n, 5000) + 1, wholes(n, 999) * 2, floats(n, 1)]) + n.roll(floats(n, 6000) + 1, 77),
    "arange(3, 70, 7)": lambda n: n.arange(start=3, stop=70, step=7),
    "arange(0.5, 9, 0.3)": lambda n: n.arange(0.5, 9, 0.3),
    "arange(5.0)": lambda n: n.arange(5.0),
    "arange(9, 1, -0.7)": lambda n: n.arange(9, 1, -0.7),
    "arange(stop=7)": lambda n: n.arange(stop=7),
    "linspace": lambda n: n.linspace(-1.5, 2.25, 37),
    "linspace without end": lambda n: n.linspace(0, 1, 20, endpoint=False),
    "eye": lambda n: n.eye(5, 7, 1, dtype=n.float32) + n.tri(5, 7, -1) + n.identity(7)[:5],
    "clip": lambda n: n.clip(floats(n, 5, 3) + 1, 0.2, 1.1),
    "x.clip": lambda n: (wholes(n, 5, 3) + 1).clip(-3, max=9),
    "diff": lambda n: n.diff(floats(n, 5, 3) + 1, axis=0),
    "average": lambda n: n.average(floats(n, 5, 3) + 1, axis=1, weights=floats(n, 5, 3) + 9),
    "ptp": lambda n: n.ptp(wholes(n, 5, 3) + 1, axis=0),
    "count_nonzero": lambda n: n.count_nonzero(wholes(n, 9, 9, top=2) + 1, axis=1),
    "triu, tril": lambda n: n.triu(floats(n, 5, 5) + 1, 1) + n.tril(wholes(n, 5, 5) + 1, -2),
    "nan_to_num": lambda n: n.nan_to_num(n.log(wholes(n, 9) + 1.0)),
    "nansum": lambda n: n.nansum(n.log(wholes(n, 9, 4) + 0.5), axis=0) + n.nanmean(n.log(wholes(n, 9, 4) + 0.5), axis=0),
    "isclose": lambda n: n.isclose(floats(n, 9) + 1, (floats(n, 9) + 1) * (1 + 1e-6)),
    "tile": lambda n: n.tile(wholes(n, 2, 3) + 1, (2, 1, 2)),
    "repeat": lambda n: n.repeat(wholes(n, 2, 3) + 1, 3, axis=1),
    "kron": lambda n: n.kron(wholes(n, 2, 3) + 1, wholes(n, 3, 2)),
    "take": lambda n: n.take(wholes(n, 2, 3) + 1, [2, 0], axis=1),
    "round": lambda n: n.round(floats(n, 9) * 10, 1),
    "trapezoid": lambda n: n.trapezoid(floats(n, 9) * 10, dx=0.5),
    "gradient": lambda n: n.gradient(floats(n, 9, 4) * 10, 0.5)[1],
    "split": lambda n: n.split(floats(n, 9, 4) * 10, [2, 5])[1] + n.array_split(floats(n, 9, 4) * 10, 3)[2],
    "meshgrid": lambda n: sum(n.meshgrid(wholes(n, 4) + 1, wholes(n, 3) + 1)),
    "column_stack": lambda n: n.column_stack([wholes(n, 4) + 1, wholes(n, 4, 2)]),
    "flips": lambda n: n.fliplr(wholes(n, 4, 4) + 1) - n.flipud(wholes(n, 4, 4) + 1),
    "norm": lambda n: n.linalg.norm(floats(n, 4, 4) + 1) + n.linalg.norm(floats(n, 4, 4) + 1, axis=1, ord=1),
    "add where": lambda n: n.add(floats(n, 5) + 1, 2, where=n.asarray(MASK), out=floats(n, 5) * 3),
    "sum where": lambda n: n.sum(floats(n, 5) + 1, where=n.asarray(MASK)),
    "max initial": lambda n: n.max(floats(n, 5) + 1, initial=0.5, where=n.asarray(MASK)),
    "accumulate": lambda n: n.add.accumulate(floats(n, 5, 2) + 1) + n.multiply.accumulate(floats(n, 5, 2), axis=1),
    "accumulate of bytes": lambda n: n.add.accumulate((wholes(n, 5) + 1).astype(n.int8)),
    "outer": lambda n: n.subtract.outer(floats(n, 3) + 1, floats(n, 2, 2)),
    "add.at": lambda n: after(floats(n, 5) + 1, lambda x: n.add.at(x, [1, 1, 3], 2)),
    "reduce": lambda n: n.maximum.reduce(floats(n, 5, 3) + 1, axis=1) + n.add.reduce(floats(n, 5, 3) + 1, axis=1),
    "einsum of three": lambda n: n.einsum("ij,jk,kl->il", floats(n, 3, 4) + 1, floats(n, 4, 5), floats(n, 5, 2)),
    "einsum of four": lambda n: n.einsum("ai,bj,ij,ab->", floats(n, 3, 4) + 1, floats(n, 2, 5), floats(n, 4, 5), floats(n, 3, 2)),
    "einsum of one": lambda n: n.einsum("ijk->kj", wholes(n, 3, 4, 2) + 1),
    "einsum implicit": lambda n: n.einsum("ij,jk", wholes(n, 3, 4) + 1, wholes(n, 4, 2)),
    "einsum trace": lambda n: n.einsum("ii", floats(n, 4, 4) + 1),
    "matmul out": lambda n: n.matmul(floats(n, 4, 4) + 1, floats(n, 4, 4), out=n.zeros((4, 4))),
    "rows by mask": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, n.asarray(MASK), floats(n, 3) * 2)),
    "rows by mask and :": lambda n: after(wholes(n, 5, 3) + 1, lambda x: put(x, (n.asarray(MASK), slice(None)), [1, 2, 3])),
    "columns by mask": lambda n: after(floats(n, 3, 5) + 1, lambda x: put(x, (slice(None), n.asarray(MASK)), floats(n, 3, 1))),
    "columns by mask, ...": lambda n: after(wholes(n, 2, 5, 3) * 2, lambda x: put(x, (slice(None), n.asarray(MASK), ...), x[0, 0])),
    "mask of one value": lambda n: after(floats(n, 5, 3) + 1, lambda x: put(x, x > 1, (x * 2)[1, 1:2])),
    "columns add": lambda n: after(wholes(n, 3, 5) + 1, lambda x: put(x, (..., n.asarray(MASK)), x[..., n.asarray(MASK)] + 2)),
    "no mask in take": lambda n: n.take(wholes(n, 4, 3) + 1, [True, False], axis=0),
    "sum where of rows": lambda n: n.sum(wholes(n, 4, 5) + 1, axis=0, where=n.asarray(MASK)),
    "b.conj()": lambda n: (floats(n, 5) > 0).conj(),
    "x @= y": lambda n: after(floats(n, 4, 4) + 1, lambda x: x.__imatmul__(floats(n, 4, 4))),
    "interface": lambda n: np.asarray((floats(n, 5, 3) + 1).__array_interface__["shape"]),
    "hypot": lambda n: n.hypot(floats(n, 9) + 1, floats(n, 9)),
    "degrees": lambda n: n.degrees(floats(n, 9) + 1) + n.radians(floats(n, 9) + 1) + n.heaviside(floats(n, 9) + 1, 0.5),
    "copysign": lambda n: n.copysign(floats(n, 9) + 1, -(floats(n, 9) * 2)),
    "logaddexp": lambda n: n.logaddexp(floats(n, 9) + 1, floats(n, 9) * 20),
    "sort": lambda n: n.sort(floats(n, 5, 4) + 1, axis=0) + n.argsort(floats(n, 5, 4) + 1, axis=0),
    "fft": lambda n: n.fft.ifft(n.fft.fft(floats(n, 8) + 1)),
    "solve": lambda n: n.linalg.solve(floats(n, 4, 4) + 9 * n.eye(4), floats(n, 4)),
    "histogram": lambda n: n.histogram(floats(n, 90) + 1, bins=7)[0],
    "random": lambda n: n.random.default_rng(3).normal(size=5) + n.random.default_rng(4).random(5),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_is_numpys(name, mode):
    work = FUNCTIONS[name]
    got, expected = np.asarray(work(hn)), np.asarray(work(np))
    assert got.shape == expected.shape and got.dtype == expected.dtype
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x[2**70],
        lambda x: x[0, 2**70],
        lambda x: x[[0, 99]],
        lambda x: x[[0, 1], [1, 99]],
        lambda x: x[[0, 1], [1, 2, 0]],
        lambda x: x[[0.5]],
        lambda x: x["name"],
        lambda x: put(x, [99], 1),
        lambda x: put(x, [0, 1], np.ones((3, 3))),
        lambda x: put(x, 2**70, 1),
        lambda x: x + "text",
        lambda x: set_attribute(x, "shape", (4, 4)),
        lambda x: set_attribute(x, "imag", 3),
        lambda x: put(x, x > 0, "text"),
        lambda x: put((x * 2).astype(int), x > 0, None),
        lambda x: put(x, (slice(None), np.array([True, False, True])), np.ones(3)),
        lambda x: x.__iadd__(None),
        lambda x: x @ None,
        lambda x: x.__imatmul__(x),
        lambda x: x[0].__imatmul__(x[0]),
        lambda x: (x > 0).__imatmul__(np.ones((3, 3))),
        lambda x: iter(x[0, 0:1].reshape(())),
        lambda x: x.sum(where=np.ones((2, 5, 3), bool)),
        lambda x: x.max(breadth=1) if type(x) is hn.ndarray else np.max(x, breadth=1),
        lambda x: np.average(x, axis=7),
        lambda x: np.linalg.norm(x.sum(), axis=0),
        lambda x: np.linalg.outer(x, x),
        lambda x: np.add(x, np.ones(4), out=x, where=x > 0),
        lambda x: after(x, lambda x: x.setflags(write=False)).sort(),
    ],
)
def test_wrong_use(work, mode):
    with pytest.raises(Exception) as expected:
        work(floats(np, 5, 3) + 1)
    with pytest.raises(type(expected.value)) as got:
        work(floats(hn, 5, 3) + 1)
    assert str(got.value) == str(expected.value)


def test_places_of_extrema_by_methods_orders_and_missing_choices():
    a = hn.exp(hn.ones((50, 600)))
    assert int(a.argmax()) == 0 and a.argmin(axis=1).shape == (50,)
    turned = hn.asarray(a, order="F")
    assert turned.flags.f_contiguous
    turned[:] = 9
    assert float(a[0, 0]) != 9
    with pytest.raises(ValueError, match="either both or neither"):
        hn.where(a, a)
