"""NumPy's modules and objects under our name: imports, np.testing, errors that are to be raised, what makes arrays."""

import copy
import importlib
import pickle
import subprocess
import sys
import warnings

import heddle.numpy as hn
import numpy as np
import pytest

SIZES = pytest.mark.parametrize("size", [12, 24_000], ids=["small", "recorded"])


def rows(module, size):
    return module.arange(float(size)).reshape(3, -1) * 2


@pytest.mark.parametrize("name", [
    "linalg", "fft", "random", "testing", "lib", "lib.stride_tricks", "polynomial", "polynomial.legendre", "ma",
    "typing", "strings", "char", "exceptions", "dtypes", "rec",
])  # fmt: skip
def test_a_module_is_imported_by_its_name(name):
    module = importlib.import_module(f"heddle.numpy.{name}")
    reached = hn
    for part in name.split("."):
        reached = getattr(reached, part)
    assert reached is module and dir(module)


@pytest.mark.parametrize("name", ["nonsense", "linalg.nonsense", "_private"])
def test_what_numpy_has_not_cannot_be_imported(name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"heddle.numpy.{name}")


def test_functions_of_modules_give_arrays_of_ours():
    from heddle.numpy.lib.stride_tricks import sliding_window_view
    from heddle.numpy.linalg import norm, solve
    from heddle.numpy.polynomial.legendre import leggauss

    a = hn.arange(9.0).reshape(3, 3) + 9 * hn.eye(3)
    assert type(solve(a, hn.ones(3))) is hn.ndarray
    assert type(leggauss(3)[0]) is hn.ndarray
    assert type(sliding_window_view(a, 2, axis=0)) is hn.ndarray
    assert float(norm(a)) == float(np.linalg.norm(np.asarray(a)))


@SIZES
def test_comparisons_of_np_testing(size):
    a = rows(hn, size)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hn.testing.assert_equal(a, rows(hn, size))
        hn.testing.assert_allclose(a + 1, a + 1 + 1e-12)
        hn.testing.assert_array_equal(a, np.asarray(a))
    with pytest.raises(AssertionError, match="Mismatched elements: 1"):
        b = a.copy()
        b[1, 1] = -1
        hn.testing.assert_equal(a, b)


@SIZES
@pytest.mark.parametrize("call", [
    lambda module, a: a / (a - a), lambda module, a: module.sqrt(-a), lambda module, a: module.exp(a + 1e4),
])  # fmt: skip
def test_errors_that_are_to_be_raised_are(size, call):
    words = []
    for module in (np, hn):
        a = rows(module, size)
        with module.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
            call(module, a)
        words.append(str(caught.value))
        with module.errstate(all="ignore"):
            call(module, a)
    assert words[0] == words[1]


def test_errors_are_raised_only_while_they_are_to_be():
    a = hn.arange(24_000.0)
    before = hn._recorded.at_once()

    @hn.errstate(divide="raise")
    def divided():
        return a / 0

    with pytest.raises(FloatingPointError):
        divided()
    assert hn._recorded.at_once() == before
    old = hn.seterr(invalid="raise")
    with pytest.raises(FloatingPointError):
        hn.sqrt(-a)
    assert hn.seterr(**old)["invalid"] == "raise"
    assert hn._recorded.at_once() == before and np.geterr() == old


@SIZES
def test_what_is_indexed_to_make_arrays(size):
    a = hn.arange(float(size))
    n = np.arange(float(size))
    for ours, theirs in [
        (hn.r_[a, 5, 0:3], np.r_[n, 5, 0:3]), (hn.c_[a, a], np.c_[n, n]), (hn.mgrid[0:3, 0:2], np.mgrid[0:3, 0:2]),
        *zip(hn.ogrid[0:3, 0:2], np.ogrid[0:3, 0:2]), (hn.vectorize(lambda x: x + 1)(a[:9]), n[:9] + 1),
        (a.flat[2:5], n.flat[2:5]),
    ]:  # fmt: skip
        assert type(ours) is hn.ndarray and ours.dtype == theirs.dtype
        np.testing.assert_array_equal(np.asarray(ours), theirs)


@SIZES
def test_orders_in_memory_are_kept(size):
    results = []
    for module in (np, hn):
        a = rows(module, size)
        made = [
            pickle.loads(pickle.dumps(a.T)), copy.deepcopy(a.T), module.zeros((3, size), order="F"),
            module.full((3, size), 7, order="F"), module.ones_like(a, order="F"), module.ones_like(a.T, order="C"),
            module.full_like(a, a[0], order="F"), module.ascontiguousarray(a.T), module.ascontiguousarray(a.sum()),
        ]  # fmt: skip
        results.append([(one.flags.c_contiguous, one.flags.f_contiguous, one.shape, one.tolist()) for one in made])
    assert results[0] == results[1]


@SIZES
def test_floats_that_do_not_fit_become_the_integers_of_numpy(size):
    odd = [300.5, -1.5, 7e4, -7e4, 3e9, 1e19, -1e19, 2.0**63, 2.0**64, np.inf, -np.inf, np.nan]
    for wide in "f4", "f8":
        values = np.resize(np.array(odd, wide), size)
        ours = hn.asarray(values)
        for dtype in "i1 i2 i4 i8 u1 u2 u8".split():
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = values.astype(dtype)
                for got in (ours.astype(dtype), (ours * 1).astype(dtype)):
                    np.testing.assert_array_equal(np.asarray(got), expected)
        inside = np.resize(np.array([300.5, -1.5, 3e9, -7e4], wide), size)
        np.testing.assert_array_equal(np.asarray((hn.asarray(inside) * 1).astype("u4")), inside.astype(np.int64).astype("u4"))


@SIZES
def test_small_matters_of_arrays(size):
    results = []
    for module in (np, hn):
        a = module.arange(size)
        with pytest.raises(TypeError):
            pow(a, 2, 3)
        with pytest.raises(ValueError, match="read-only"):
            module.diagonal(a.reshape(3, -1))[0] = 1
        a.setflags(write=False)
        with pytest.raises(ValueError, match="output array is read-only"):
            module.add(a, 1, out=a)
        a.setflags(write=True)
        a[0] = 5
        small = a.astype(module.uint8)
        results.append([list(reversed(a))[:3], module.clip(small, 0, 300).tolist(), [one.tolist() for one in divmod(a, 7)]])
    assert results[0] == results[1]


def test_another_element_type_stays_numpys():
    added = hn.frompyfunc(lambda x, y: x + y, 2, 1)(hn.arange(4), hn.arange(4))
    assert type(added) is np.ndarray and added.dtype == object and added.tolist() == [0, 2, 4, 6]
    days = np.datetime64("2020-01-01") + hn.arange(3)
    assert type(days) is np.ndarray and days.dtype == "datetime64[D]"


def test_an_old_numpy_is_named(tmp_path):
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(
        "import types\n__version__ = '1.26.4'\n"
        "lib = types.SimpleNamespace(NumpyVersion=lambda version: version)\n"
    )
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import heddle.numpy"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 1 and "heddle.numpy needs NumPy 2" in ran.stderr and "1.26.4" in ran.stderr


def test_information_of_the_standard():
    x = hn.ones(3)
    assert x.__array_namespace__() is hn and hn.__array_api_version__ == "2025.12"
    info = hn.__array_namespace_info__()
    assert info.devices() == ("cpu",) and info.default_device() == "cpu"
    assert info.default_dtypes()["real floating"] == np.float64 and "float32" in info.dtypes()
