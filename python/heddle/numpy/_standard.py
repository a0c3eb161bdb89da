# mypy: ignore-errors
"""Where the array API standard asks for more than NumPy has: arguments that NumPy lacks, and results where
NumPy's are NaN for want of a rule."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from heddle.numpy._core import adopt
from heddle.numpy import _creation, _shapes


def floor_divide(x: Any, y: Any) -> Any:
    """NumPy's on NumPy's arrays, but that infinity divided by a number is infinite."""
    result = np.floor_divide(x, y)
    if result.dtype.kind != "f":
        return result
    lost = np.isnan(result) & np.isinf(x) & np.isfinite(y)
    if not lost.any():
        return result
    with np.errstate(all="ignore"):
        return np.where(lost, np.divide(x, y), result)[()].astype(result.dtype)


def floor_divide_into(x: Any, y: Any) -> None:
    before = x.copy() if x.dtype.kind == "f" else None
    np.floor_divide(x, y, x)
    if before is not None and np.isnan(x).any():
        np.copyto(x, floor_divide(before, y), "same_kind")


def expm1_complex(z: Any) -> Any:
    """The same of exp(z) - 1, where z is not finite: NumPy takes it apart into parts that are NaN."""
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(z), np.expm1(z), _less_one(np.exp(z)))[()].astype(np.asarray(z).dtype)


def _less_one(z: Any) -> Any:
    result = np.array(z)
    result.real -= 1  # beside a NaN, too
    return result


class Information:
    """What the standard asks a module for: NumPy's answers, but that devices are a tuple since 2025.12."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def devices(self) -> tuple[Any, ...]:
        return tuple(self._theirs.devices())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)


def _frequencies(name: str) -> Any:
    function = getattr(np.fft, name)

    def frequencies(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
        _creation._on_cpu(device)
        result = adopt(function(n, d))
        return result if dtype is None else result.astype(dtype)

    frequencies.__name__ = frequencies.__qualname__ = name
    frequencies.__doc__, frequencies._function = function.__doc__, function
    return frequencies


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")


def _signature(*names: str, **named: Any) -> inspect.Signature:
    kinds = inspect.Parameter
    parts = [kinds(names[0], kinds.POSITIONAL_ONLY)]
    parts += [kinds(one, kinds.POSITIONAL_OR_KEYWORD, default=named.pop(one)) for one in names[1:]]
    parts += [kinds(one, kinds.KEYWORD_ONLY, default=value) for one, value in named.items()]
    return inspect.Signature(parts)


# What they take by name or place in the standard; NumPy's own ways are taken too.
_creation.arange.__signature__ = _signature("start", "stop", "step", stop=None, step=1, dtype=None, device=None)


_shapes.where.__signature__ = inspect.Signature(
    [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("condition", "x1", "x2")]
)


def sign(clip: Any) -> None:
    clip.__signature__ = _signature("a", "min", "max", min=None, max=None, out=None)
