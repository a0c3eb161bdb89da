# mypy: ignore-errors
"""Legate Sparse's solvers: its arguments, a test of convergence every 25 turns, the number of turns as a result."""

import numpy as _np

import heddle.numpy as _hnp
import heddle.sparse.linalg as _linalg
from heddle.sparse._operator import IdentityOperator as IdentityOperator
from heddle.sparse._solvers import _dot, _norm
from heddle.sparse.linalg import LinearOperator as LinearOperator


def make_linear_operator(A):
    return _linalg.aslinearoperator(A)


def cg_axpby(y, x, a, b, isalpha=True, negate=False):
    """y += (a/b) x, or y = x + (a/b) y; a/b with its sign turned where `negate` says so."""
    factor = a / b
    factor = -factor if negate else factor
    y[...] = y + factor * x if isalpha else x + factor * y
    return y


def _bound(b, tol, atol, rtol):
    rtol = float(rtol if tol is None else tol)
    return max(rtol if atol is None else float(atol), rtol * _norm(b))


def _checked(A, b):
    assert len(b.shape) == 1 or (len(b.shape) == 2 and b.shape[1] == 1)
    assert len(A.shape) == 2 and A.shape[0] == A.shape[1]
    return make_linear_operator(A), _hnp.asarray(b).reshape(-1)


def cg(A, b, x0=None, tol=None, maxiter=None, M=None, callback=None, atol=0.0, rtol=1e-5, conv_test_iters=25):
    """x, and after how many turns. Turns between two tests are recorded together."""
    A, b = _checked(A, b)
    bound = _bound(b, tol, atol, rtol)
    n = b.shape[0]
    maxiter = n * 10 if maxiter is None else maxiter
    M = None if M is None else make_linear_operator(M)
    dtype = _np.result_type(A.dtype, b.dtype, _np.float32)
    x = _hnp.zeros(n, dtype) if x0 is None else _hnp.array(x0).astype(dtype)
    r = b - A.matvec(x)
    p, before, turns = None, None, 0
    while turns < maxiter:
        z = r if M is None else M.matvec(r)
        rho = _dot(r, z)
        # A residual of 0 stays so: 0/0 would be no number.
        p = z if p is None else z + _ratio(rho, before) * p
        q = A.matvec(p)
        alpha = _ratio(rho, _dot(p, q))
        x = x + alpha * p
        r = r - alpha * q
        before = rho
        _hnp.flush()  # one turn a window: they are all alike then
        turns += 1
        if callback is not None:
            callback(x)
        if (turns % conv_test_iters == 0 or turns == maxiter - 1) and _norm(r) < bound:
            break
    return x, turns


def _ratio(a, b):
    nothing = _hnp.zeros_like(b)
    return _hnp.where(b == nothing, nothing, a / b)


def gmres(A, b, x0=None, tol=None, restart=None, maxiter=None, M=None, callback=None, restrt=None, atol=0.0,
          callback_type=None, rtol=1e-5):  # fmt: skip
    assert restrt is None or not restart
    A, b = _checked(A, b)
    if callback_type not in (None, "x", "pr_norm"):
        raise ValueError(f"Unknown callback_type: {callback_type}")
    restart = restrt if restrt is not None else restart
    size = min(20 if restart is None else restart, b.shape[0])
    limit = b.shape[0] * 10 if maxiter is None else maxiter
    bound = _bound(b, tol, atol, rtol)
    # All turns of a restart are done before its residual is looked at.
    x = _hnp.zeros(b.shape[0], _np.result_type(A.dtype, b.dtype, _np.float32)) if x0 is None else x0
    turns = 0
    while turns < limit and (turns == 0 or _norm(b - A.matvec(x)) > bound):
        x, _ = _linalg.gmres(A, b, x, rtol=1e-14, atol=0.0, restart=size, maxiter=1, M=M, callback=callback,
                             callback_type=callback_type or "pr_norm")  # fmt: skip
        turns += size
    return x, 0 if _norm(b - A.matvec(x)) <= bound else turns


def eigsh(A, k=6, which="LM", **more):
    """SciPy's, with Legate Sparse's rules for its arguments."""
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, got one of shape {A.shape}")
    if k <= 0:
        raise ValueError(f"k must be greater than 0, not {k}")
    if k >= A.shape[0]:
        raise ValueError(f"k must be smaller than n, which is {A.shape[0]}, not {k}")
    if which not in ("LM", "LA", "SA"):
        raise ValueError(f"which must be 'LM', 'LA' or 'SA', not {which!r}")
    return _linalg.eigsh(A, k=k, which=which, **more)


def __getattr__(name):
    return getattr(_linalg, name)
