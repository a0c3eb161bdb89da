# mypy: ignore-errors
"""LinearOperator: SciPy's interface on recorded arrays. SciPy's own would read every operand."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np

import heddle.numpy as hnp
from heddle.sparse import _bridge


def _takes_out(function: Callable[..., Any] | None) -> bool:
    try:
        return function is not None and "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


class LinearOperator:
    """A matrix by what it does to vectors. Made of functions, or by a subclass with _matvec or _matmat."""

    ndim = 2
    __array_ufunc__ = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return super().__new__(_Custom if cls is LinearOperator else cls)

    def __init__(self, dtype: Any, shape: Any) -> None:
        shape = tuple(int(size) for size in shape)
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"invalid shape {shape!r} (must be 2-d)")
        self.dtype = None if dtype is None else np.dtype(dtype)
        self.shape = shape

    def _init_dtype(self) -> None:
        if self.dtype is None:
            self.dtype = hnp.asarray(self.matvec(hnp.zeros(self.shape[1]))).dtype

    # ---- for subclasses
    def _matvec(self, x: Any) -> Any:
        return self._matmat(x.reshape(-1, 1))

    def _matmat(self, x: Any) -> Any:
        if type(self)._matvec is LinearOperator._matvec:
            raise NotImplementedError("a LinearOperator needs _matvec or _matmat")
        return hnp.stack([self.matvec(x[:, i]) for i in range(x.shape[1])], axis=1)

    def _rmatvec(self, x: Any) -> Any:
        if type(self)._adjoint is LinearOperator._adjoint:
            raise NotImplementedError("rmatvec is not defined")
        return self.H.matvec(x)

    def _rmatmat(self, x: Any) -> Any:
        return hnp.stack([self.rmatvec(x[:, i]) for i in range(x.shape[1])], axis=1)

    def _adjoint(self) -> Any:
        return _Adjoint(self)

    # ---- for users
    def _vector(self, x: Any, size: int, product: Callable[[Any], Any], rows: int, out: Any) -> Any:
        x = x if hasattr(x, "shape") else hnp.asarray(x)
        if x.shape not in ((size,), (size, 1)):
            raise ValueError("dimension mismatch")
        y = hnp.asarray(product(x))
        if y.size != rows:
            raise ValueError("invalid shape returned by user-defined matvec()")
        y = y.reshape((rows,) if x.ndim == 1 else (rows, 1))
        if out is None or out is y:
            return y
        out[...] = y
        return out

    def matvec(self, x: Any, out: Any = None) -> Any:
        return self._vector(x, self.shape[1], self._matvec, self.shape[0], out)

    def rmatvec(self, x: Any, out: Any = None) -> Any:
        return self._vector(x, self.shape[0], self._rmatvec, self.shape[1], out)

    def matmat(self, x: Any) -> Any:
        return self._matrix(x, self.shape[1], self._matmat)

    def rmatmat(self, x: Any) -> Any:
        return self._matrix(x, self.shape[0], self._rmatmat)

    @staticmethod
    def _matrix(x: Any, size: int, product: Callable[[Any], Any]) -> Any:
        x = x if hasattr(x, "shape") else hnp.asarray(x)
        if x.ndim != 2:
            raise ValueError(f"expected 2-d ndarray or matrix, not {x.ndim}-d")
        if x.shape[0] != size:
            raise ValueError(f"dimension mismatch: {size}, {x.shape}")
        return product(x)

    def dot(self, x: Any) -> Any:
        if isinstance(x, LinearOperator):
            return _Product(self, x)
        if np.isscalar(x):
            return _Scaled(self, x)
        x = x if hasattr(x, "shape") else hnp.asarray(x)
        if x.ndim == 1 or (x.ndim == 2 and x.shape[1] == 1):
            return self.matvec(x)
        if x.ndim == 2:
            return self.matmat(x)
        raise ValueError(f"expected 1-d or 2-d array or matrix, got {x!r}")

    def __call__(self, x: Any) -> Any:
        return self.dot(x)

    def __mul__(self, x: Any) -> Any:
        return self.dot(x)

    def __matmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(x)

    def __rmul__(self, x: Any) -> Any:
        return _Scaled(self, x) if np.isscalar(x) else NotImplemented

    def __add__(self, other: Any) -> Any:
        return _Sum(self, other) if isinstance(other, LinearOperator) else NotImplemented

    def __neg__(self) -> Any:
        return _Scaled(self, -1)

    def __sub__(self, other: Any) -> Any:
        return self + (-other) if isinstance(other, LinearOperator) else NotImplemented

    def __truediv__(self, number: Any) -> Any:
        if not np.isscalar(number):
            raise ValueError("Can only divide a linear operator by a scalar.")
        return _Scaled(self, 1.0 / number)

    def __pow__(self, n: Any) -> Any:
        if not isinstance(n, int) or n < 0 or self.shape[0] != self.shape[1]:
            return NotImplemented
        power = IdentityOperator(self.shape, self.dtype)
        for _ in range(n):
            power = _Product(self, power)
        return power

    def adjoint(self) -> Any:
        return self._adjoint()

    H = property(adjoint)

    def transpose(self) -> Any:
        return _Transposed(self)

    T = property(transpose)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<{rows}x{columns} {type(self).__name__} with dtype={self.dtype}>"


class _Custom(LinearOperator):
    def __init__(self, shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None,
                 rmatmat: Any = None) -> None:  # fmt: skip
        super().__init__(dtype, shape)
        self._functions = matvec, rmatvec, matmat, rmatmat
        self._outs = _takes_out(matvec), _takes_out(rmatvec)
        self._init_dtype()

    def _matvec(self, x: Any) -> Any:
        return self._functions[0](x)

    def _rmatvec(self, x: Any) -> Any:
        if self._functions[1] is None:
            raise NotImplementedError("rmatvec is not defined")
        return self._functions[1](x)

    def _matmat(self, x: Any) -> Any:
        return super()._matmat(x) if self._functions[2] is None else self._functions[2](x)

    def _rmatmat(self, x: Any) -> Any:
        return super()._rmatmat(x) if self._functions[3] is None else self._functions[3](x)


class _Matrix(LinearOperator):
    """A matrix, sparse or dense."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix.dtype, matrix.shape)
        self.A = matrix
        self._turned: Any = None

    def _matvec(self, x: Any) -> Any:
        return self.A @ x

    _matmat = _matvec

    def _rmatvec(self, x: Any) -> Any:
        if self._turned is None:
            self._turned = self.A.T.conj()
        return self._turned @ x

    _rmatmat = _rmatvec


class IdentityOperator(LinearOperator):
    def __init__(self, shape: Any, dtype: Any = None) -> None:
        super().__init__(dtype, shape)

    def _matvec(self, x: Any) -> Any:
        return x

    _rmatvec = _matmat = _rmatmat = _matvec

    def _adjoint(self) -> Any:
        return self


class _Adjoint(LinearOperator):
    def __init__(self, of: LinearOperator) -> None:
        super().__init__(of.dtype, of.shape[::-1])
        self._of = of
        self._matvec, self._rmatvec = of._rmatvec, of._matvec
        self._matmat, self._rmatmat = of._rmatmat, of._matmat

    def _adjoint(self) -> Any:
        return self._of


class _Transposed(LinearOperator):
    def __init__(self, of: LinearOperator) -> None:
        super().__init__(of.dtype, of.shape[::-1])
        self._of = of

    def _matvec(self, x: Any) -> Any:
        return hnp.conj(self._of._rmatvec(hnp.conj(x)))

    def _rmatvec(self, x: Any) -> Any:
        return hnp.conj(self._of._matvec(hnp.conj(x)))


def _common(*parts: Any) -> Any:
    return np.result_type(*(one.dtype if hasattr(one, "dtype") else one for one in parts))


class _Scaled(LinearOperator):
    def __init__(self, of: LinearOperator, by: Any) -> None:
        super().__init__(_common(of, by), of.shape)
        self._of, self._by = of, by

    def _matvec(self, x: Any) -> Any:
        return self._by * self._of.matvec(x)

    def _rmatvec(self, x: Any) -> Any:
        return np.conj(self._by) * self._of.rmatvec(x)

    def _matmat(self, x: Any) -> Any:
        return self._by * self._of.matmat(x)


class _Sum(LinearOperator):
    def __init__(self, a: LinearOperator, b: LinearOperator) -> None:
        if a.shape != b.shape:
            raise ValueError(f"cannot add {a!r} and {b!r}: shape mismatch")
        super().__init__(_common(a, b), a.shape)
        self._both = a, b

    def _matvec(self, x: Any) -> Any:
        return self._both[0].matvec(x) + self._both[1].matvec(x)

    def _rmatvec(self, x: Any) -> Any:
        return self._both[0].rmatvec(x) + self._both[1].rmatvec(x)

    def _matmat(self, x: Any) -> Any:
        return self._both[0].matmat(x) + self._both[1].matmat(x)


class _Product(LinearOperator):
    def __init__(self, a: LinearOperator, b: LinearOperator) -> None:
        if a.shape[1] != b.shape[0]:
            raise ValueError(f"cannot multiply {a!r} and {b!r}: shape mismatch")
        super().__init__(_common(a, b), (a.shape[0], b.shape[1]))
        self._both = a, b

    def _matvec(self, x: Any) -> Any:
        return self._both[0].matvec(self._both[1].matvec(x))

    def _rmatvec(self, x: Any) -> Any:
        return self._both[1].rmatvec(self._both[0].rmatvec(x))

    def _matmat(self, x: Any) -> Any:
        return self._both[0].matmat(self._both[1].matmat(x))


def aslinearoperator(A: Any) -> LinearOperator:
    """A matrix, or what behaves as SciPy's operators do, as an operator of ours."""
    if isinstance(A, LinearOperator):
        return A
    if hasattr(A, "_as_scipy"):
        return _Matrix(A)
    if _bridge.scipy_sparse.issparse(A):
        return _Matrix(_bridge.raised(A.tocsr(), [], _bridge.arrays_in(A)))
    if hasattr(A, "shape") and hasattr(A, "matvec"):
        return LinearOperator(A.shape, A.matvec, rmatvec=getattr(A, "rmatvec", None),
                              matmat=getattr(A, "matmat", None), dtype=getattr(A, "dtype", None))  # fmt: skip
    matrix = hnp.asarray(A)
    if matrix.ndim > 2:
        raise ValueError("array must have ndim <= 2")
    return _Matrix(matrix if matrix.ndim == 2 else matrix.reshape(1, -1))
