# mypy: ignore-errors
"""Views and joins: shapes are checked as NumPy does, and by NumPy where they do not fit."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from heddle.numpy._core import adopt, ndarray, recorded
from heddle.numpy import _fallback


def _dims(shape: Any) -> tuple[int, ...]:
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(operator.index(one) for one in shape)


def fitting_sizes(a: ndarray, shape: Any) -> tuple[int, ...]:
    """The sizes of a new shape for as many elements; NumPy's own words where it does not fit."""
    sizes = _dims(shape)
    if -1 in sizes:
        rest = math.prod(size for size in sizes if size >= 0)
        if sizes.count(-1) == 1 and rest > 0 and a.size % rest == 0:
            sizes = tuple(a.size // rest if size == -1 else size for size in sizes)
    if any(size < 0 for size in sizes) or math.prod(sizes) != a.size:
        np.broadcast_to(np.zeros((), a.dtype), a.shape).reshape(shape)
    return sizes


def reshape(a: Any, /, shape: Any = None, order: Any = "C", *, copy: bool | None = None) -> Any:
    if type(a) is not ndarray:
        return _fallback.call("reshape", np.reshape, (a, shape), {"order": order})
    sizes = fitting_sizes(a, shape)
    if order == "C" and copy is None:
        result = a._reshaped(sizes)
        if result is not None:
            return result
    if order == "F":
        return reshape(a.T, sizes[::-1]).T
    more = {} if copy is None else {"copy": copy}
    return _fallback.call("reshape", np.reshape, (a, shape), {"order": order, **more})


def transpose(a: Any, axes: Any = None) -> Any:
    if type(a) is not ndarray:
        return _fallback.call("transpose", np.transpose, (a, axes), {})
    if axes is None:
        return a._transposed(list(range(a.ndim))[::-1])
    axes = _dims(axes)
    if sorted(d % a.ndim if -a.ndim <= d < a.ndim else -1 for d in axes) != list(range(a.ndim)):
        np.broadcast_to(np.zeros((), a.dtype), a.shape).transpose(axes)
    return a._transposed([d % a.ndim for d in axes])


def _order_of(a: ndarray, function: Any, *args: Any) -> ndarray:
    """What NumPy does with the dimensions of an array of that rank, done with ours."""
    sizes = tuple(range(2, 2 + a.ndim))
    model = function(np.broadcast_to(np.zeros(()), sizes), *args)
    return a._transposed([size - 2 for size in model.shape])


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    if type(a) is not ndarray:
        return _fallback.call("swapaxes", np.swapaxes, (a, axis1, axis2), {})
    return _order_of(a, np.swapaxes, axis1, axis2)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    if type(a) is not ndarray:
        return _fallback.call("moveaxis", np.moveaxis, (a, source, destination), {})
    return _order_of(a, np.moveaxis, source, destination)


def _shaped(a: ndarray, function: Any, *args: Any) -> ndarray:
    """Dimensions of one element that come or go."""
    return a._reshaped(function(np.broadcast_to(np.zeros(()), a.shape), *args).shape)


def squeeze(a: Any, axis: Any = None) -> Any:
    if type(a) is not ndarray:
        return _fallback.call("squeeze", np.squeeze, (a,), {"axis": axis})
    return _shaped(a, np.squeeze, axis)


def expand_dims(a: Any, axis: Any) -> Any:
    if type(a) is not ndarray:
        return _fallback.call("expand_dims", np.expand_dims, (a,), {"axis": axis})
    return _shaped(a, np.expand_dims, axis)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    array = adopt(array)
    if type(array) is not ndarray:
        return _fallback.call("broadcast_to", np.broadcast_to, (array, shape), {"subok": subok})
    result = array._broadcast_to(_dims(shape))
    if result is None:  # NumPy's own words
        np.broadcast_to(np.broadcast_to(np.zeros((), array.dtype), array.shape), shape)
    return result


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = [adopt(one) for one in args]
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    return tuple(broadcast_to(one, shape) for one in arrays)


def flip(m: Any, axis: Any = None) -> Any:
    if type(m) is not ndarray:
        return _fallback.call("flip", np.flip, (m,), {"axis": axis})
    from heddle.numpy._reductions import dims_of

    dims = dims_of(axis, m.ndim)
    if dims is None:
        return _fallback.call("flip", np.flip, (m,), {"axis": axis})
    turn = slice(None, None, -1)
    return m[tuple(turn if d in dims else slice(None) for d in range(m.ndim))]


def ravel(a: Any, order: Any = "C") -> Any:
    if type(a) is not ndarray:
        return _fallback.call("ravel", np.ravel, (a,), {"order": order})
    if order not in ("C", "F"):  # as it lies in memory
        return _fallback.call("ravel", np.ravel, (a,), {"order": order})
    return reshape(a, (-1,) if a.size else (0,), order)


def concatenate(arrays: Any, axis: Any = 0, out: Any = None, **more: Any) -> Any:
    if out is None and not more and not isinstance(arrays, ndarray):
        parts = [adopt(one) for one in arrays]
        if parts and all(type(one) is ndarray for one in parts):
            if axis is None:
                parts, axis, arrays = [ravel(one) for one in parts], 0, None
            rank = parts[0].ndim
            rests = {one.shape[:axis] + one.shape[axis:][1:] for one in parts if one.ndim == rank}
            fits = rank > 0 and len(rests) == 1 and -rank <= axis < rank
            if fits and all(one.ndim == rank for one in parts) and any(one.size for one in parts):
                dtype = np.result_type(*(one.dtype for one in parts))
                result = recorded.concatenate(parts, axis % rank, dtype)
                if result is not None:
                    return result
    if out is not None:
        more["out"] = out
    if arrays is None:
        arrays = parts
    return _fallback.call("concatenate", np.concatenate, (arrays,), {"axis": axis, **more})


def stack(arrays: Any, axis: int = 0, out: Any = None, **more: Any) -> Any:
    parts = [adopt(one) for one in arrays] if not isinstance(arrays, ndarray) else list(arrays)
    same = len({one.shape for one in parts if type(one) is ndarray}) == 1
    if same and out is None and not more and all(type(one) is ndarray for one in parts):
        rank = parts[0].ndim + 1
        if -rank <= axis < rank:
            return concatenate([expand_dims(one, axis) for one in parts], axis)
    if out is not None:
        more["out"] = out
    return _fallback.call("stack", np.stack, (arrays,), {"axis": axis, **more})


def _at_least(rank: int, arrays: Any) -> list[Any]:
    return [one if one.ndim >= rank else _shaped(one, (np.atleast_1d, np.atleast_2d)[rank - 1])
            for one in map(adopt, arrays)]  # fmt: skip


def vstack(tup: Any, **more: Any) -> Any:
    return concatenate(_at_least(2, tup), 0, **more)


def hstack(tup: Any, **more: Any) -> Any:
    parts = _at_least(1, tup)
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, **more)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if type(a) is not ndarray or a.size == 0 or not a._pending_or_large():
        return _fallback.call("roll", np.roll, (a, shift), {"axis": axis})
    if axis is None:
        return roll(ravel(a), shift, 0).reshape(a.shape)
    result = a
    for by, dim in np.broadcast(shift, axis):
        if not -a.ndim <= dim < a.ndim:
            return _fallback.call("roll", np.roll, (a, shift), {"axis": axis})
        dim %= a.ndim
        by = int(by) % a.shape[dim]
        if by:
            before = (slice(None),) * dim
            parts = [result[(*before, slice(-by, None))], result[(*before, slice(None, -by))]]
            result = concatenate(parts, dim)
    return result.copy() if result is a else result


def where(condition: Any, /, *choices: Any) -> Any:
    args = (condition, *choices)
    if len(args) == 3 and any(type(one) is ndarray for one in args):
        condition, x, y = (adopt(one) if isinstance(one, (np.ndarray, list, tuple)) else one for one in args)
        weak = [one if type(one) in (int, float, complex, bool) else one.dtype for one in (x, y)
                if type(one) in (int, float, complex, bool) or hasattr(one, "dtype")]  # fmt: skip
        if len(weak) == 2:
            dtype = np.result_type(*weak)
            if dtype.kind in "biufc":
                result = recorded.where(condition, x, y, dtype)
                if result is not None:
                    return result
    return _fallback.call("where", np.where, args, {})
