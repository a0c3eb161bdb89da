# mypy: ignore-errors
"""Indices by arrays: recorded where their values do not matter for the shape, else NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy._core import adopt, ndarray, recorded
from heddle.numpy import _fallback


def _is_whole_numbers(at: Any) -> bool:
    return type(at) is ndarray and at.dtype.kind in "iu" and at.ndim > 0


def get(array: ndarray, at: Any) -> Any:
    """array[at], where `at` is not made of numbers and slices alone."""
    if type(at) in (list, np.ndarray):
        taken = adopt(at)
        if type(taken) is ndarray:
            at = taken
    # Whether an index is inside is known only where its values are.
    if _is_whole_numbers(at) and not at._pending and at.size > 0 and array.ndim > 0:
        size = array.shape[0]
        host = at._host()
        if -size <= host.min() and host.max() < size:
            result = recorded.take(array, at, 0)
            if result is not None:
                return result
    return _fallback.call("ndarray.__getitem__", np.ndarray.__getitem__, (array, at), {})


def put(array: ndarray, at: Any, value: Any) -> None:
    """array[at] = value, likewise."""
    if type(at) is np.ndarray and at.dtype == bool:
        at = adopt(at)
    if type(at) is ndarray and at.dtype == bool and recorded.put_where(array, at, value):
        return
    given = [array]
    value = _fallback.lowered(value, given)
    at = _fallback.lowered(at, given)
    _fallback.note("ndarray.__setitem__", given)
    array._host(True)[at] = value
