# mypy: ignore-errors
"""Functions that are a few recorded calls; where arrays are small, or arguments unusual, NumPy's."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from heddle.numpy._core import adopt, ndarray, quick_call
from heddle.numpy import _creation, _fallback, _reductions, _shapes
from heddle.numpy._ufuncs import ufuncs

TABLE: dict[str, Any] = {}


def _recorded(form: Any) -> Any:
    """A function that is NumPy's unless its first array is large or not there yet, and the form takes
    its arguments: one that it does not know, or that needs NumPy's words, is answered with None."""
    theirs = getattr(np, form.__name__)

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else None
        if type(first) in (list, tuple):
            first = next((one for one in first if type(one) is ndarray), None)
        if type(first) is ndarray and first._pending_or_large():
            try:
                result = form(*args, **kwargs)
            except (TypeError, OverflowError):
                result = None  # NumPy finds the words, or knows better
            if result is not None:
                return result
        return _fallback.call(form.__name__, theirs, args, kwargs)

    function._function = theirs
    TABLE[form.__name__] = function
    return function


def _is_real(a: Any) -> bool:
    return type(a) is ndarray and a.dtype.kind in "iuf"


@_recorded
def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is None and high is None or not _is_real(a):
        return None
    if low is None or high is None:
        result = ufuncs["minimum"](a, high) if low is None else ufuncs["maximum"](a, low)
    else:
        result = ufuncs["minimum"](ufuncs["maximum"](a, low), high)
    if out is None or type(out) is not ndarray or out.shape != result.shape:
        return result if out is None else None
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        return None
    out[...] = result
    return out


@_recorded
def diff(a, n=1, axis=-1):
    if n != 1 or a.ndim == 0 or not -a.ndim <= axis < a.ndim or a.shape[axis] < 2:
        return None
    before = (slice(None),) * (axis % a.ndim)
    late, early = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
    return late != early if a.dtype == bool else late - early


@_recorded
def average(a, axis=None, weights=None):
    if _reductions.dims_of(axis, a.ndim) is None:
        return None
    if weights is None:
        return _reductions.mean(a, axis)
    weights = adopt(weights)
    if a.dtype.kind not in "fc" or weights.shape != a.shape:
        return None
    return (a * weights).sum(axis=axis) / weights.sum(axis=axis)


@_recorded
def ptp(a, axis=None):
    return a.max(axis=axis) - a.min(axis=axis) if _is_real(a) else None


@_recorded
def count_nonzero(a, axis=None, *, keepdims=False):
    return (a != 0).sum(axis=axis, keepdims=keepdims)


@_recorded
def triu(m, k=0):
    return _shapes.where(_creation._offsets(*m.shape[-2:]) >= k, m, m.dtype.type(0)) if m.ndim > 1 else None


@_recorded
def tril(m, k=0):
    return _shapes.where(_creation._offsets(*m.shape[-2:]) <= k, m, m.dtype.type(0)) if m.ndim > 1 else None


@_recorded
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not copy or x.dtype.kind != "f":
        return None
    ends = np.finfo(x.dtype)
    number = x.dtype.type
    x = _shapes.where(ufuncs["isnan"](x), number(nan), x)
    x = _shapes.where(x == math.inf, number(ends.max if posinf is None else posinf), x)
    return _shapes.where(x == -math.inf, number(ends.min if neginf is None else neginf), x)


def _without_nan(name: str, number: float) -> Any:
    """A reduction that leaves NaNs out: they count as what changes nothing."""

    def form(a, axis=None, *, keepdims=False):
        if a.dtype.kind != "f":
            return None
        return _reductions.reduced(name, _shapes.where(ufuncs["isnan"](a), a.dtype.type(number), a),
                                   axis, None, keepdims)  # fmt: skip

    form.__name__ = f"nan{name}"
    return _recorded(form)


_without_nan("sum", 0)
_without_nan("prod", 1)


@_recorded
def nanmean(a, axis=None, *, keepdims=False):
    if a.dtype.kind != "f" or a.dtype.itemsize < 4:
        return None
    there = (~ufuncs["isnan"](a)).sum(axis=axis, keepdims=keepdims)
    return TABLE["nansum"](a, axis, keepdims=keepdims) / there.astype(a.dtype)


@_recorded
def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    b = adopt(b)
    if type(b) is not ndarray or a.dtype.kind != "f" or b.dtype.kind != "f":
        return None
    near = ufuncs["absolute"](a - b) <= atol + rtol * ufuncs["absolute"](b)
    result = (near & ufuncs["isfinite"](b)) | (a == b)
    return result | (ufuncs["isnan"](a) & ufuncs["isnan"](b)) if equal_nan else result


@_recorded
def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    near = TABLE["isclose"](a, b, rtol, atol, equal_nan)
    return bool(near.all()) if type(near) is ndarray else None


@_recorded
def array_equal(a1, a2, equal_nan=False):
    a2 = adopt(a2)
    if type(a2) is not ndarray or equal_nan:
        return None
    return a1.shape == a2.shape and bool((a1 == a2).all())


@_recorded
def tile(A, reps):
    reps = (reps,) if isinstance(reps, (int, np.integer)) else tuple(map(operator.index, reps))
    shape = (1,) * (len(reps) - A.ndim) + A.shape
    reps = (1,) * (len(shape) - len(reps)) + reps
    if min(reps, default=1) < 1:
        return None
    between = [size for pair in zip((1,) * len(shape), shape) for size in pair]
    wide = [size for pair in zip(reps, shape) for size in pair]
    repeated = A.reshape(between)._broadcast_to(wide).copy()
    return repeated.reshape([times * size for times, size in zip(reps, shape)])


@_recorded
def repeat(a, repeats, axis=None):
    if not isinstance(repeats, (int, np.integer)) or repeats < 1:
        return None
    if axis is None:
        a, axis = a.reshape(-1), 0
    if not -a.ndim <= axis < a.ndim:
        return None
    d = axis % a.ndim + 1
    wide = a.reshape((*a.shape[:d], 1, *a.shape[d:]))._broadcast_to((*a.shape[:d], int(repeats), *a.shape[d:]))
    return wide.copy().reshape((*a.shape[: d - 1], a.shape[d - 1] * int(repeats), *a.shape[d:]))


@_recorded
def kron(a, b):
    b = adopt(b)
    if type(b) is not ndarray or a.ndim != b.ndim or a.ndim == 0:
        return None
    first = a.reshape([size for pair in zip(a.shape, (1,) * a.ndim) for size in pair])
    second = b.reshape([size for pair in zip((1,) * a.ndim, b.shape) for size in pair])
    return (first * second).reshape([x * y for x, y in zip(a.shape, b.shape)])


@_recorded
def take(a, indices, axis=None, out=None, mode="raise"):
    if out is not None or mode != "raise":
        return None
    a, axis = (a.reshape(-1), 0) if axis is None else (a, axis)
    if not -a.ndim <= axis < a.ndim or isinstance(indices, (int, np.integer)):
        return None
    if np.asarray(_fallback.lowered(indices, [])).dtype.kind not in "iu":  # truth values are no mask here
        return None
    return a[(*(slice(None),) * (axis % a.ndim), indices)]


@_recorded
def real(val):
    return val.real


@_recorded
def imag(val):
    return val.imag


@_recorded
def around(a, decimals=0, out=None):
    if out is not None or not isinstance(decimals, (int, np.integer)) or decimals < 0:
        return None
    if a.dtype.kind in "iu":
        return a.copy()
    if a.dtype.kind != "f":
        return None
    if decimals == 0:
        return ufuncs["rint"](a)
    by = 10.0 ** int(decimals)
    return ufuncs["rint"](a * by) / by


@_recorded
def trapezoid(y, x=None, dx=1.0, axis=-1):
    if y.ndim == 0 or y.dtype.kind != "f" or not -y.ndim <= axis < y.ndim or y.shape[axis] < 2:
        return None
    before = (slice(None),) * (axis % y.ndim)
    if x is not None:
        x = adopt(x)
        if type(x) is not ndarray or x.ndim != 1 or y.ndim != 1:
            return None
        dx = TABLE["diff"](x)
    late, early = y[(*before, slice(1, None))], y[(*before, slice(None, -1))]
    return (dx * (late + early) / 2.0).sum(axis=axis)


@_recorded
def gradient(f, *varargs, axis=None, edge_order=1):
    if f.dtype.kind != "f" or edge_order != 1 or min(f.shape, default=0) < 2:
        return None
    dims = _reductions.dims_of(axis, f.ndim)
    steps = varargs * len(dims) if len(varargs) == 1 else varargs or (1.0,) * len(dims)
    if isinstance(axis, tuple) or len(steps) != len(dims) or not all(isinstance(h, (int, float)) for h in steps):
        return None
    results = [_slope(f, d, float(h)) for d, h in zip(dims, steps)]
    return results[0] if len(results) == 1 else tuple(results)


def _slope(f: ndarray, d: int, h: float) -> ndarray:
    def part(start: int | None, stop: int | None) -> ndarray:
        return f[(*(slice(None),) * d, slice(start, stop))]

    inside = (part(2, None) - part(None, -2)) / (2.0 * h)
    return _shapes.concatenate([(part(1, 2) - part(0, 1)) / h, inside, (part(-1, None) - part(-2, -1)) / h], d)


def _halves(name: str, axis: int) -> None:
    """hsplit and the like: parts are views."""
    theirs = getattr(np, name)

    def function(ary: Any, indices_or_sections: Any, *args: Any, **kwargs: Any) -> Any:
        dim = kwargs.get("axis", args[0] if args else axis)
        if type(ary) is not ndarray or not ary._pending_or_large() or not -ary.ndim <= dim < ary.ndim:
            return _fallback.call(name, theirs, (ary, indices_or_sections, *args), kwargs)
        # NumPy says where, of a row that is as long, and of which nothing is read.
        model = np.empty(ary.shape[dim], np.int8)
        if name in ("hsplit", "vsplit", "dsplit"):
            parts = np.split(model, indices_or_sections)
        else:
            parts = theirs(model, indices_or_sections)
        before = (slice(None),) * (dim % ary.ndim)
        first, result = 0, []
        for one in parts:
            start = one.ctypes.data - model.ctypes.data if one.size else first
            first = start + one.size
            result.append(ary[(*before, slice(start, first))])
        return result

    function.__name__, function._function = name, theirs
    TABLE[name] = function


for _name, _axis in (("split", 0), ("array_split", 0), ("vsplit", 0), ("dsplit", 2)):
    _halves(_name, _axis)


@_recorded
def fliplr(m):
    return m[:, ::-1] if m.ndim > 1 else None


@_recorded
def flipud(m):
    return m[::-1] if m.ndim else None


@_recorded
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    arrays = [adopt(one) for one in xi]
    if any(type(one) is not ndarray or one.ndim != 1 for one in arrays) or sparse or indexing not in ("xy", "ij"):
        return None
    rank = len(arrays)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    shape = [0] * rank
    for one, d in zip(arrays, order):
        shape[d] = one.size
    wide = [one.reshape([-1 if d == at else 1 for at in range(rank)])._broadcast_to(shape)
            for one, d in zip(arrays, order)]  # fmt: skip
    return tuple(one.copy() if copy else one for one in wide)


@_recorded
def column_stack(tup):
    parts = [adopt(one) for one in tup]
    if any(type(one) is not ndarray or one.ndim == 0 for one in parts):
        return None
    return _shapes.concatenate([one[:, None] if one.ndim == 1 else one for one in parts], 1)


TABLE["round"] = TABLE["around"]


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """linalg.norm: the root of the sum of squares, and what is a sum or an extremum for vectors."""
    if ord is None and axis is None and not keepdims and type(x) is ndarray:
        result = quick_call(np.linalg.norm, (x,), {})
        if result is not NotImplemented:
            return result
    is_plain = type(x) is ndarray and x.dtype.kind in "iuf" and _reductions.dims_of(axis, x.ndim) is not None
    if is_plain and x._pending_or_large() and x.dtype.itemsize >= 4:
        values = x if x.dtype.kind == "f" else x.astype(float)
        one_axis = isinstance(axis, int) or (axis is None and x.ndim == 1)
        if ord is None or (ord == 2 and one_axis):
            return ufuncs["sqrt"]((values * values).sum(axis=axis, keepdims=keepdims))
        if one_axis and ord in (1, math.inf, -math.inf):
            size = ufuncs["absolute"](values)
            name = {1: "sum", math.inf: "max", -math.inf: "min"}[ord]
            return getattr(size, name)(axis=axis, keepdims=keepdims)
    return _fallback.call("linalg.norm", np.linalg.norm, (x,), {"ord": ord, "axis": axis, "keepdims": keepdims})
