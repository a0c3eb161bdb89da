# mypy: ignore-errors
"""Memory that NumPy and others share with an array: views in other types, iterators that write, flags."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy import _fallback
from heddle.numpy._core import ndarray, wrap_numpy, wrap_shared


class Flags:
    """NumPy's flags of an array, of which only WRITEABLE can be set."""

    def __init__(self, array: ndarray) -> None:
        object.__setattr__(self, "_array", array)

    def _now(self) -> Any:
        shown = self._array._host().view()
        shown.flags.writeable = self._array._writable
        return shown.flags

    def __getattr__(self, name: str) -> Any:
        if name == "owndata":
            return self._array.base is None
        return self._array._writable if name == "writeable" else getattr(self._now(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "writeable":
            return setflags(self._array, write=value)
        return setattr(self._now(), name, value)

    def __getitem__(self, name: str) -> Any:
        return self.writeable if name in ("W", "WRITEABLE") else self._now()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name in ("W", "WRITEABLE"):
            self.writeable = value
        else:
            self._now()[name] = value

    def __eq__(self, other: Any) -> bool:
        return self._now() == (other._now() if isinstance(other, Flags) else other)

    def __repr__(self) -> str:
        return repr(self._now())


def setflags(self: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """As NumPy's: what is written to an array that is not to be written to raises ValueError."""
    if align is not None or uic is not None:
        self._host().view().setflags(align=align, uic=uic)
    if write is None:
        return
    if write and not self._writable and self.base is not None and not self._locked:
        raise ValueError("cannot set WRITEABLE flag to True of this array")
    self._locked = self._writable and not write
    self._writable = bool(write)


def view(self: ndarray, *args: Any, **kwargs: Any) -> Any:
    """The same memory, in another type too; that makes it memory that NumPy shares."""
    if not args and not kwargs:
        return self[...]
    if len(args) + len(kwargs) == 1:
        wanted = args[0] if args else kwargs.get("dtype", kwargs.get("type"))
        if wanted is ndarray or (not isinstance(wanted, type) and wanted == self.dtype):
            return self[...]
    shown = shared(self).view(*args, **kwargs)
    return wrap_shared(shown) if type(shown) is np.ndarray else shown


def shared(array: ndarray) -> Any:
    """NumPy's array over its memory, which both write to from then on."""
    shown = array._shared_host()
    if not array._writable:
        shown = shown.view()
        shown.flags.writeable = False
    return shown


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """A copy, but for copy=False: then both write to the same memory."""
    if device not in (None, "cpu"):
        raise ValueError(f'Unsupported device for NumPy arrays: {device}. Only "cpu" is supported.')
    theirs = shared(x) if type(x) is ndarray and copy is False else _fallback.lowered(x, [])
    made = np.from_dlpack(theirs)
    return wrap_shared(made) if copy is False else wrap_numpy(made.copy(), [])


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    """As NumPy's: the elements of an array's memory in any shape and with any steps; it writes into that array."""
    theirs = np.lib.stride_tricks.as_strided
    if type(x) is not ndarray:
        return theirs(x, shape, strides, subok, writeable)
    shown = theirs(x._host(True) if x._writable else x._host(), shape, strides, subok, writeable and x._writable)
    made = wrap_numpy(shown, [x])
    made._writable = bool(writeable and x._writable)
    return made


def nditer(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
    """NumPy's iterator. What it writes to is memory that is shared with it from then on."""
    given = list(op) if isinstance(op, (list, tuple)) else [op]
    per_operand = op_flags if op_flags and not isinstance(op_flags[0], str) else [op_flags or ()] * len(given)
    lowered = []
    for one, its in zip(given, per_operand):
        writes = "readwrite" in its or "writeonly" in its
        lowered.append(shared(one) if type(one) is ndarray and writes else _fallback.lowered(one, []))
    op = lowered if isinstance(op, (list, tuple)) else lowered[0]
    return np.nditer(op, flags or [], *([op_flags] if op_flags is not None else []), *args, **kwargs)
