"""Random programs of views, writes through them, reductions and loops, beside NumPy: equal."""

import random
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded


@pytest.fixture(params=["compiled", "call by call", "at once", "mixed"])
def mode(request):
    before = recorded.at_once()
    recorded.set_at_once({"at once": 10**9, "mixed": 12}.get(request.param, 0))
    recorded.set_direct({"compiled": "never", "call by call": "always"}.get(request.param, ""))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hn.FallbackWarning)
        yield request.param
    hn.flush()
    recorded.set_at_once(before)
    recorded.set_direct("")


def index(draw, shape):
    """A basic index, or one by a list of places."""
    parts = []
    for size in shape:
        kind = draw.randrange(6)
        if kind == 0 and len(shape) > 1 and size > 0:
            parts.append(draw.randrange(-size, size))
        elif kind == 1:
            parts.append(slice(None))
        else:
            ends = [None, *range(-size - 1, size + 2)]
            parts.append(slice(draw.choice(ends), draw.choice(ends), draw.choice([None, 1, 2, 3, -1, -2])))
        if draw.randrange(10) == 0:
            parts.append(None)
        if draw.randrange(12) == 0 and Ellipsis not in parts:
            parts.append(Ellipsis)
            break
    return tuple(parts)


def places(draw, shape):
    """An index by lists of places along one or two dimensions, with slices beside them."""
    count = draw.randrange(1, 4)

    def some(size):
        return [draw.randrange(-size, size) for _ in range(count)]

    parts = [some(size) if draw.randrange(2) else slice(draw.choice([None, 1]), None) for size in shape]
    if all(isinstance(one, slice) for one in parts):
        parts[0] = some(shape[0])
    return tuple(parts)


def viewed(draw, array):
    if np.ndim(array) == 0:  # NumPy's numbers have no memory to share; a recorded one is an array
        return array
    kind = draw.randrange(6)
    if kind == 0:
        return array.T
    if kind == 1:
        return array.reshape(-1)
    if kind == 2 and array.ndim > 1:
        return array.swapaxes(0, array.ndim - 1)
    return array[index(draw, array.shape)]


def fitting(draw, of, arrays):
    """Something that can be put into `of`: a number, a part of an array, or what broadcasts."""
    kind = draw.randrange(4)
    if kind == 0:
        return draw.randrange(-9, 9)
    if kind == 1 and of.ndim and of.shape[0] > 0:
        return of[::-1] if draw.randrange(2) else of[:1]
    other = arrays[draw.randrange(len(arrays))]
    for _ in range(draw.randrange(3)):
        other = viewed(draw, other)
    try:
        fits = np.broadcast_shapes(other.shape, of.shape) == of.shape
    except ValueError:
        fits = False
    return other if fits else 3


def program(seed, np):
    """One program, in terms of a module: the same decisions whatever the module is."""
    draw = random.Random(seed)
    arrays = [np.arange(24).reshape(draw.choice([(24,), (4, 6), (2, 3, 4)])) % 7 for _ in range(2)]
    for _ in range(draw.randrange(3, 9)):
        kind = draw.randrange(11)
        target = arrays[draw.randrange(len(arrays))]
        view = target
        for _ in range(draw.randrange(3)):
            view = viewed(draw, view)
        if kind < 3 and np.ndim(view):
            value = fitting(draw, view, arrays)
            if kind == 0:
                view += value
            elif kind == 1:
                view[...] = value
            else:
                view -= value
        elif kind == 3:
            arrays.append(view * 2 + fitting(draw, view, arrays))
        elif kind == 4:
            arrays.append(np.where(view > 2, view, -view))
        elif kind == 5 and np.ndim(view) and np.size(view):
            arrays.append(np.sum(view, axis=draw.choice([None, 0, -1])))
        elif kind == 6 and np.ndim(target):
            target[target > 4] = draw.randrange(-3, 3)
        elif kind == 7 and np.ndim(view) and view.shape[0] > 1:
            for _ in range(3):  # overlapping, as d[1:] += d[:-1]
                view[1:] += view[:-1]
        elif kind == 8 and np.size(view) and np.ndim(view):
            arrays.append(view[places(draw, view.shape)].copy())  # NumPy promises no order in memory
        elif kind == 9 and np.size(view) and np.ndim(view):
            at = places(draw, view.shape)
            value = draw.randrange(9) if draw.randrange(2) else view[at] * 2
            view[at] = value
        elif kind == 10 and np.ndim(view) == 2:
            arrays.append(np.matmul(view, view.T))
    return arrays


def compare(seed):
    expected, got = program(seed, np), program(seed, hn)
    assert len(expected) == len(got)
    for number, (a, b) in enumerate(zip(expected, got)):
        np.testing.assert_array_equal(np.asarray(b), a, err_msg=f"seed {seed}, array {number}")
        assert np.asarray(b).dtype == np.asarray(a).dtype, f"seed {seed}, array {number}"


def test_random_programs(mode):
    for seed in range(400 if mode == "at once" else 80):
        compare(seed)


def test_a_copy_made_by_numpy_is_no_view(mode):
    x = hn.arange(6).reshape(2, 3)
    y = x.T.reshape(-1)
    y[0] = 50
    assert x[0, 0] == 0
    z = x.reshape(-1)
    z[0] = 50
    assert x[0, 0] == 50


def test_what_others_hold_does_not_change(mode):
    x = hn.arange(20.0)
    seen = np.asarray(x)
    x[0] = 9
    x += 1
    assert seen[0] == 0 and seen[1] == 1 and x[0] == 10
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 1


def test_memory_of_others_is_copied(mode):
    a = np.arange(20.0)
    x = hn.asarray(a)
    y = x + 1
    a[:] = 0
    assert x[3] == 3 and y[3] == 4


def test_what_numpy_hands_back_is_copied(mode):
    a = np.arange(20.0)
    for x in (hn.asfortranarray(a), hn.atleast_1d(a), hn.require(a), hn.squeeze(a)):
        x += 1
        assert a[0] == 0 and x[0] == 1


def test_loops_find_their_window_again(mode):
    x = hn.arange(2000.0)
    before = hn.counts()
    for turn in range(20):
        x = x * 0.5 + turn
        total = float(x.sum())
    expected = np.arange(2000.0)
    for turn in range(20):
        expected = expected * 0.5 + turn
    assert total == pytest.approx(expected.sum())
    after = hn.counts()
    if mode != "at once":
        assert after["windows"] - before["windows"] == 20
        assert after["compiled"] - before["compiled"] <= 2
