# mypy: ignore-errors
"""Linear algebra: norms and products are recorded; factorisations and solvers are NumPy's, on memory: they look at
values to raise LinAlgError."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from heddle.numpy import _derived, _fallback, _products
from heddle.numpy._core import ndarray

norm = _derived.norm
matmul, tensordot = _products.matmul, _products.tensordot
_rest = _fallback.Module(__name__, np.linalg)


def outer(x1: Any, x2: Any, /) -> Any:
    """Of vectors only."""
    if type(x1) is ndarray and type(x2) is ndarray and x1.ndim == x2.ndim == 1:
        return _products.outer(x1, x2)
    return _rest.outer(x1, x2)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_rest, name)


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules[__name__]), *dir(np.linalg)})
