# mypy: ignore-errors
"""heddle.sparse by Legate Sparse's rules: see _arrays.py for where they are other ones than SciPy's."""

import numpy as _np

import heddle.sparse as _sparse
from legate_sparse import _arrays
from legate_sparse import linalg as linalg
from legate_sparse._arrays import block_array as block_array, csr_array, csr_matrix, dia_array, dia_matrix

__version__ = "26.06.00"
coord_ty = _np.dtype(_np.int64)
nnz_ty = _np.dtype(_np.uint64)


def issparse(obj):
    return isinstance(obj, (csr_array, dia_array))


isspmatrix = is_sparse_matrix = issparse


def isspmatrix_csr(obj):
    return isinstance(obj, csr_array)


def isspmatrix_dia(obj):
    return isinstance(obj, dia_array)


def mmread(source):
    """A file of the Matrix Market, as csr."""
    import scipy.io

    return csr_array(_sparse._bridge.scipy_sparse.csr_array(scipy.io.mmread(source)))


def __getattr__(name):
    value = getattr(_sparse, name)
    if callable(value) and not isinstance(value, type):
        value = _arrays.of_family(value)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_sparse)})
