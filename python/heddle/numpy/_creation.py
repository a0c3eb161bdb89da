# mypy: ignore-errors
"""New arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from heddle.numpy._core import adopt, ndarray, recorded, wrap_numpy
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
        return object.copy() if copy else object
    given: list[ndarray] = []
    result = np.array(_fallback.lowered(object, given), dtype, order=order, ndmin=ndmin, **more)
    return wrap_numpy(result, [])


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: bool | None = None,
            device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    if copy is False and type(a) is not ndarray and hasattr(a, "__array__"):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return array(a, dtype, copy=copy, order=order or "K")


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    if type(fill_value) is ndarray:
        result = empty(shape, fill_value.dtype if dtype is None else dtype)
        result[...] = fill_value
        return result
    if np.ndim(fill_value) == 0:
        among = np.asarray(fill_value).dtype if dtype is None else np.dtype(dtype)
        if among.kind in "biufc":
            result = recorded.full(_dims(shape), fill_value, among)
            if result is not None:
                return result
    return wrap_numpy(np.full(shape, fill_value, dtype), [])


def zeros(shape: Any, dtype: Any = float, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return full(shape, 0, np.dtype(float if dtype is None else dtype))


def ones(shape: Any, dtype: Any = None, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return full(shape, 1, np.dtype(float if dtype is None else dtype))


def empty(shape: Any, dtype: Any = float, order: Any = "C", *,
        device: Any = None, like: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return zeros(shape, dtype)


def _like(a: Any, value: Any, dtype: Any, shape: Any) -> Any:
    a = adopt(a)
    dtype = a.dtype if dtype is None else dtype
    if shape is not None or type(a) is not ndarray:
        return full(a.shape if shape is None else shape, value, dtype)
    # It lies as the other one does.
    order = a._order()
    return full([a.shape[d] for d in order], value, dtype)._transposed(list(np.argsort(order)))


def zeros_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None,
               device: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return _like(a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None,
              device: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return _like(a, 1, dtype, shape)


empty_like = zeros_like


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True,
              shape: Any = None, device: Any = None) -> Any:  # fmt: skip
    _on_cpu(device)
    return _like(a, fill_value, dtype, shape)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
           like: Any = None) -> Any:  # fmt: skip
    """Whole numbers are recorded; steps of floats are NumPy's to count."""
    _on_cpu(device)
    ends = (start, stop, step)
    if all(type(one) is int or one is None for one in ends) and step:
        first, last = (0, start) if stop is None else (start, stop)
        among = np.dtype(int if dtype is None else dtype)
        if among.kind in "iuf" and among.itemsize == 8:
            size = max(0, math.ceil((last - first) / step))
            result = recorded.arange(size, first, step, among) if size < 2**53 else None
            if result is not None:
                return result
    return _fallback.call("arange", np.arange, ends, {"dtype": dtype})
