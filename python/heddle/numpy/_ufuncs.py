# mypy: ignore-errors
"""NumPy's ufuncs: those that are recorded, and the rest by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy._core import adopt, ndarray, recorded
from heddle.numpy import _fallback

_elementwise = recorded.elementwise
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
               "logical_or": "any", "logical_and": "all"}  # fmt: skip


class Ufunc(_fallback.Function):
    """A ufunc with a recorded form. Options and methods are NumPy's."""

    def __init__(self, number: int, function: np.ufunc) -> None:
        super().__init__(function.__name__, function)
        self._number, self._inputs = number, function.nin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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
        return _fallback.call(self._name, self._function, args, kwargs)

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
