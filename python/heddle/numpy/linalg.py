# mypy: ignore-errors
"""Linear algebra: norms and products are recorded; factorisations and solvers are NumPy's, on memory: they look at
values to raise LinAlgError."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from heddle.numpy import _derived, _fallback, _products

norm = _derived.norm
matmul, tensordot, outer = _products.matmul, _products.tensordot, _products.outer
_rest = _fallback.Module(__name__, np.linalg)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_rest, name)


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules[__name__]), *dir(np.linalg)})
