# mypy: ignore-errors
"""csr and dia of Legate Sparse, on heddle.sparse. What differs from SciPy:

- products are there for float32, float64, complex64 and complex128 only;
- a transpose of csr is csr, and csr is the only format to convert csr to;
- comparisons are with a number, and writes where such a comparison holds look at stored elements only;
- a number other than 0 is not added to a matrix;
- arrays and matrices are one class.
"""

import functools

import numpy as np

import heddle.numpy as hnp
from heddle.sparse import _arrays, _bridge
from heddle.sparse._bridge import scipy_sparse

SUPPORTED_DATATYPES = tuple(map(np.dtype, ("f4", "f8", "c8", "c16")))
#: Classes by SciPy's.
FAMILY = {}


def _check_type(*operands):
    for one in operands:
        if getattr(one, "dtype", None) is not None and np.dtype(one.dtype) not in SUPPORTED_DATATYPES:
            raise NotImplementedError(
                f"Only the following datatypes are currently supported: {SUPPORTED_DATATYPES}."
            )


class _Family:
    _family = FAMILY

    def _times(self, other):
        _check_type(self, other)
        return super()._times(other)

    def __rmatmul__(self, other):
        _check_type(self, other)
        return super().__rmatmul__(other)

    def __mul__(self, other):
        return self._scaled(other) if _arrays._is_number(other) else self._times(other)


class csr_array(_Family, _arrays.csr_array):
    def transpose(self, axes=None, copy=False):
        if axes is not None:
            raise AssertionError("axes parameter should be None")
        return csr_array(super().transpose().tocsr())

    T = property(transpose)

    def asformat(self, format, copy=False):
        if format not in (None, "csr"):
            raise NotImplementedError("Only CSR format is supported right now")
        return self.copy() if copy else self

    def tocsr(self, copy=False):
        return self.copy() if copy else self

    vals = property(lambda self: self.data)

    def get_data(self):
        return self.data

    def get_indices(self):
        return self.indices

    def get_indptr(self):
        return self.indptr

    def _added(self, name, other):
        if _arrays._is_number(other) and other != 0:
            raise NotImplementedError("adding a number other than 0 to a sparse matrix would fill it")
        return getattr(super(), name)(other)

    def _compared(self, name, other):
        if isinstance(other, str) or not _arrays._is_number(other):
            raise AssertionError(f"a sparse matrix is compared with a number, not with {type(other).__name__}")
        made = self._as_scipy()
        chosen = getattr(np, name)(made.data, np.asarray(other))
        rows = np.repeat(np.arange(self.shape[0]), np.diff(made.indptr))[chosen]
        return csr_array((np.ones(len(rows), bool), (rows, made.indices[chosen])), shape=self.shape)

    def __setitem__(self, key, value):
        if not isinstance(key, csr_array):
            raise NotImplementedError("setting item is only supported for bool csr matrices")
        if key.shape != self.shape or key.dtype != bool:
            raise AssertionError("a mask is of truth values, and of the same shape")
        made = self._as_scipy()
        rows = np.repeat(np.arange(self.shape[0]), np.diff(made.indptr))
        chosen = np.asarray(key._as_scipy()[rows, made.indices]).reshape(-1).astype(bool)
        data = made.data.copy()
        data[chosen] = value
        self.data = hnp.asarray(data)


for _name in ("__add__", "__radd__", "__sub__", "__rsub__"):
    setattr(csr_array, _name, functools.partialmethod(csr_array._added, _name))
for _operator, _name in (("gt", "greater"), ("lt", "less"), ("ge", "greater_equal"),
                         ("le", "less_equal"), ("eq", "equal"), ("ne", "not_equal")):  # fmt: skip
    setattr(csr_array, f"__{_operator}__",
            functools.partialmethod(csr_array._compared, _name))  # fmt: skip
csr_array.__hash__ = None


class dia_array(_Family, _arrays.dia_array):
    pass


csr_matrix, dia_matrix = csr_array, dia_array
FAMILY.update({
    **_bridge.ours,
    scipy_sparse.csr_array: csr_array, scipy_sparse.csr_matrix: csr_array,
    scipy_sparse.dia_array: dia_array, scipy_sparse.dia_matrix: dia_array,
})  # fmt: skip


def _kin(value):
    """A matrix of heddle.sparse as one of this family."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_kin, value))
    if isinstance(value, _arrays._Sparse) and not isinstance(value, _Family):
        made = FAMILY[value._scipy_class]
        return made(value) if issubclass(made, _Family) else value
    return value


def of_family(function):
    """A function of heddle.sparse whose matrices are of this family."""

    @functools.wraps(function)
    def ours(*args, **kwargs):
        return _kin(function(*args, **kwargs))

    return ours


def spmv(A, x, y):
    """y becomes A @ x."""
    A.dot(x, out=y)


def _is_csr(one):
    return isinstance(one, csr_array)


def geam(A, B, alpha=1.0, beta=1.0, C=None):
    """alpha A + beta B; in the places of C where one is given, which has to have all of theirs."""
    if not (_is_csr(A) and _is_csr(B)):
        raise TypeError(f"geam takes two csr_arrays, not {type(A).__name__} and {type(B).__name__}")
    total = A * alpha + B * beta
    if C is None:
        return total
    made, kept = C._as_scipy(), total._as_scipy()
    rows = np.repeat(np.arange(C.shape[0]), np.diff(made.indptr))
    C.data = hnp.asarray(np.asarray(kept[rows, made.indices]).reshape(-1).astype(C.dtype))
    return C


def block_array(blocks, format="csr", dtype=None):
    """One matrix of csr matrices, None standing for zeros."""
    if len(blocks) == 0 or any(len(row) == 0 for row in blocks):
        raise ValueError("blocks cannot be empty")
    if format not in (None, "csr"):
        raise ValueError(f"csr is the only format of a block array, not {format!r}")
    for one in (one for row in blocks for one in row):
        if one is not None and not _is_csr(one):
            raise TypeError(f"blocks are None or of csr_array, not of {type(one).__name__}")
    for row in blocks:
        if len({one.shape[0] for one in row if one is not None}) > 1:
            raise ValueError("blocks beside each other have different numbers of rows")
    made = scipy_sparse.block_array([[None if one is None else one._as_scipy() for one in row] for row in blocks],
                                    format="csr", dtype=dtype)  # fmt: skip
    return csr_array(made)
