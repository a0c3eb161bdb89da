# mypy: ignore-errors
"""Methods of ndarray that need not be fast. What is not here is NumPy's method, on memory."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from heddle.numpy._core import add_quick_method, adopt, ndarray, recorded, wrap_numpy
from heddle.numpy import _fallback, _memory, _products, _reductions, _shapes, _sorting, _ufuncs


def _as_numpy(self: ndarray, dtype: Any = None, copy: bool | None = None) -> Any:
    """A snapshot, read-only unless it is a copy: later writes on either side do not meet."""
    array = self._snapshot()
    if dtype is not None and np.dtype(dtype) != array.dtype:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return array.astype(dtype)
    return array.copy() if copy else array


def _array_function(self: ndarray, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    import heddle.numpy

    module = (func.__module__ or "numpy").partition("numpy")[2].strip(".")
    place: Any = heddle.numpy
    for part in filter(None, module.split(".")):
        place = getattr(place, part, None)
    ours = getattr(place, func.__name__, None) if place is not None else None
    # What is NumPy's own function, by another name too, would come back here.
    if ours is None or ours is func or getattr(ours, "_function", None) is func:
        return _fallback.call(func.__name__, func, args, kwargs)
    return ours(*args, **kwargs)


def astype(self: ndarray, dtype: Any, order: Any = "K", casting: str = "unsafe",
           subok: bool = True, copy: bool = True) -> Any:  # fmt: skip
    dtype = np.dtype(dtype)
    if not copy and dtype == self.dtype:
        return self
    if np.can_cast(self.dtype, dtype, casting) and dtype.kind in "biufc" and dtype.isnative:
        result = recorded.astype(self, dtype) if dtype.itemsize <= 16 and dtype.char not in "gG" else None
        if result is not None:
            return result
    return _fallback.call("ndarray.astype", np.ndarray.astype, (self, dtype), {"casting": casting})


def copy(self: ndarray, order: Any = "C") -> Any:
    if order == "F" or (order in ("K", "A") and self.ndim > 1):
        lies = list(range(self.ndim))[::-1] if order == "F" else self._order()
        if lies != sorted(lies):
            return copy(self._transposed(lies))._transposed(list(map(int, np.argsort(lies))))
    result = recorded.copy(self)
    return wrap_numpy(self._host().copy(), []) if result is None else result


def reshape(self: ndarray, *shape: Any, order: Any = "C", copy: bool | None = None) -> Any:
    sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
    return _shapes.reshape(self, sizes, order, copy=copy)


def transpose(self: ndarray, *axes: Any) -> Any:
    if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)):
        axes = axes[0]
    return _shapes.transpose(self, axes or None if axes is not None else None)


def flatten(self: ndarray, order: Any = "C") -> Any:
    return _shapes.ravel(self, order).copy()


def iterate(self: ndarray) -> Any:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    return (self[i] for i in range(self.shape[0]))


def conjugate(self: ndarray) -> Any:
    return _ufuncs.ufuncs["conjugate"](self) if self.dtype.kind == "c" else self


def _array_interface(self: ndarray) -> Any:
    """NumPy's, of the present values, which live as long as what is given out."""
    shown = self._snapshot().view()
    shown.flags.writeable = False
    return {**shown.__array_interface__, "data": shown}


def fill(self: ndarray, value: Any) -> None:
    self[...] = value


def divmod_(x: Any, y: Any) -> Any:
    if any(type(one) is ndarray and one._pending_or_large() for one in (x, y)):
        return x // y, x % y
    return _fallback.call("divmod", np.divmod, (x, y), {})


def resize(self: ndarray, *shape: Any, refcheck: bool = True) -> None:
    raise ValueError("cannot resize this array: it does not own its data")


def _on_host(name: str) -> Any:
    function = getattr(np.ndarray, name)

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return _fallback.call(f"ndarray.{name}", function, (self, *args), kwargs)

    method.__name__, method.__doc__ = name, function.__doc__
    return method


def _value(name: str) -> Any:
    """What asks for values, and is NumPy's on memory, without a word."""
    function = getattr(np.ndarray, name)
    return lambda self, *args, **kwargs: function(self._host(), *args, **kwargs)


def _from_function(function: Any) -> Any:
    return lambda self, *args, **kwargs: function(self, *args, **kwargs)


def _from_table(name: str) -> Any:
    """A method that is a function of _derived's."""

    on_host = _on_host(name)

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        from heddle.numpy._derived import TABLE

        if not self._pending_or_large():  # whose arguments may be others than the function's
            return on_host(self, *args, **kwargs)
        return TABLE[name](self, *args, **kwargs)

    method.__name__, method.__doc__ = name, getattr(np.ndarray, name).__doc__
    return method


def _real(self: ndarray) -> Any:
    if self.dtype.kind != "c":
        return self
    return self._part(True)


def _imag(self: ndarray) -> Any:
    if self.dtype.kind == "c":
        return self._part(False)
    import heddle.numpy

    zeros = heddle.numpy.zeros(self.shape, self.dtype)
    return zeros._read_only()


def _set_shape(self: ndarray, shape: Any) -> None:
    sizes = _shapes.fitting_sizes(self, shape)
    if not self._take_shape(sizes):
        raise AttributeError("Incompatible shape for in-place modification. Use `.reshape()` to make a copy "
                             "with the desired shape.")  # fmt: skip


def _matrix_transpose(self: ndarray) -> Any:
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return _shapes.swapaxes(self, -1, -2)


def _namespace(self: ndarray, api_version: str | None = None) -> Any:
    import heddle.numpy

    return heddle.numpy


def _dlpack(self: ndarray, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
            copy: bool | None = None) -> Any:  # fmt: skip
    if copy is False:  # both write to it from then on
        return _memory.shared(self).__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=False)
    return self._snapshot().copy().__dlpack__(
        stream=stream, max_version=max_version, dl_device=dl_device
    )


def _to_device(self: ndarray, device: str, /, *, stream: Any = None) -> Any:
    if device != "cpu":
        raise ValueError(f'Unsupported device for NumPy arrays: {device}. Only "cpu" is supported.')
    return self


def _restore(array: Any) -> Any:
    return adopt(array)


_METHODS: dict[str, Any] = {
    "__array__": _as_numpy,
    "__array_function__": _array_function,
    "__array_namespace__": _namespace,
    "__dlpack__": _dlpack,
    "__dlpack_device__": lambda self: (1, 0),
    "__reduce__": lambda self: (_restore, (self._snapshot().copy("A"),)),
    "__copy__": lambda self: copy(self, "K"),
    "__deepcopy__": lambda self, memo: copy(self, "K"),
    "__iter__": iterate,
    "__reversed__": lambda self: (self[i] for i in range(len(self) - 1, -1, -1)),
    "__contains__": lambda self, value: bool((self == value).any()),
    "__divmod__": divmod_,
    "__rdivmod__": lambda self, other: divmod_(other, self),
    "__bool__": _value("__bool__"),
    "__int__": _value("__int__"),
    "__float__": _value("__float__"),
    "__complex__": _value("__complex__"),
    "__index__": lambda self: operator.index(self._host()),
    "__format__": lambda self, spec: format(self._host()[()], spec),
    "__repr__": _value("__repr__"),
    "__str__": _value("__str__"),
    "item": _value("item"),
    "tolist": _value("tolist"),
    "tobytes": _value("tobytes"),
    "tofile": _value("tofile"),
    "dump": _value("dump"),
    "dumps": _value("dumps"),
    "astype": astype,
    "copy": copy,
    "reshape": reshape,
    "transpose": transpose,
    "flatten": flatten,
    "resize": resize,
    "ravel": _from_function(_shapes.ravel),
    "squeeze": _from_function(_shapes.squeeze),
    "swapaxes": _from_function(_shapes.swapaxes),
    "fill": fill,
    "dot": _from_function(_products.dot),
    "sum": _reductions.sums("sum"),
    "prod": _reductions.sums("prod"),
    "max": _reductions.extrema("max"),
    "min": _reductions.extrema("min"),
    "any": _reductions.extrema("any"),
    "all": _reductions.extrema("all"),
    "mean": _from_function(_reductions.mean),
    "var": _from_function(_reductions.var),
    "std": _from_function(_reductions.std),
    "argmax": lambda self, *a, **k: _reductions.arg_extremum("argmax", self, *a, **k),
    "argmin": lambda self, *a, **k: _reductions.arg_extremum("argmin", self, *a, **k),
    "cumsum": lambda self, *a, **k: _reductions.running("cumsum", self, *a, **k),
    "cumprod": lambda self, *a, **k: _reductions.running("cumprod", self, *a, **k),
    "conj": conjugate,
    "conjugate": conjugate,
    "sort": _sorting.sort_in_place,
    "argsort": _from_function(_sorting.argsort),
    "searchsorted": _from_function(_sorting.searchsorted),
    "clip": _from_table("clip"),
    "round": _from_table("round"),
    "repeat": _from_table("repeat"),
    "take": _from_table("take"),
    "to_device": _to_device,
}
_shape_of = ndarray.shape.fget
_PROPERTIES: dict[str, Any] = {
    "shape": _shape_of,
    "__array_interface__": _array_interface,
    "mT": _matrix_transpose,
    "real": _real,
    "imag": _imag,
    "itemsize": lambda self: self.dtype.itemsize,
    "nbytes": lambda self: self.size * self.dtype.itemsize,
    "base": lambda self: self._base(),
    "ctypes": lambda self: _memory.shared(self).ctypes,
    "device": lambda self: "cpu",
    "flags": _memory.Flags,
    "flat": lambda self: _Flat(self),
    "data": lambda self: self._snapshot().data,
}


class _Flat:
    """The elements in C order; what is written goes into the array as it is then."""

    def __init__(self, array: ndarray) -> None:
        self.base = array

    def __getitem__(self, at: Any) -> Any:
        return _fallback.raised(self.base._host().flat[_fallback.lowered(at, [])], [])

    def __setitem__(self, at: Any, value: Any) -> None:
        at, value = _fallback.lowered(at, []), _fallback.lowered(value, [])
        (self.base._host(True) if self.base._writable else self.base._host()).flat[at] = value

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Any:
        return iter(self.base._host().flat)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.base._host().flat, dtype=dtype)

    def copy(self) -> Any:
        return _shapes.ravel(self.base).copy()


def _set_imag(self: ndarray, value: Any) -> None:
    if self.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    self._part(False)[...] = value


def _set_real(self: ndarray, value: Any) -> None:
    _real(self)[...] = value


def _set_flat(self: ndarray, value: Any) -> None:
    self._host(True).flat = _fallback.lowered(value, [])


_SETTERS = {"shape": _set_shape, "real": _set_real, "imag": _set_imag, "flat": _set_flat}


# Whose results on small arrays are NumPy's own.
_QUICK = """astype copy reshape transpose flatten ravel squeeze swapaxes dot sum prod max min any all mean var std
argmax argmin argsort searchsorted cumsum cumprod conj conjugate clip round repeat take""".split()


def add_methods() -> None:
    """Gives ndarray its methods, and NumPy's where there are no others."""
    for name, method in _METHODS.items():
        if name in _QUICK:
            add_quick_method(ndarray, name, getattr(np.ndarray, name), method)
        else:
            setattr(ndarray, name, method)
    ndarray.view, ndarray.setflags = _memory.view, _memory.setflags
    for name, read in _PROPERTIES.items():
        setattr(ndarray, name, property(read, _SETTERS.get(name)))
    for name in dir(np.ndarray):
        if name.startswith("_") or name in ndarray.__dict__ or name in ("ctypes", "strides"):
            continue
        if callable(getattr(np.ndarray, name)):
            setattr(ndarray, name, _on_host(name))
    ndarray.__array_priority__ = 1000.0


add_methods()
