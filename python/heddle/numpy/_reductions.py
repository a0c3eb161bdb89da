# mypy: ignore-errors
"""Sums, extrema and the like, in the types that NumPy reduces in."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy._core import ndarray, recorded
from heddle.numpy import _fallback

_by_numpy = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all,
    "mean": np.mean, "var": np.var, "std": np.std, "argmax": np.argmax, "argmin": np.argmin,
    "cumsum": np.cumsum, "cumprod": np.cumprod,
}  # fmt: skip
_NEUTRAL = {"sum": 0, "prod": 1, "any": 0, "all": 1}
_HALF = np.dtype(np.float16)
_NOT_GIVEN: Any = np._NoValue


def dims_of(axis: Any, rank: int) -> list[int] | None:
    """The dimensions that an axis names, in order; none where NumPy would complain."""
    if axis is None:
        return list(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    dims = []
    for one in axes:
        if not isinstance(one, (int, np.integer)) or not -rank <= one < rank:
            return None
        dims.append(int(one) % rank)
    return sorted(dims) if len(set(dims)) == len(dims) else None


def _sum_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return np.dtype(np.int64)
    if dtype.kind == "u" and dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return dtype


def _reduced_in(name: str, array: ndarray, dtype: Any) -> np.dtype[Any] | None:
    if dtype is not None:
        return np.dtype(dtype) if np.dtype(dtype).kind in "biufc" else None
    if name in ("any", "all"):
        return np.dtype(bool)
    if name in ("sum", "prod"):
        return _sum_type(array.dtype)
    return None if array.dtype.kind == "c" else array.dtype


def _check_names(name: str, more: Any) -> None:
    for key in more:
        if key not in ("where", "initial"):
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")


def _goes_over(mask: ndarray, array: ndarray) -> bool:
    """Whether a mask's dimensions are the array's, or repeated along them."""
    pairs = zip(mask.shape[::-1], array.shape[::-1])
    return mask.ndim <= array.ndim and all(one in (1, size) for one, size in pairs)


def reduced(name: str, array: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False,
            **more: Any) -> Any:  # fmt: skip
    """One of sum, prod, max, min, any, all."""
    if type(array) is ndarray and "where" in more and name in _NEUTRAL and array._pending_or_large():
        mask = more["where"]
        if mask is True or mask is _NOT_GIVEN:
            more.pop("where")
        elif type(mask) is ndarray and mask.dtype == bool and more.keys() == {"where"} and _goes_over(mask, array):
            from heddle.numpy import _shapes

            # What is left out counts as what changes nothing.
            neutral = array.dtype.type(_NEUTRAL[name])
            array = _shapes.where(mask, array, neutral)
            return reduced(name, array, axis, dtype, keepdims)
    if type(array) is ndarray and not more:
        dims = dims_of(axis, array.ndim)
        among = _reduced_in(name, array, dtype)
        if dims is not None and among is not None and array.size > 0:
            keep = bool(keepdims) and keepdims is not _NOT_GIVEN
            wide = np.dtype(np.float32) if among == _HALF and name in ("sum", "prod") else among
            result = recorded.reduce(name, array, dims, keep, wide)
            if result is not None:
                return result if wide is among else result.astype(among)
    if dtype is not None:
        more["dtype"] = dtype
    if keepdims is not _NOT_GIVEN and (keepdims or hasattr(array, "__array__")):
        more["keepdims"] = keepdims  # which sparse matrices do not take
    return _fallback.call(name, _by_numpy[name], (array,), {"axis": axis, **more})


def _mean(array: ndarray, axis: Any, dtype: Any, keepdims: bool) -> Any:
    dims = dims_of(axis, array.ndim)
    if dims is None or array.size == 0:
        return None
    result_type = np.dtype(dtype) if dtype is not None else array.dtype
    if result_type.kind in "biu":
        if dtype is not None:
            return None
        result_type = np.dtype(np.float64)
    wide = np.dtype(np.float32) if result_type == _HALF else result_type
    total = recorded.reduce("sum", array, dims, keepdims, wide)
    if total is None:
        return None
    count = 1
    for d in dims:
        count *= array.shape[d]
    mean = total / (float(count) if wide.kind == "f" else wide.type(count))
    return mean if wide is result_type else mean.astype(result_type)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
         **more: Any) -> Any:  # fmt: skip
    keepdims = False if keepdims is _NOT_GIVEN else keepdims
    if type(a) is ndarray and out is None and not more:
        result = _mean(a, axis, dtype, bool(keepdims))
        if result is not None:
            return result
    if out is not None:
        more["out"] = out
    return _fallback.call("mean", np.mean, (a,), {"axis": axis, "dtype": dtype, "keepdims": keepdims, **more})


def sums(name: str) -> Any:
    """The function, and the method, that adds up or multiplies."""

    def reduction(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
                  **more: Any) -> Any:  # fmt: skip
        _check_names(name, more)
        if out is not None:
            more["out"] = out
        return reduced(name, a, axis, dtype, keepdims, **more)

    return reduction


def extrema(name: str) -> Any:
    """The same without a type of its own."""

    def reduction(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
        _check_names(name, more)
        if out is not None:
            more["out"] = out
        return reduced(name, a, axis, None, keepdims, **more)

    return reduction


def _ddof(ddof: Any, correction: Any) -> Any:
    if correction is _NOT_GIVEN:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, *, correction: Any = _NOT_GIVEN, **more: Any) -> Any:  # fmt: skip
    ddof = _ddof(ddof, correction)
    keepdims = False if keepdims is _NOT_GIVEN else keepdims
    plain = out is None and not more and dtype is None and isinstance(ddof, (int, float))
    if type(a) is ndarray and plain and a.dtype.kind in "biuf" and a.dtype != _HALF:
        centre = _mean(a, axis, None, True)
        if centre is not None:
            away = a - centre
            total = reduced("sum", away * away, axis, None, keepdims)
            count = a.size // max(total.size, 1)
            if count > ddof:
                return total / away.dtype.type(count - ddof)
    if out is not None:
        more["out"] = out
    return _fallback.call("var", np.var, (a,), {"axis": axis, "dtype": dtype, "ddof": ddof,
                                                "keepdims": keepdims, **more})  # fmt: skip


def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, *, correction: Any = _NOT_GIVEN, **more: Any) -> Any:  # fmt: skip
    ddof = _ddof(ddof, correction)
    if type(a) is ndarray and out is None and not more and dtype is None and a._pending_or_large():
        from heddle.numpy import _ufuncs

        return _ufuncs.ufuncs["sqrt"](var(a, axis, dtype, None, ddof, keepdims))
    if out is not None:
        more["out"] = out
    keepdims = False if keepdims is _NOT_GIVEN else keepdims
    return _fallback.call("std", np.std, (a,), {"axis": axis, "dtype": dtype, "ddof": ddof,
                                                "keepdims": keepdims, **more})  # fmt: skip


def arg_extremum(name: str, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    keep = bool(keepdims) and keepdims is not _NOT_GIVEN
    if type(a) is ndarray and out is None and a.dtype.kind in "biuf" and a.size > 0:
        if axis is None:
            flat = a.reshape(-1)
            result = recorded.arg_extremum(name == "argmax", flat, 0, False)
            if result is not None:
                return result.reshape((1,) * a.ndim) if keep else result
        else:
            dims = dims_of(axis, a.ndim)
            if dims is not None and len(dims) == 1 and not isinstance(axis, tuple):
                result = recorded.arg_extremum(name == "argmax", a, dims[0], keep)
                if result is not None:
                    return result
    more: dict[str, Any] = {} if out is None else {"out": out}
    if keep:
        more["keepdims"] = True
    return _fallback.call(name, _by_numpy[name], (a,), {"axis": axis, **more})


def running(name: str, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """cumsum and cumprod."""
    if type(a) is ndarray and out is None and a.size > 0 and a.ndim > 0:
        flat = a if axis is not None else a.reshape(-1)
        dims = dims_of(0 if axis is None else axis, flat.ndim)
        among = np.dtype(dtype) if dtype is not None else _sum_type(a.dtype)
        # A sum of floats from the left is NumPy's own order: whole numbers may go any way.
        if dims is not None and len(dims) == 1 and among.kind in "iuf":
            result = recorded.running(name, flat, dims[0], among)
            if result is not None:
                return result
    more: dict[str, Any] = {} if out is None else {"out": out}
    return _fallback.call(name, _by_numpy[name], (a,), {"axis": axis, "dtype": dtype, **more})
