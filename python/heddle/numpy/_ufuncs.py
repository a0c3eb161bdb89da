# mypy: ignore-errors
"""NumPy's ufuncs: those that are recorded, and the rest by NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from heddle.numpy._core import UfuncCall, adopt, ndarray, recorded
from heddle.numpy import _fallback

_elementwise = recorded.elementwise
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
               "logical_or": "any", "logical_and": "all"}  # fmt: skip


class Ufunc(UfuncCall):
    """A ufunc with a recorded form. Options and methods are NumPy's. Calls without them are C++'s."""

    def __init__(self, number: int, function: np.ufunc) -> None:
        super().__init__(number)
        self._name, self._function = function.__name__, function
        self._number, self._inputs = number, function.nin
        functools.update_wrapper(self, function, updated=())

    __getattr__ = _fallback.Function.__getattr__
    __reduce__ = _fallback.Function.__reduce__
    __repr__ = _fallback.Function.__repr__

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == self._inputs:
            return self._recorded(*args)
        if list(kwargs) == ["out"] and len(args) == self._inputs:
            args = (*args, kwargs["out"][0] if isinstance(kwargs["out"], tuple) else kwargs["out"])
            kwargs = {}
        if not kwargs and len(args) == self._inputs + 1:
            out = args[-1]
            if out is None:
                return self._recorded(*args[:-1])
            if type(out) is ndarray and self._into(out, args[:-1]):
                return out
            return _fallback.call(self._name, self._function, args[:-1], {"out": out})
        if "where" in kwargs and kwargs.keys() <= {"where", "out"} and len(args) == self._inputs:
            result = self._where(args, **kwargs)
            if result is not None:
                return result
        return _fallback.call(self._name, self._function, args, kwargs)

    def _where(self, args: tuple[Any, ...], where: Any, out: Any = None) -> Any:
        """Only where a mask holds; elsewhere `out` stays, and what is new is 0."""
        from heddle.numpy import _shapes

        out = out[0] if isinstance(out, tuple) else out
        arrays = [one for one in (*args, where) if type(one) is ndarray]
        if not any(one._pending_or_large() for one in arrays) or not (out is None or type(out) is ndarray):
            return None
        mask = adopt(where)
        if type(mask) is not ndarray or mask.dtype != bool:
            return None
        into = () if out is None else (out.shape,)
        try:
            shape = np.broadcast_shapes(*map(np.shape, args), mask.shape, *into)
        except ValueError:
            return None  # in NumPy's words
        if into and shape != out.shape:
            return None
        result = self._recorded(*args)
        if out is None:
            return _shapes.where(mask, result, result.dtype.type(0))
        if not out._writable or not np.can_cast(result.dtype, out.dtype, "same_kind"):
            return None
        out[...] = _shapes.where(mask, result.astype(out.dtype, copy=False), out)
        return out

    def _recorded(self, *args: Any) -> Any:
        # Without an array of ours among them one is made, as NumPy makes its own.
        if not any(type(one) is ndarray for one in args):
            return _fallback.call(self._name, self._function, args, {})
        result = _elementwise(self._number, *args)
        if result is NotImplemented:
            return _fallback.call(self._name, self._function, args, {})
        return result

    def _into(self, out: ndarray, args: tuple[Any, ...]) -> bool:
        if not any(type(one) is ndarray for one in args) or not out._writable:
            return False
        shapes = [getattr(one, "shape", ()) for one in args]
        try:
            if np.broadcast_shapes(*shapes) != out.shape:
                return False
        except ValueError:
            return False
        result = self._recorded(*args)
        if not np.can_cast(result.dtype, out.dtype, "same_kind"):
            return False
        out[...] = result
        return True

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
               keepdims: bool = False, **kwargs: Any) -> Any:  # fmt: skip
        name = _REDUCTIONS.get(self._name)
        if name and out is None and not kwargs and type(array) is ndarray:
            if not (name in ("any", "all", "max", "min") and dtype is not None):
                from heddle.numpy import _reductions

                return _reductions.reduced(name, array, axis, dtype, keepdims)
        if out is not None:
            kwargs["out"] = out
        return _fallback.call(f"{self._name}.reduce", self._function.reduce, (array,),
                              {"axis": axis, "dtype": dtype, "keepdims": keepdims, **kwargs})  # fmt: skip


    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        name = {"add": "cumsum", "multiply": "cumprod"}.get(self._name)
        if name and out is None and type(array) is ndarray and array.ndim > 0:
            from heddle.numpy import _reductions

            return _reductions.running(name, array, axis, dtype)
        return _fallback.call(f"{self._name}.accumulate", self._function.accumulate, (array, axis, dtype),
                              {} if out is None else {"out": out})  # fmt: skip

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        x, y = adopt(A), adopt(B)
        if not kwargs and self._inputs == 2 and type(x) is ndarray and type(y) is ndarray:
            return self(x.reshape((*x.shape, *(1,) * y.ndim)), y)
        return _fallback.call(f"{self._name}.outer", self._function.outer, (A, B), kwargs)

    def at(self, a: Any, indices: Any, *values: Any) -> None:
        """Adds up where places repeat: NumPy's, in place."""
        given: list[ndarray] = []
        _fallback.note(f"{self._name}.at", [one for one in (a, *values) if type(one) is ndarray])
        first = _fallback.lowered(a, given, True)
        self._function.at(first, *(_fallback.lowered(one, given) for one in (indices, *values)))


ufuncs: dict[str, Ufunc] = {
    name: Ufunc(number, getattr(np, name))
    for number, name in enumerate(recorded.elementwise_names())
}


def array_ufunc(self: ndarray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy's ufuncs on arrays of ours."""
    out = kwargs.get("out")
    if isinstance(out, tuple) and len(out) == 1:
        kwargs["out"] = out[0]
    ours = ufuncs.get(ufunc.__name__)
    if ours is not None and ours._function is ufunc:
        inputs = tuple(adopt(one) if type(one) is np.ndarray else one for one in inputs)
        return (ours if method == "__call__" else getattr(ours, method))(*inputs, **kwargs)
    if ufunc is np.matmul and method == "__call__" and not kwargs:
        from heddle.numpy import _products

        return _products.matmul(*inputs)
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    if method == "at":
        given: list[ndarray] = []
        _fallback.note(name, [one for one in inputs if type(one) is ndarray])
        first = _fallback.lowered(inputs[0], given, True)
        return function(first, *(_fallback.lowered(one, given) for one in inputs[1:]))
    return _fallback.call(name, function, inputs, kwargs)


_fallback.FUNCTIONS += (Ufunc,)
