# mypy: ignore-errors
"""heddle.numpy.linalg with what cuPyNumeric has beside NumPy's names."""

import heddle.numpy as _arrays
import numpy as _np
from heddle.numpy import _fallback, linalg as _linalg


def solve(a, b, out=None):
    solved = _linalg.solve(a, b)
    if out is None:
        return solved
    if out.shape != solved.shape:
        raise ValueError(f"Output shape mismatch: expected {solved.shape}, but found {out.shape}")
    if out.dtype != solved.dtype:
        raise TypeError(f"Output type mismatch: expected {solved.dtype}, but found {out.dtype}")
    out[...] = solved
    return out


def tssvd(a):
    """The singular values of a tall matrix, with as many vectors."""
    return _linalg.svd(a, full_matrices=False)


def expm(a, method="pade"):
    """e to the power of square matrices, which SciPy finds out, whatever the method."""
    if method not in ("pade", "taylor"):
        raise ValueError(f"Method {method} not supported")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.size <= 1:
        raise ValueError("Invalid input shape for expm")
    from scipy import linalg

    return _fallback.call("linalg.expm", linalg.expm, (a,), {})


def _finite(*arrays):
    if not all(bool(_arrays.isfinite(one).all()) for one in arrays):
        raise ValueError("Input contains non-finite values")


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """A triangle whose product with its conjugate transpose is the matrix, and which one it is."""
    a = _arrays.asarray(a)
    if check_finite:
        _finite(a)
    factor = _linalg.cholesky(a)
    return (factor if lower else _arrays.conj(_arrays.swapaxes(factor, -1, -2))), bool(lower)


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution for the matrix that cho_factor took."""
    (factor, lower), b = c_and_lower, _arrays.asarray(b)
    factor = _arrays.asarray(factor)
    if check_finite:
        _finite(factor, b)
    if b.ndim < 1:
        raise LinAlgError(f"{b.ndim}-dimensional array given. Array must be at least one-dimensional")
    if factor.ndim > 2 and b.ndim != factor.ndim:
        raise ValueError("Batched matrices require signature (...,m,m),(...,m,n)->(...,m,n)")
    if factor.ndim < 2:
        _linalg.cholesky(factor)  # in NumPy's words
    other = _arrays.conj(_arrays.swapaxes(factor, -1, -2))
    first, second = (factor, other) if lower else (other, factor)
    return _linalg.solve(second, _linalg.solve(first, b))


LinAlgError = _np.linalg.LinAlgError


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_linalg, name)


def __dir__():
    return sorted({*globals(), *dir(_linalg)})
