# mypy: ignore-errors
"""New arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from heddle.numpy._core import adopt, call_aligned, ndarray, recorded, wrap_numpy
from heddle.numpy import _fallback
from heddle.numpy._shapes import _dims


def _on_cpu(device: Any) -> None:
    if device not in (None, "cpu"):  # NumPy's own words
        np.empty((), device=device)


def array(object: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K",
          subok: bool = False, ndmin: int = 0, **more: Any) -> Any:  # fmt: skip
    """A copy of what is given; without `copy` an array of ours is taken as it is."""
    if type(object) is ndarray and ndmin <= object.ndim and not more:
        if dtype is not None and np.dtype(dtype) != object.dtype:
            if copy is False:
                raise ValueError("Unable to avoid copy while creating an array as requested.")
            return object.astype(dtype)
        # Flags are of memory: they are asked for only where they count.
        lies = order not in ("C", "F") or object.flags[f"{order}_CONTIGUOUS"]
        if copy is False and not lies:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return object.copy(order) if copy or not lies else object
    given: list[ndarray] = []
    result = call_aligned(np.array, _fallback.lowered(object, given), dtype, order=order, ndmin=ndmin, **more)
    return wrap_numpy(result, [])


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: bool | None = None,
            device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    if copy is False and type(a) is not ndarray and hasattr(a, "__array__"):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return array(a, dtype, copy=copy, order=order or "K")


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return array(a, dtype, copy=None, order="C", ndmin=1)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    if order == "F" and len(sizes := _dims(shape)) > 1 and np.ndim(fill_value) == 0:
        return full(sizes[::-1], fill_value, dtype).T
    if type(fill_value) is ndarray:
        result = empty(shape, fill_value.dtype if dtype is None else dtype, order)
        result[...] = fill_value
        return result
    if np.ndim(fill_value) == 0:
        among = np.asarray(fill_value).dtype if dtype is None else np.dtype(dtype)
        # Zeros take no time until they are touched, and may be written to at once.
        at_once = type(fill_value) is int and fill_value == 0 and recorded.at_once() > 0 and recorded.devices() == 1
        if among.kind in "biufc" and not at_once:
            result = recorded.full(_dims(shape), fill_value, among)
            if result is not None:
                return result
        if at_once:
            return wrap_numpy(call_aligned(np.zeros, shape, among), [])
    return wrap_numpy(call_aligned(np.full, shape, fill_value, dtype), [])


def zeros(shape: Any, dtype: Any = float, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return full(shape, 0, np.dtype(float if dtype is None else dtype), order)


def ones(shape: Any, dtype: Any = None, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return full(shape, 1, np.dtype(float if dtype is None else dtype), order)


def empty(shape: Any, dtype: Any = float, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return zeros(shape, dtype, order)


def _like(a: Any, value: Any, dtype: Any, order: Any, shape: Any) -> Any:
    a = adopt(a)
    dtype = a.dtype if dtype is None else dtype
    if shape is not None or type(a) is not ndarray or order in ("C", "F"):
        return full(a.shape if shape is None else shape, value, dtype, "F" if order == "F" else "C")
    # It lies as the other one does.
    order = a._order()
    return full([a.shape[d] for d in order], value, dtype)._transposed(list(np.argsort(order)))


def zeros_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None,
               device: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return _like(a, 0, dtype, order, shape)


def ones_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None,
              device: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return _like(a, 1, dtype, order, shape)


empty_like = zeros_like


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True,
              shape: Any = None, device: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return _like(a, fill_value, dtype, order, shape)


def _ends(given: tuple[Any, ...], start: Any = None, stop: Any = None, step: Any = None) -> Any:
    """First, end and step of a range, as NumPy takes its arguments; none where it complains."""
    if len(given) > 3:
        return None
    if len(given) == 1 and start is None and stop is None:
        given, stop = (), given[0]
    given = given + (start, stop, step)[len(given) :]
    first, last, by = given
    first, by = 0 if first is None else first, 1 if by is None else by
    ends = tuple(int(one) if isinstance(one, (int, np.integer)) else one for one in (first, last, by))
    return ends if all(type(one) in (int, float) or isinstance(one, float) for one in ends) else None


def arange(*args: Any, dtype: Any = None, device: Any = None, like: Any = None, **named: Any) -> Any:
    """A range; of floats it has the elements that NumPy counts and fills."""
    if device is not None:
        _on_cpu(device)
    if not named and len(args) == 1 and type(args[0]) is int and args[0] <= recorded.at_once():
        return wrap_numpy(np.arange(args[0], dtype=dtype), [])
    try:
        ends = _ends(args, **named)
    except TypeError:
        ends = None
    if ends and ends[2] and all(map(math.isfinite, ends)):
        first, last, step = ends
        whole = all(type(one) is int for one in ends)
        among = np.dtype((int if whole else float) if dtype is None else dtype)
        by = step if whole else (first + step) - first
        fits = whole or (among == float and first + by == first + step)
        if fits and among.kind in "iuf" and among.itemsize == 8:
            size = max(0, math.ceil((last - first) / step))
            result = recorded.arange(size, first, by, among) if size < 2**53 else None
            if result is not None:
                return result
    return _fallback.call("arange", np.arange, args, {**named, "dtype": dtype})


def linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False,
             dtype: Any = None, axis: int = 0, *, device: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    real = all(isinstance(one, (int, float, np.integer)) and math.isfinite(one) for one in (start, stop))
    steps = num - 1 if endpoint else num
    if real and isinstance(num, (int, np.integer)) and steps > recorded.at_once() and dtype in (None, float):
        first = float(start)
        step = (float(stop) - first) / steps
        if step:
            result = arange(int(num), dtype=float) * step + first
            if endpoint:
                result[-1:] = float(stop)
            return (result, np.float64(step)) if retstep else result
    more = {"num": num, "endpoint": endpoint, "retstep": retstep, "dtype": dtype, "axis": axis}
    return _fallback.call("linspace", np.linspace, (start, stop), more)


def _offsets(rows: int, columns: int) -> Any:
    """The column less the row of every element."""
    return arange(columns)[None, :] - arange(rows)[:, None]


def _is_large(rows: Any, columns: Any) -> bool:
    both = isinstance(rows, (int, np.integer)) and isinstance(columns, (int, np.integer))
    return both and rows > 0 and columns > 0 and rows * columns > recorded.at_once()


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    columns = N if M is None else M
    if _is_large(N, columns) and np.dtype(dtype).kind in "biufc":
        return (_offsets(N, columns) == k).astype(dtype)
    return _fallback.call("eye", np.eye, (N, M, k, dtype), {"order": order})


def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return eye(n, dtype=float if dtype is None else dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Any:
    columns = N if M is None else M
    if _is_large(N, columns) and np.dtype(dtype).kind in "biufc":
        return (_offsets(N, columns) <= k).astype(dtype)
    return _fallback.call("tri", np.tri, (N, M, k, dtype), {})
