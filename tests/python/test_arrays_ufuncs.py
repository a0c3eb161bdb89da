"""Every recorded ufunc in every type, with edge values, against NumPy; exact for whole numbers."""

import itertools
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded

NAMES = recorded.elementwise_names()
TYPES = "?bBhHiIlLefdFD"


@pytest.fixture(autouse=True)
def all_recorded():
    before = recorded.at_once()
    recorded.set_at_once(0)
    recorded.set_direct("never")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
    hn.flush()
    recorded.set_at_once(before)
    recorded.set_direct("")


def values(char):
    dtype = np.dtype(char)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 7, 100, info.max, info.min, info.max - 1] + [-1, -2, -7] * (dtype.kind == "i"), dtype)
    real = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 7.0, 100.25, -3.0, np.inf, -np.inf, np.nan]
    if dtype.kind == "f":
        return np.array(real, dtype)
    return np.array([0, 1, -1, 1j, 2 - 3j, 0.5 + 0.25j], dtype)


def pairs(char):
    all_values = values(char)
    both = np.array(list(itertools.product(all_values, all_values)), all_values.dtype)
    return both[:, 0].copy(), both[:, 1].copy()


def close(name, got, expected):
    got = np.asarray(got)
    assert got.dtype == expected.dtype, name
    if expected.dtype.kind in "fc":
        rtol = {2: 2e-3, 4: 2e-6, 8: 1e-13 if expected.dtype.kind == "f" else 1e-5, 16: 1e-13}[expected.dtype.itemsize]
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * 1e-3, err_msg=name)
        if name in ("floor_divide", "remainder", "fmod"):
            zeros = expected == 0
            np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]), err_msg=name)
    else:
        np.testing.assert_array_equal(got, expected, err_msg=name)


@pytest.mark.parametrize("char", TYPES)
def test_every_ufunc(char):
    x, y = pairs(char)
    single = values(char)
    expected, got = {}, {}
    for name in NAMES:
        ufunc = getattr(np, name)
        args = (x, y) if ufunc.nin == 2 else (single,)
        if name == "power" and np.dtype(char).kind in "iu":
            continue  # negative powers are an error, and are tried below
        try:
            expected[name] = ufunc(*args)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(hn, name)(*map(hn.asarray, args))
            continue
        if name == "floor_divide" and np.dtype(char).kind == "f":  # as the array API standard has it
            infinite = np.isinf(x) & np.isfinite(y)
            expected[name] = np.where(infinite, np.divide(x, y), expected[name]).astype(char)
        # Half numbers are computed in single: what is too great is the same.
        got[name] = getattr(hn, name)(*map(hn.asarray, args))
    for name, result in got.items():
        close(name, result, expected[name])


def test_types_of_pairs():
    for a, b in itertools.product(TYPES, TYPES):
        x, y = np.ones(3, a), np.ones(3, b)
        for name in ("add", "multiply", "divide", "maximum", "less", "arctan2"):
            try:
                expected = getattr(np, name)(x, y)
            except TypeError:
                continue
            assert getattr(hn, name)(hn.asarray(x), hn.asarray(y)).dtype == expected.dtype, (name, a, b)


@pytest.mark.parametrize("number", [2, 2.5, True, 1j, np.float32(1.5), np.int8(3), np.float64(2)])
def test_numbers(number):
    for char in TYPES:
        x = np.ones(4, char)
        for name in ("add", "multiply", "divide", "less"):
            for swap in (False, True):
                args = (number, x) if swap else (x, number)
                try:
                    expected = getattr(np, name)(*args)
                except TypeError:
                    continue
                close(name, getattr(hn, name)(*(hn.asarray(one) if one is x else one for one in args)), expected)


def test_whole_powers():
    for char in "bBhilL":
        x = values(char)
        for exponent in (0, 1, 2, 3, 10, 13):
            close("power", hn.asarray(x) ** exponent, x**exponent)
    with pytest.raises(ValueError, match="negative integer powers"):
        hn.asarray(np.arange(3)) ** -1


def test_casts():
    for a, b in itertools.product("?bBhHiIlLfd", "?bBhHiIlLefdFD"):
        x = values(a)
        if np.dtype(a).kind == "f":
            x = x[np.isfinite(x) & (abs(x) < 100) & (x >= 0)]  # others are undefined
        np.testing.assert_array_equal(np.asarray(hn.asarray(x).astype(b)), x.astype(b), err_msg=f"{a} to {b}")


def test_numbers_out_of_range():
    x = hn.asarray(np.ones(3, np.uint8))
    for what in (lambda v: v + 300, lambda v: v * -1):
        with pytest.raises(OverflowError):
            what(x)
    assert (x < 300).all() and not (x == -1).any()
