# mypy: ignore-errors
"""SciPy's sparse matrices on recorded arrays: ``import heddle.sparse as sparse``.

Products with dense arrays and whatever keeps the places of elements are recorded, and fuse with calls of
``heddle.numpy``. All other functions are SciPy's, at once.

>>> import heddle.numpy as np
>>> import heddle.sparse as sparse
>>> a = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(4, 4), format="csr")
>>> a @ np.ones(4)
array([1., 0., 0., 1.])
"""

from __future__ import annotations

import importlib as _importlib
from typing import Any

from heddle.sparse import _bridge, linalg as linalg
from heddle.sparse._arrays import (
    bsr_array, bsr_matrix, coo_array, coo_matrix, csc_array, csc_matrix, csr_array, csr_matrix,
    dia_array, dia_matrix, sparray, spmatrix, _Sparse,
)  # fmt: skip

_scipy = _bridge.scipy_sparse


def issparse(x: Any) -> bool:
    """Whether it is a sparse matrix, of ours or of SciPy's."""
    return isinstance(x, _Sparse) or _scipy.issparse(x)


def isspmatrix(x: Any) -> bool:
    return isinstance(x, spmatrix) or _scipy.isspmatrix(x)


def _is_matrix_in(format: str) -> Any:
    def check(x: Any) -> bool:
        return isinstance(x, spmatrix) and x.format == format

    check.__name__ = f"isspmatrix_{format}"
    return check


isspmatrix_csr, isspmatrix_csc, isspmatrix_coo, isspmatrix_bsr, isspmatrix_dia = map(
    _is_matrix_in, ("csr", "csc", "coo", "bsr", "dia")
)


# All the rest of scipy.sparse, as it is asked for.
def __getattr__(name: str) -> Any:
    if name == "csgraph":
        return _importlib.import_module(f"{__name__}.{name}")
    value = getattr(_scipy, name)
    if name.startswith("_"):
        return value
    if isinstance(value, type) and issubclass(value, (_scipy.sparray, _scipy.spmatrix)):
        value = _bridge.class_for_ours(value)
    elif callable(value) and not isinstance(value, type):
        value = _bridge.wrapped(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_scipy)})
