# mypy: ignore-errors
"""NumPy's interface on recorded arrays: ``import heddle.numpy as np``.

Calls on arrays are recorded; when values are read, all that was recorded becomes one program, which
is compiled once and found again in the next turn of a loop. Small arrays, and whatever has no
recorded form, are NumPy's own, on the same memory.

>>> import heddle.numpy as np
>>> x = np.arange(6.0).reshape(2, 3)
>>> x[:, 1:] += 10
>>> x.sum(axis=0)
array([ 3., 25., 27.])
"""

from __future__ import annotations

import atexit as _atexit
import functools as _functools
import importlib as _importlib
import types as _types
from typing import Any

import numpy as _np

if _np.lib.NumpyVersion(_np.__version__) < "2.0.0":
    raise ImportError(f"heddle.numpy needs NumPy 2, whose rules for types it follows: this is NumPy {_np.__version__}")

from heddle.numpy._core import QuickFunction as _QuickFunction, QuickMaker as _QuickMaker
from heddle.numpy._core import adopt as _adopt, ndarray, recorded as _recorded
from heddle.numpy import _array as _array
from heddle.numpy import _creation, _derived, _fallback, _index as _index, _makers, _memory, _modules, _products
from heddle.numpy import _reductions, _shapes, _sorting, _standard, _ufuncs
from heddle.numpy._error_state import errstate, seterr
from heddle.numpy._fallback import FallbackWarning, fallbacks

# Code that is being made ends with the process; the extension module waits for it.
_atexit.register(_recorded.stop_compiling)
_modules.add_finder()

#: What there is beside NumPy's own names.
__array_api_version__ = _np.__array_api_version__


def flush() -> None:
    """Runs what is recorded; nothing waits afterwards."""
    _recorded.flush()


def devices(count: int | None = None) -> int:
    """How many devices windows run on; with a number, so many threads of this process from then on."""
    if count is not None:
        if not isinstance(count, (int, _np.integer)) or isinstance(count, bool):
            raise TypeError(f"a number of devices is a whole number, not {count!r}")
        _recorded.set_devices(int(count))
    return _recorded.devices()


def device(name: str | None = None) -> str:
    """Where windows of large arrays run, as "cuda:0"; with a name, there from then on. "cpu" is the host."""
    if name is not None:
        if not isinstance(name, str):
            raise TypeError(f'a device is a text, as "cpu", "cuda" or "cuda:1", not {name!r}')
        _recorded.set_device(name)
    return _recorded.device()


def explain() -> str:
    """The last windows: their groups, bytes, and what ended them."""
    return _recorded.explain()


class profile:
    """What windows take while it is open: ``with np.profile() as times: ...``, then ``print(times)``."""

    def __enter__(self) -> profile:
        flush()
        _recorded.set_profiling(True)
        self._text = ""
        return self

    def __exit__(self, *error: Any) -> None:
        flush()
        self._text = _recorded.profile()
        _recorded.set_profiling(False)

    def __str__(self) -> str:
        return self._text or _recorded.profile()


def counts() -> dict[str, int]:
    """How many windows, calls, ops and launches there were, compiled and found again."""
    return _recorded.counts()


def _recorded_functions() -> dict[str, Any]:
    table: dict[str, Any] = dict(_ufuncs.ufuncs)
    aliases = {"true_divide": "divide", "abs": "absolute", "mod": "remainder", "conj": "conjugate",
               "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2",
               "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "pow": "power",
               "bitwise_not": "invert", "bitwise_invert": "invert",
               "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"}  # fmt: skip
    table |= {name: table[of] for name, of in aliases.items()}
    for module, names in (
        (_creation, "array asarray ascontiguousarray full zeros ones empty zeros_like ones_like empty_like full_like arange linspace "
                    "eye identity tri"),
        (_shapes, "reshape transpose swapaxes moveaxis squeeze expand_dims broadcast_to broadcast_arrays "
                  "flip ravel concatenate stack vstack hstack roll where"),
        (_products, "matmul dot tensordot inner vdot outer einsum"),
        (_reductions, "mean var std"),
        (_sorting, "sort argsort searchsorted"),
    ):  # fmt: skip
        table |= {name: getattr(module, name) for name in names.split()}
    table |= _derived.TABLE
    _standard.sign(table["clip"])
    table["asanyarray"] = table["asarray"]
    table["concat"] = table["concatenate"]
    table["permute_dims"] = table["transpose"]
    return table


def _quick(name: str, function: Any) -> Any:
    """The same, but that NumPy does what is small, without a look at it in Python."""
    theirs = getattr(_np, name, None)
    if not isinstance(function, _types.FunctionType) or theirs is None:
        return function
    made = (_QuickMaker if name in ("zeros", "ones", "empty", "full") else _QuickFunction)(theirs, function)
    _functools.update_wrapper(made, function)
    made._function = theirs
    if isinstance(theirs, _np.ufunc):  # matmul: its methods have NumPy's answers
        for part in ("nin", "nout", "signature", "types", "reduce", "accumulate", "reduceat", "outer", "at"):
            setattr(made, part, getattr(theirs, part))
    return made


globals().update({name: _quick(name, function) for name, function in _recorded_functions().items()})


def _reduction(name: str) -> Any:
    make = _reductions.sums if name in ("sum", "prod") else _reductions.extrema
    function = make(name)
    function.__name__ = function.__qualname__ = name
    return _quick(name, function)


sum, prod, max, min, any, all = map(_reduction, ("sum", "prod", "max", "min", "any", "all"))
amax, amin = max, min


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _reductions.arg_extremum("argmax", a, axis, out, keepdims)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _reductions.arg_extremum("argmin", a, axis, out, keepdims)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _reductions.running("cumsum", a, axis, dtype, out)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _reductions.running("cumprod", a, axis, dtype, out)


def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    return _creation.array(a, copy=True, order=order)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return _creation.array(x, copy=False).astype(dtype, copy=copy)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if type(dst) is ndarray and type(src) is ndarray and _np.can_cast(src.dtype, dst.dtype, casting):
        if where is True:
            dst[...] = src
            return
        if _index.put_chosen(dst, where, src):
            return
    _fallback.call("copyto", _np.copyto, (dst, src), {"casting": casting, "where": where})


def putmask(a: Any, /, mask: Any, values: Any) -> None:
    chosen = _adopt(mask)
    if type(a) is ndarray and type(chosen) is ndarray and chosen.shape == a.shape:
        put = _adopt(values)
        # What is as long as neither one nor all is repeated from the front.
        as_it_is = type(put) is ndarray and (put.ndim == 0 or put.shape == a.shape)
        loses = as_it_is and put.dtype.kind == "c" and a.dtype.kind != "c"  # of which NumPy warns
        if as_it_is and not loses and _index.put_chosen(a, chosen, put):
            return
    _fallback.call("putmask", _np.putmask, (a, mask, values), {})


def shape(a: Any) -> tuple[int, ...]:
    return a.shape if type(a) is ndarray else _np.shape(a)


def ndim(a: Any) -> int:
    return a.ndim if type(a) is ndarray else _np.ndim(a)


def size(a: Any, axis: Any = None) -> int:
    if type(a) is not ndarray:
        return _np.size(a, axis)
    return a.size if axis is None else a.shape[axis]


def result_type(*args: Any) -> Any:
    return _np.result_type(*(one.dtype if type(one) is ndarray else one for one in args))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return _np.can_cast(from_.dtype if type(from_) is ndarray else from_, to, casting)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return _np.shares_memory(_fallback.lowered(a, []), _fallback.lowered(b, []), max_work)


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return _np.may_share_memory(_fallback.lowered(a, []), _fallback.lowered(b, []), max_work)


for _name in ("argmax", "argmin", "cumsum", "cumprod", "copy"):
    globals()[_name] = _quick(_name, globals()[_name])


# All the rest of NumPy, as it is asked for.
def __getattr__(name: str) -> Any:
    theirs = getattr(_np, name)
    if isinstance(theirs, _types.ModuleType):
        value = _modules.ours_of(theirs)
    elif name in ("nditer", "from_dlpack"):
        value = getattr(_memory, name)
    elif name in _makers.NAMES:
        value = _makers.answer_for(name, theirs)
    else:
        value = _fallback.wrapped(name, theirs)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_np)})
