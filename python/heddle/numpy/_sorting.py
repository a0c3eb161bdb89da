# mypy: ignore-errors
"""Sorting and searching, recorded where arrays are large: NumPy's order, in which NaN comes last. Equal elements stay
in their order, whatever kind of sort is asked for."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from heddle.numpy import _fallback
from heddle.numpy._core import adopt, ndarray, recorded


def _is_sortable(a: Any) -> bool:
    """On one device NumPy's own sort is far faster than ours."""
    if type(a) is not ndarray or recorded.devices_for(a.size) == 1:
        return False
    return a.dtype.kind in "iuf" and a.size > 0 and a.ndim > 0 and a._pending_or_large()


def _along(a: ndarray, axis: Any) -> tuple[ndarray, int] | None:
    """The array, and which of its dimensions; none where NumPy has to complain."""
    if axis is None:
        return a.reshape(-1), 0
    try:
        axis = operator.index(axis)
    except TypeError:
        return None
    if not -a.ndim <= axis < a.ndim:
        return None
    return (a if a._can_show() else a.copy()), axis % a.ndim


def _turned(a: ndarray, axis: int) -> ndarray:
    return a[(*(slice(None),) * axis, slice(None, None, -1))]


def _recorded_sort(name: str, a: Any, axis: Any, order: Any, descending: bool) -> Any:
    if order is not None or not _is_sortable(a):
        return None
    along = _along(a, axis)
    if along is None:
        return None
    a, at = along
    if not descending:
        return recorded.operation(f"numpy.{name}", [a], {"axis": [at]})
    # From the greatest, equal ones as they stand: what is turned around twice.
    result = _turned(recorded.operation(f"numpy.{name}", [_turned(a, at)], {"axis": [at]}), at)
    return a.shape[at] - 1 - result if name == "argsort" else result


def _sorted(name: str, function: Any) -> Any:
    def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None,
             descending: bool = False) -> Any:  # fmt: skip
        if kind is None or stable is None:  # both are NumPy's to refuse
            result = _recorded_sort(name, a, axis, order, descending)
            if result is not None:
                return result
        if not descending:
            more = {"axis": axis, "kind": kind, "order": order, "stable": stable}
            return _fallback.call(name, function, (a,), more)
        a = adopt(a)
        at = -1 if axis is None else axis
        turned = np.flip((a.reshape(-1) if axis is None else a)._host(), at)
        result = np.flip(function(turned, axis=at, kind="stable"), at)
        if name == "argsort":
            result = turned.shape[at] - 1 - result
        return adopt(np.ascontiguousarray(result))

    sort.__name__ = sort.__qualname__ = name
    sort.__doc__, sort._function = function.__doc__, function
    return sort


sort, argsort = _sorted("sort", np.sort), _sorted("argsort", np.argsort)


def sort_in_place(self: ndarray, axis: Any = -1, kind: Any = None, order: Any = None, **more: Any) -> None:
    if not self._writable:
        raise ValueError("sort array is read-only")
    if axis is not None and not more:
        result = _recorded_sort("sort", self, axis, order, False)
        if result is not None:
            self[...] = result
            return
    _fallback.call("ndarray.sort", np.ndarray.sort, (self, axis, kind, order), more)


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    is_known = side in ("left", "right") and sorter is None
    is_there = type(a) is ndarray and not a._pending and not getattr(v, "_pending", False)
    if is_known and is_there and (v.size if type(v) is ndarray else np.size(v)) <= recorded.at_once():
        # Nothing has to wait for it.
        return _fallback.raised(np.searchsorted(a._host(), _fallback.lowered(v, []), side), [a])
    if is_known and any(type(one) is ndarray and one._pending_or_large() for one in (a, v)):
        a, v = adopt(a), adopt(v)
        dtype = np.result_type(a.dtype, v.dtype) if type(a) is ndarray and type(v) is ndarray else np.dtype(object)
        if dtype.kind in "iuf" and a.ndim == 1 and a.size > 0 and v.size > 0:
            operands = [one.astype(dtype, copy=False) for one in (a, v)]
            operands = [one if one._can_show() else one.copy() for one in operands]
            return recorded.operation("numpy.searchsorted", operands, {"right": [int(side == "right")]})
    return _fallback.call("searchsorted", np.searchsorted, (a, v), {"side": side, "sorter": sorter})


searchsorted._function = np.searchsorted
