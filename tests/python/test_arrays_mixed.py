"""Random programs over all element types, beside NumPy: casts in place, out= and where= over overlapping views,
masks, places, methods of ufuncs, arrays without elements or dimensions, and values that are read between calls.

Numbers are small and whole, or halves, so that floats are exact too. What NumPy refuses is refused in its words."""

import random
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded
from test_arrays_views import index, mode  # noqa: F401 the fixture

TYPES = ("i1", "u1", "i2", "i4", "i8", "u4", "f2", "f4", "f8", "c8", "c16", "?")
SHAPES = ((), (1,), (7,), (3, 4), (4, 1), (2, 3, 4), (0,), (2, 0), (12, 5))
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "logical_and", "bitwise_xor")
UNARY = ("negative", "absolute", "square", "isfinite", "logical_not", "sign", "conjugate")


def made(draw, np):
    shape, dtype = draw.choice(SHAPES), draw.choice(TYPES)
    size = int(np.prod(shape))
    values = np.arange(size) % 5
    if dtype not in ("u1", "u4", "?"):
        values = values - 2
    return values.reshape(shape).astype(dtype)


def part(draw, array):
    """A view, of a view maybe."""
    for _ in range(draw.randrange(3)):
        if np.ndim(array) == 0:
            break
        kind = draw.randrange(5)
        if kind == 0:
            array = array.T
        elif kind == 1:
            array = array[::-1]
        elif kind == 2 and array.dtype.kind == "c":
            array = array.real if draw.randrange(2) else array.imag
        else:
            array = array[index(draw, array.shape)]
    return array


def mask_of(draw, array, np):
    """Truth values over its first dimensions, or over one in the middle."""
    kind = draw.randrange(4)
    if kind == 0 or array.ndim < 2:
        return array.real > draw.choice((-1, 0, 1)) if array.dtype.kind == "c" else array > draw.choice((0, 1))
    if kind == 1:
        return array[..., 0].real > 0
    row = array[(0,) * (array.ndim - 1)].real > 0 if min(array.shape) > 0 else np.zeros(array.shape[-1], bool)
    return (Ellipsis, row) if kind == 2 else (slice(None),) * (array.ndim - 1) + (row,)


def number(draw):
    return draw.choice((0, 1, 2, -1, 3, 0.5, 2.5, True, 1j, 100, 300))


def step(draw, arrays, np):
    """One call; what it makes new."""
    kind = draw.randrange(14)
    target = part(draw, draw.choice(arrays))
    other = part(draw, draw.choice(arrays)) if draw.randrange(3) else number(draw)
    if kind in (0, 1, 2, 5) and np.ndim(target) == 0:
        return None  # NumPy's numbers cannot be written to
    if kind == 0:
        target += other
    elif kind == 1:
        target[...] = other
    elif kind == 2:
        target *= other
    elif kind == 3:
        return getattr(np, draw.choice(BINARY))(target, other)
    elif kind == 4:
        return getattr(np, draw.choice(UNARY))(target)
    elif kind == 5:  # into itself, turned around
        out = target[::-1] if draw.randrange(2) else target
        getattr(np, draw.choice(BINARY))(target, other, out=out)
    elif kind == 6 and np.ndim(target):
        where = target[::-1] > 0 if target.dtype.kind != "c" else target[::-1].real > 0
        np.add(target, other, out=target, where=where)
    elif kind == 7 and np.ndim(target):
        target[mask_of(draw, target, np)] = other
    elif kind == 8 and np.ndim(target):
        target[mask_of(draw, target, np)] += number(draw)
    elif kind == 9 and np.ndim(target):
        name, axis = draw.choice(("sum", "max", "min", "prod", "any", "all", "argmax", "cumsum")), draw.choice((None, 0, -1))
        return getattr(np, name)(target, axis=axis)
    elif kind == 10:
        return target.astype(draw.choice(TYPES))
    elif kind == 11 and np.ndim(target) == 1 and target.size:
        at = [draw.randrange(target.size) for _ in range(3)]
        how = draw.randrange(4)
        if how == 0:
            np.add.at(target, at, 1)
        elif how == 1:
            return np.add.reduceat(target, sorted(at))
        elif how == 2:
            return np.maximum.accumulate(target)
        else:
            return np.multiply.outer(target, target[:2])
    elif kind == 12:
        return np.where(target != 0, target, other)
    elif kind == 13 and np.ndim(target):
        # A loop that reads what it has made.
        for _ in range(3):
            if abs(complex(target.sum())) > 50:
                break
            target[1:] += target[:-1]
    return None


def program(seed, np):
    draw = random.Random(seed)
    arrays, errors = [made(draw, np) for _ in range(3)], []
    for _ in range(draw.randrange(4, 12)):
        state = draw.getstate()
        try:
            result = step(draw, arrays, np)
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            errors.append(f"{type(error).__name__}: {error}")
            draw.setstate(state)  # as many numbers are drawn, however far it came
            draw.random()
            continue
        if result is not None and np.size(result) <= 500:
            arrays.append(result)
    return arrays, errors


def compare(seed):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (expected, their_errors), (got, our_errors) = program(seed, np), program(seed, hn)
        assert their_errors == our_errors, f"seed {seed}"
        assert len(expected) == len(got), f"seed {seed}"
        for at, (a, b) in enumerate(zip(expected, got)):
            a, b = np.asarray(a), np.asarray(b)
            assert a.dtype == b.dtype, f"seed {seed}, array {at}: {a.dtype} and {b.dtype}"
            np.testing.assert_array_equal(b, a, err_msg=f"seed {seed}, array {at}")


@pytest.mark.parametrize("devices", [1, 3])
def test_random_programs(mode, devices):  # noqa: F811
    if devices > 1 and mode != "compiled":
        pytest.skip("on devices all is compiled")
    recorded.set_devices(devices, 0)
    try:
        for seed in range(200 if mode == "at once" else 40):
            compare(seed)
    finally:
        recorded.set_devices(1, 0)
