# mypy: ignore-errors
"""scipy.sparse.linalg on recorded arrays.

A turn of cg, cgs, bicg, bicgstab, and gmres is recorded, products included, and ends where its residual is
read. Everything that is not here is SciPy's, at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import heddle.numpy as hnp
from heddle.numpy._core import ndarray
from heddle.sparse import _bridge
from heddle.sparse._least_squares import lsqr as lsqr
from heddle.sparse._operator import (
    LinearOperator as LinearOperator,
    aslinearoperator as aslinearoperator,
)
from heddle.sparse._solvers import (
    bicg as bicg, bicgstab as bicgstab, cg as cg, cgs as cgs, gmres as gmres,
)  # fmt: skip

_scipy = _bridge.scipy_linalg


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """The norm of a sparse matrix; Frobenius' over all of it is recorded."""
    plain = axis is None and ord in (None, "fro", "f")
    if plain and hasattr(x, "_as_scipy") and x.format != "dia" and x.data.size > 0:
        data = x.data
        if data.dtype.kind == "c":
            data = abs(data)
        return hnp.sqrt((data * data).sum())
    return _bridge.call(_scipy.norm, x, ord, axis)


def _for_scipy(value: Any) -> Any:
    """Operators of ours as SciPy's: their arrays go there and back."""
    if not isinstance(value, LinearOperator):
        return value

    def through(method: Any) -> Any:
        return lambda x: np.asarray(method(hnp.asarray(x)))

    return _scipy.LinearOperator(
        value.shape, through(value.matvec), rmatvec=through(value.rmatvec),
        matmat=through(value.matmat), rmatmat=through(value.rmatmat), dtype=value.dtype,
    )  # fmt: skip


def _wrapped(function: Any) -> Any:
    def ours(*args: Any, **kwargs: Any) -> Any:
        result = _bridge.call(
            function, *map(_for_scipy, args), **{key: _for_scipy(one) for key, one in kwargs.items()}
        )
        if callable(result) and not isinstance(result, (ndarray, type)):  # as factorized gives
            return _wrapped(result)
        return result

    ours.__name__ = getattr(function, "__name__", "function")
    ours.__doc__ = function.__doc__
    return ours


# All the rest of scipy.sparse.linalg, as it is asked for.
def __getattr__(name: str) -> Any:
    value = getattr(_scipy, name)
    if name.startswith("_"):
        return value
    if callable(value) and not isinstance(value, type):
        value = _wrapped(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_scipy)})
