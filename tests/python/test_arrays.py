"""heddle.numpy as a user meets it: NumPy's words for mistakes, protocols, what is NumPy's, what is said."""

import copy
import operator
import pickle
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded

LARGE = 40_000


@pytest.fixture(autouse=True)
def quiet():
    hn.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hn.FallbackWarning)
        yield


def large():
    return hn.arange(LARGE) * 2


def same_error(work):
    """What NumPy raises is raised, with the same words."""
    with pytest.raises(Exception) as expected:
        work(np)
    with pytest.raises(type(expected.value)) as got:
        work(hn)
    assert str(got.value) == str(expected.value)


@pytest.mark.parametrize(
    "work",
    [
        lambda n: n.ones((200, 100)) + n.ones((200, 99)),
        lambda n: n.ones((200, 100)) @ n.ones((99, 100)),
        lambda n: n.arange(LARGE)[LARGE],
        lambda n: n.arange(LARGE)[0, 0],
        lambda n: n.arange(LARGE)[..., ...],
        lambda n: n.arange(LARGE).reshape(7, 3),
        lambda n: n.arange(LARGE).__setitem__(slice(3), n.ones(4)),
        lambda n: n.broadcast_to(n.arange(3), (LARGE, 3)).__setitem__(0, 1),
        lambda n: n.broadcast_to(n.arange(LARGE), (3, 4)),
        lambda n: n.ones(LARGE, bool) - n.ones(LARGE, bool),
        lambda n: n.arange(LARGE).__iadd__(0.5),
        lambda n: bool(n.arange(LARGE) > 3),
        lambda n: n.zeros(LARGE, n.uint8) + 300,
        lambda n: n.arange(LARGE) ** -1,
        lambda n: n.arange(LARGE).sum(axis=1),
        lambda n: n.arange(LARGE).transpose(1, 0),
        lambda n: n.concatenate([n.ones((2, LARGE)), n.ones((2, 3))]),
        lambda n: len(n.arange(LARGE).sum()) if n is hn else len(np.array(1)),
        lambda n: n.zeros(LARGE, int).__setitem__(slice(None), float("nan")),
        lambda n: n.no_such_function,
    ],
    ids=range(20),
)
def test_wrong_use_has_numpys_words(work):
    same_error(work)


class Own:
    """Something that wants to answer for itself."""

    __array_ufunc__ = None


def test_what_is_no_number():
    with pytest.raises(TypeError, match="ufunc 'add' did not contain a loop"):
        large() + "text"
    with pytest.raises(TypeError, match="unsupported operand"):
        large() + Own()


def test_nothing_runs_before_it_is_read():
    x = large()
    assert x._pending and (x + 1)._pending
    assert x.sum() == LARGE * (LARGE - 1)
    assert not x._pending


def test_fallback_warns_once_and_counts():
    hn.fallbacks.pop("log2", None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            hn.log2(large() + 1)
    assert len(said) == 1 and said[0].category is hn.FallbackWarning
    assert "log2 is not recorded" in str(said[0].message)
    assert hn.fallbacks["log2"] == 3


def test_numpys_functions_take_recorded_arrays():
    x, expected = large(), np.arange(LARGE) * 2
    for function in (np.sin, np.sum, np.sort, np.median, np.linalg.norm, lambda a: np.where(a > 9, a, 1)):
        np.testing.assert_allclose(np.asarray(function(x)), function(expected), rtol=1e-12)
    assert type(np.sin(x)) is hn.ndarray
    assert type(np.arange(LARGE) + x) is hn.ndarray


def test_functions_that_numpy_writes_with():
    x, expected = large(), np.arange(LARGE) * 2
    for n, a in ((hn, x), (np, expected)):
        n.put(a, [1, 2], 7)
        n.add.at(a, [3, 3], 1)
        a.sort()
        n.multiply(a, 2, out=a)
        a[::7][n.asarray([0, 2])] = 5
        a.flat[3] = 1
        n.copyto(a[5:9], n.ones(4, int))
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_views_that_numpy_makes_are_views():
    x = large().reshape(200, 200)
    hn.flush()
    np.diagonal(x)  # without a recorded form
    part = np.atleast_2d(x)
    part[0, 1] = -5
    assert x[0, 1] == -5


def test_protocols():
    x, expected = large(), np.arange(LARGE) * 2
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        other += 1
        np.testing.assert_array_equal(np.asarray(other), expected + 1)
    np.testing.assert_array_equal(np.from_dlpack(x), expected)
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert repr(x) == repr(expected) and str(x[:3]) == str(expected[:3])
    assert [int(v) for v in x[:3]] == [0, 2, 4] and x.tolist() == expected.tolist()
    assert f"{x.mean():.1f}" == f"{expected.mean():.1f}"
    assert isinstance(x, hn.ndarray) and hn.ndarray.__module__ == "heddle.numpy"


def test_other_element_types_stay_numpys():
    for values in (["a", "b"], np.array(["2020-01-01"], "M8[D]"), np.array([object()]), np.longdouble(1)):
        assert type(hn.array(values)) is np.ndarray


def test_empty_arrays():
    x = hn.zeros((0, 3))
    assert (x + 1).shape == (0, 3) and x.sum() == 0
    y = large()
    y[5:5] = 3
    assert y[:0].shape == (0,) and (y[:0] * 2).shape == (0,)


def test_reductions_and_products():
    before = recorded.at_once()
    recorded.set_at_once(0)
    try:
        draw = np.random.default_rng(1)
        for dtype in (np.float64, np.float32, np.int64, np.int32, np.uint8, np.complex128, bool):
            a = (draw.standard_normal((4, 5, 6)) * 9).astype(dtype)
            x = hn.asarray(a)
            for name in ("sum", "prod", "mean", "any", "all", "max", "min", "var", "std", "argmax", "argmin", "cumsum"):
                for axis in (None, 0, -1, (0, 2)):
                    if isinstance(axis, tuple) and name in ("argmax", "argmin", "cumsum"):
                        continue
                    expected = getattr(np, name)(a, axis=axis)
                    got = getattr(hn, name)(x, axis=axis)
                    assert got.dtype == expected.dtype, (name, dtype)
                    np.testing.assert_allclose(np.asarray(got), expected, rtol=2e-5 if dtype == np.float32 else 1e-12, atol=1e-6)
            for spec, other in (("ijk,klm->ijlm", (6, 2, 3)), ("ijk,ik->ij", (4, 6)), ("ijk,lk->lj", (3, 6))):
                b = (draw.standard_normal(other) * 3).astype(dtype)
                np.testing.assert_allclose(
                    np.asarray(hn.einsum(spec, x, hn.asarray(b))), np.einsum(spec, a, b), rtol=1e-4, atol=1e-4)
    finally:
        recorded.set_at_once(before)


def test_a_write_does_not_reach_what_was_recorded_of_the_memory_before():
    a = hn.zeros(100_000)
    a[0] = 1  # NumPy has seen the memory
    a += 1
    assert float((a * 2)[0]) == 4
    c = a + 10
    a[0] = 100
    assert c[0] == 12 and a[0] == 100


def test_flat_writes_into_the_array_as_it_is_then():
    a = large()
    flat = a.flat
    assert flat[1] == 2 and len(flat) == LARGE and list(flat)[-1] == 2 * LARGE - 2
    b = a + 1
    flat[0] = 100
    assert b[0] == 1 and a[0] == 100


def test_sums_of_einsum_have_the_type_of_its_result():
    mask, weights = np.ones((300, 200), bool), np.arange(300.0)
    got = hn.einsum("ij,i->i", hn.asarray(mask), hn.asarray(weights))
    np.testing.assert_array_equal(np.asarray(got), np.einsum("ij,i->i", mask, weights))
    small = np.full((300, 200), 100, np.int8)
    got = hn.einsum("ij,i->i", hn.asarray(small), hn.asarray(weights))
    np.testing.assert_array_equal(np.asarray(got), np.einsum("ij,i->i", small, weights))


def test_orders_as_in_memory():
    a = np.arange(60_000.0).reshape(200, 300)
    for order in "CFAK":
        for b in (a, a.T, a[:, ::2], a.T[::3]):
            x = hn.asarray(a)
            y = {(200, 300): x, (300, 200): x.T, (200, 150): x[:, ::2], (100, 200): x.T[::3]}[b.shape]
            np.testing.assert_array_equal(np.asarray(y.ravel(order)), b.ravel(order))
            np.testing.assert_array_equal(np.asarray(y.flatten(order)), b.flatten(order))


def test_at_writes_into_what_a_window_holds():
    a = hn.asarray(np.zeros(LARGE))
    b = a + 1
    np.add.at(a, [0, 0], 5)
    hn.add.at(a, [1], 2)
    assert a[0] == 10 and a[1] == 2 and b[0] == 1


def test_views_of_another_type_are_not_written_in_vain():
    z = hn.zeros(5, complex)
    try:
        z.real[0] = 1
    except ValueError:
        assert z[0] == 0
    else:
        assert z[0] == 1


def test_numpy_s_own_out_stays_numpy_s():
    a = np.zeros(5)
    same = a
    a += hn.ones(5)
    a += hn.ones(5)
    assert same is a and (same == 2).all()
    out = np.zeros(LARGE, int)
    assert np.add(large(), 1, out=out) is out and out[1] == 3


def test_memory_is_not_resized():
    x = hn.asarray(np.ones(LARGE))
    with pytest.raises(ValueError, match="resize"):
        x.resize(10, refcheck=False)
    assert (x + 1).shape == (LARGE,)


def test_functions_that_only_numpy_has():
    x = large()
    windows = np.lib.stride_tricks.sliding_window_view(x, 2)
    assert windows.shape == (LARGE - 1, 2) and windows[1, 1] == 4
    assert np.emath.sqrt(x)[2] == 2


def test_explain_and_counts():
    before = hn.counts()
    float((large() + 1).sum())
    after = hn.counts()
    assert after["windows"] == before["windows"] + 1
    assert "a value was read, at test_arrays.py:" in hn.explain()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_the_smallest_arrays_are_numpys(dtype):
    """Those that have a loop of their own: every number, warning, wrap and overlap is NumPy's."""
    edges = [0, 1, -1, 3, 7, 2**31 - 1] + ([np.inf, -np.inf, np.nan, 1e-40, -0.0] if np.dtype(dtype).kind == "f" else [2**62 % 2**31])
    for size in (0, 1, 5, 40, 300):
        x = np.resize(np.array(edges, dtype), size)
        y = np.resize(np.array(edges[::-1] + edges[:2], dtype), size)
        for other in (y, 2, 2.5, 2**40, np.float32(3)):
            for name in ("add", "sub", "mul", "truediv", "lt", "le", "eq", "ne", "gt", "ge", "iadd", "isub", "imul"):
                for swapped in (False, True):
                    given = [np.array(x), np.array(other) if isinstance(other, np.ndarray) else other]
                    ours = [hn.array(one) if isinstance(one, np.ndarray) else one for one in given]
                    if swapped and name[0] == "i":
                        continue
                    outcomes = []
                    for a, b in (given, ours):
                        with warnings.catch_warnings(record=True) as said:
                            warnings.simplefilter("always")
                            function = getattr(operator, name)
                            try:
                                result = np.asarray(function(b, a) if swapped else function(a, b))
                                outcomes.append((result.dtype, result.tobytes(), {str(one.message) for one in said}))
                            except (TypeError, OverflowError) as error:
                                outcomes.append(str(error))
                    assert outcomes[0] == outcomes[1], (name, dtype, size, other, swapped)
    a, b = np.arange(9), hn.arange(9)
    a[1:] += a[:-1]
    b[1:] += b[:-1]
    assert np.array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool, np.int32])
def test_numpys_own_loops_give_its_bits(dtype):
    """Functions and reductions of small arrays, which are called past NumPy's own way to them."""
    rng = np.random.default_rng(7)
    for shape in ((1,), (7,), (3, 5), (130,), (1000,), (4, 0), (5000,), ()):
        x = (rng.standard_normal(shape) * 3).astype(dtype)
        y = np.abs(rng.standard_normal(shape)).astype(dtype)
        for name in ("sum", "prod", "max", "min", "mean", "any", "all"):
            for call in (lambda a: getattr(a, name)(), lambda a: getattr(np if type(a) is np.ndarray else hn, name)(a)):
                outcomes = []
                for one in (x, hn.array(x)):
                    with warnings.catch_warnings(record=True) as said:
                        warnings.simplefilter("always")
                        try:
                            result = call(one)
                            outcomes.append((np.asarray(result).dtype, np.asarray(result).tobytes(), len(said) > 0))
                        except ValueError as error:
                            outcomes.append(str(error))
                assert outcomes[0] == outcomes[1], (name, shape)
        for name in ("sin", "exp", "log", "sqrt", "maximum", "hypot", "logical_and", "power", "remainder", "invert"):
            inputs = (x, y)[: getattr(np, name).nin]
            for _ in range(2):  # what NumPy had to do again is its own for a while
                outcomes = []
                for numpy, given in ((np, inputs), (hn, [hn.array(one) for one in inputs])):
                    with warnings.catch_warnings(record=True) as said:
                        warnings.simplefilter("always")
                        try:
                            result = np.asarray(getattr(numpy, name)(*given))
                            outcomes.append((result.dtype, result.tobytes(), {str(one.message) for one in said}))
                        except (TypeError, ValueError) as error:
                            outcomes.append(type(error))
                assert outcomes[0] == outcomes[1], (name, shape)


def test_views_of_small_arrays_are_views():
    for numpy in (np, hn):
        a = numpy.arange(12.0).reshape(3, 4)
        numpy.flip(a)[0, 0] = 50
        a.T[0, 1] += 7
        a.reshape(-1)[2] = numpy.dot(a[0], a[1])
        (np.float64(2) * a)[0] = -1
        numpy.swapaxes(a, 0, 1)[3] = 9
        if numpy is np:
            expected = a.tolist()
    assert a.tolist() == expected
    wide = hn.broadcast_to(hn.arange(3.0), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        wide[0, 0] = 1


def test_plain_products_choices_and_turned_operands():
    """Recorded as numbers: their windows are found again without a program, and lie as NumPy's do."""
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((150, 130)), rng.standard_normal((130, 150))
    x, y = hn.asarray(a), hn.asarray(b)

    def program(np, a, b):
        c = a.T + b
        d = np.where(c > 0, c, b.T.T) + np.where(b < 0.5, 1.5, b)
        e = a.T * 2.0 - np.sin(a.T)
        a2 = a + 0
        a2.T[...] += b
        return [a @ b, c, d, e, a2, (a @ b) @ a, e.T @ d, (a.T + 1).sum(), a.T.sum(axis=0)]

    for _ in range(3):
        for got, wanted in zip(program(hn, x, y), program(np, a, b)):
            np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12, atol=1e-12)
            assert np.ndim(wanted) < 2 or got.strides == wanted.strides
