# mypy: ignore-errors
"""Fourier transforms: NumPy's, on memory; recorded where an array lies on a GPU, or is dealt out over several devices,
so that each of them transforms its own lines."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np

from heddle.library import operation
from heddle.numpy import _fallback, _standard
from heddle.numpy._core import ndarray, recorded


@operation("fft.lines")
def _lines(b: Any, x: Any, *, kind: str) -> Any:
    return b.op("fft", [x], {"fft_type": kind, "fft_length": [x.shape[-1]]})


def _is_recorded(elements: int) -> bool:
    return recorded.devices_for(elements) > 1 or recorded.runs_there(elements)


def _transformed(kind: str, a: Any, n: Any, axis: Any, norm: Any, out: Any) -> Any:
    """None where NumPy has to do it."""
    if type(a) is not ndarray or a.dtype.char not in "fdFD" or norm not in (None, "backward") or out is not None:
        return None
    try:
        axis = operator.index(axis)
    except TypeError:
        return None
    if not _is_recorded(a.size) or not -a.ndim <= axis < a.ndim:
        return None
    size = a.shape[axis]
    if n not in (None, size) or a.size == 0:
        return None
    order = [d for d in range(a.ndim) if d != axis % a.ndim] + [axis % a.ndim]
    values = a.astype(np.result_type(a.dtype, np.complex64), copy=False)._transposed(order)
    result = _lines(values if values._can_show() else values.copy(), kind=kind)
    return result._transposed([int(d) for d in np.argsort(order)])


def _along_one(name: str, kind: str) -> Any:
    theirs = getattr(np.fft, name)

    def function(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        result = _transformed(kind, a, n, axis, norm, out)
        if result is not None:
            return result
        more = {} if out is None else {"out": out}
        return _fallback.call(f"fft.{name}", theirs, (a, n, axis, norm), more)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function._function = theirs.__doc__, theirs
    return function


fft, ifft = _along_one("fft", "FFT"), _along_one("ifft", "IFFT")
fftfreq, rfftfreq = _standard.fftfreq, _standard.rfftfreq
_rest = _fallback.Module(__name__, np.fft)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_rest, name)


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules[__name__]), *dir(np.fft)})
