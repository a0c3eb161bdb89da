# mypy: ignore-errors
"""Iterative solvers with SciPy's arguments, conditions and results. Each turn is recorded; its one read is
that of the residual."""

from __future__ import annotations

from typing import Any

import numpy as np

import heddle.numpy as hnp
from heddle.numpy._core import recorded
from heddle.sparse._operator import LinearOperator, aslinearoperator


def _dot(x: Any, y: Any) -> Any:
    """The sum of conj(x) y, as ops that fuse with what makes x and y."""
    return ((x.conj() if x.dtype.kind == "c" else x) * y).sum()


def _root(squares: Any) -> float:
    """Of a sum of squares, which is read."""
    return float(np.sqrt(complex(squares).real))


def _norm(x: Any) -> float:
    return _root(_dot(x, x))


def put_row(matrix: Any, row: Any, at: int) -> Any:
    """The matrix with another row; which one is no part of the program."""
    return recorded.operation("sparse.put_row", [matrix, row, hnp.asarray(np.int64(at))], {})


class _System:
    """A x = b with a preconditioner, a start and a bound for the residual, checked as SciPy does."""

    def __init__(self, name: str, A: Any, b: Any, x0: Any, M: Any, rtol: float, atol: Any) -> None:
        self.A = aslinearoperator(A)
        rows, columns = self.A.shape
        if rows != columns:
            raise ValueError(f"expected square matrix, but got shape={self.A.shape}")
        b = hnp.asarray(b)
        if b.shape not in ((rows,), (rows, 1)):
            raise ValueError(f"shapes of A {self.A.shape} and b {b.shape} are incompatible")
        self.size = rows
        types = [one.dtype for one in (self.A, M, b, x0) if getattr(one, "dtype", None) is not None]
        kind = np.result_type(np.float32, *types)
        self.dtype = kind if kind in map(np.dtype, "fdFD") else np.dtype(float)
        self.b = b.reshape(rows).astype(self.dtype, copy=False)
        self.has_M = M is not None
        self.M = aslinearoperator(M) if self.has_M else None
        if self.has_M and self.M.shape != self.A.shape:
            raise ValueError("matrix and preconditioner have different shapes")
        self.x0 = None
        if x0 is not None:
            start = hnp.asarray(x0)
            if start.shape not in ((rows,), (rows, 1)):
                raise ValueError(f"shapes of A {self.A.shape} and x0 {start.shape} are incompatible")
            self.x0 = start.reshape(rows).astype(self.dtype)  # a copy
        if atol is None or (isinstance(atol, str)) or float(atol) < 0:
            raise ValueError(f"'{name}' called with invalid `atol`={atol!r}; it must be a real, non-negative number.")
        self.b_norm = _norm(self.b)
        self.bound = max(float(atol), float(rtol) * self.b_norm)

    def start(self) -> tuple[Any, Any]:
        """x and its residual."""
        if self.x0 is None:
            return hnp.zeros(self.size, self.dtype), self.b.copy()
        return self.x0, self.b - self.A.matvec(self.x0)

    def precondition(self, r: Any) -> Any:
        return self.M.matvec(r) if self.has_M else r

    def is_trivial(self) -> bool:
        return self.b_norm == 0

    def result(self, x: Any, info: int) -> tuple[Any, int]:
        return x, info


def _turns(system: _System, maxiter: Any, turn: Any, start: Any, callback: Any) -> tuple[Any, int]:
    """Runs turns until the residual is small enough, or the method breaks down.

    `turn` takes and gives the method's state, whose first three are x, the residual and the sum of its
    squares, and what a step was divided by, or None; a number says that it cannot go on.
    """
    if system.is_trivial():
        return system.result(hnp.zeros(system.size, system.dtype), 0)
    state, divisor, x = start, None, None
    maxiter = system.size * 10 if maxiter is None else int(maxiter)
    for _ in range(maxiter):
        length = _root(state[2])
        if length < system.bound:
            return system.result(state[0], 0)
        if _divided_by_zero(length, divisor):
            return system.result(x, -11)
        with np.errstate(divide="ignore", invalid="ignore"):  # what breaks down is told by a number
            made = turn(*state)
        if isinstance(made, int):
            return system.result(state[0], made)
        # What a breakdown goes back to; else its memory is free for the next one.
        x = state[0] if made[1] is not None else None
        state, divisor = made
        if callback is not None:
            if _divided_by_zero(_root(state[2]), divisor):
                return system.result(x, -11)
            callback(state[0])
    if divisor is not None and _divided_by_zero(_root(state[2]), divisor):
        return system.result(x, -11)
    return system.result(state[0], maxiter)


def _divided_by_zero(length: float, divisor: Any) -> bool:
    """Which is asked only where it shows: that of each turn need not be read."""
    return divisor is not None and not np.isfinite(length) and complex(divisor) == 0


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: Any = None,
       M: Any = None, callback: Any = None) -> tuple[Any, int]:  # fmt: skip
    """Conjugate gradients, for Hermitian matrices that are positive definite."""
    system = _System("cg", A, b, x0, M, rtol, atol)

    def turn(x: Any, r: Any, rr: Any, p: Any, before: Any) -> Any:
        z = system.precondition(r)
        rho = _dot(r, z) if system.has_M else rr
        p = z if p is None else z + (rho / before) * p
        q = system.A.matvec(p)
        alpha = rho / _dot(p, q)
        x = x + alpha * p
        r = r - alpha * q
        return (x, r, _dot(r, r), p, rho), None

    x, r = system.start()
    return _turns(system, maxiter, turn, (x, r, _dot(r, r), None, None), callback)


def _breaks_down(system: _System, number: Any) -> bool:
    return abs(complex(number)) < np.finfo(system.dtype).eps ** 2


def bicg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: Any = None,
         M: Any = None, callback: Any = None) -> tuple[Any, int]:  # fmt: skip
    """Biconjugate gradients."""
    system = _System("bicg", A, b, x0, M, rtol, atol)

    def prepared(r: Any, s: Any) -> tuple[Any, Any, Any]:
        z, w = system.precondition(r), system.M.rmatvec(s) if system.has_M else s
        return z, w, _dot(s, z)

    # What the next turn looks at first belongs to the window whose residual is read.
    def turn(x: Any, r: Any, rr: Any, s: Any, z: Any, w: Any, rho: Any, p: Any, t: Any, before: Any) -> Any:
        if _breaks_down(system, rho):
            return -10
        if before is not None:
            beta = rho / before
            p, t = z + beta * p, w + beta.conj() * t
        else:
            p, t = z, w
        q, u = system.A.matvec(p), system.A.rmatvec(t)
        divisor = _dot(t, q)
        alpha = rho / divisor
        x, r, s = x + alpha * p, r - alpha * q, s - alpha.conj() * u
        return (x, r, _dot(r, r), s, *prepared(r, s), p, t, rho), divisor

    x, r = system.start()
    s = r.copy()
    return _turns(system, maxiter, turn, (x, r, _dot(r, r), s, *prepared(r, s), None, None, None), callback)


def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: Any = None,
             M: Any = None, callback: Any = None) -> tuple[Any, int]:  # fmt: skip
    """Biconjugate gradients, stabilised."""
    system = _System("bicgstab", A, b, x0, M, rtol, atol)
    x, r = system.start()
    shadow = r.copy()

    def turn(x: Any, r: Any, rr: Any, rho: Any, p: Any, v: Any, before: Any, alpha: Any, omega: Any) -> Any:
        if _breaks_down(system, rho):
            return -10
        if p is None:
            p = r
        else:
            if _breaks_down(system, omega):
                return -11
            p = r + (rho / before) * (alpha / omega) * (p - omega * v)
        p_hat = system.precondition(p)
        v = system.A.matvec(p_hat)
        divisor = _dot(shadow, v)
        alpha = rho / divisor
        s = r - alpha * v
        s_hat = system.precondition(s)
        t = system.A.matvec(s_hat)
        tt = _dot(t, t)
        # Where s is 0 already, t is: x is there, and nothing moves.
        omega = hnp.where(tt == 0, hnp.zeros_like(tt), _dot(t, s) / tt)
        x = x + alpha * p_hat + omega * s_hat
        r = s - omega * t
        return (x, r, _dot(r, r), _dot(shadow, r), p, v, rho, alpha, omega), divisor

    start = (x, r, _dot(r, r), _dot(shadow, r), None, None, None, None, None)
    return _turns(system, maxiter, turn, start, callback)


def cgs(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: Any = None,
        M: Any = None, callback: Any = None) -> tuple[Any, int]:  # fmt: skip
    """Conjugate gradients, squared."""
    system = _System("cgs", A, b, x0, M, rtol, atol)
    x, r = system.start()
    shadow = r.copy()

    def turn(x: Any, r: Any, rr: Any, rho: Any, p: Any, q: Any, before: Any) -> Any:
        if _breaks_down(system, rho):
            return -10
        if p is None:
            u = p = r
        else:
            beta = rho / before
            u = r + beta * q
            p = u + beta * (q + beta * p)
        v = system.A.matvec(system.precondition(p))
        divisor = _dot(shadow, v)
        alpha = rho / divisor
        q = u - alpha * v
        step = system.precondition(u + q)
        x, r = x + alpha * step, r - alpha * system.A.matvec(step)
        return (x, r, _dot(r, r), _dot(shadow, r), p, q, rho), divisor

    return _turns(system, maxiter, turn, (x, r, _dot(r, r), _dot(shadow, r), None, None, None), callback)


def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, restart: Any = None,
          maxiter: Any = None, M: Any = None, callback: Any = None,
          callback_type: Any = None) -> tuple[Any, int]:  # fmt: skip
    """Generalised minimal residuals, with restarts: Arnoldi's basis is recorded, its small least-squares
    problem is NumPy's. maxiter counts restarts, or, with a callback of type "legacy", turns, as in SciPy."""
    if callback_type not in (None, "x", "pr_norm", "legacy"):
        raise ValueError(f"Unknown callback_type: {callback_type!r}")
    kind = None if callback is None else callback_type or "legacy"
    system = _System("gmres", A, b, x0, M, rtol, atol)
    x, r = system.start()
    if system.is_trivial():
        return system.result(hnp.zeros(system.size, system.dtype), 0)
    restart = min(20 if restart is None else int(restart), system.size)
    maxiter = system.size * 10 if maxiter is None else int(maxiter)
    length, turns = _norm(r), 0  # inner ones
    if length < system.bound:
        return system.result(x, 0)
    for _ in range(maxiter):
        z = system.precondition(r)
        start_norm = _norm(z)
        if start_norm == 0:
            return system.result(x, 0)
        # The bound of the residual for that of the preconditioned one, as they are to each other now.
        small = system.bound * start_norm / max(length, np.finfo(float).tiny)
        most = min(restart, maxiter - turns) if kind == "legacy" else restart
        gained, inner, is_over = _arnoldi(system, z / start_norm, start_norm, most, small,
                                          callback if kind in ("legacy", "pr_norm") else None)  # fmt: skip
        x = x + gained
        turns += inner
        r = system.b - system.A.matvec(x)
        length = _norm(r)
        if kind == "x":
            callback(x)
        if length <= system.bound or is_over or (kind == "legacy" and turns >= maxiter):
            break
    return system.result(x, 0 if length <= system.bound else maxiter)


# Rows of a basis that a turn looks at are a multiple of this: fewer programs, and some zeros.
_WIDTH = 8


def _arnoldi(system: _System, v: Any, beta: float, most: int, small: float,
             callback: Any) -> tuple[Any, int, bool]:  # fmt: skip
    """What x gains in one cycle, its number of turns, and whether the space came to its end."""
    is_complex = system.dtype.kind == "c"
    rows = -(-(most + 1) // _WIDTH) * _WIDTH
    basis = put_row(hnp.zeros((rows, system.size), system.dtype), v, 0)
    H = np.zeros((most + 1, most), complex if is_complex else float)
    right = np.zeros(most + 1, H.dtype)
    right[0] = beta
    y, used, is_over = np.zeros(0), 0, False
    for j in range(most):
        width = -(-(j + 1) // _WIDTH) * _WIDTH
        seen = basis[:width]
        turned = seen.conj() if is_complex else seen
        w = system.precondition(system.A.matvec(v))
        # Gram and Schmidt, twice: as good as one by one, and the same program for every turn.
        first = turned @ w
        w = w - first @ seen
        second = turned @ w
        w = w - second @ seen
        squares, heights = _dot(w, w), first + second
        tall = _root(squares)
        H[: j + 1, j], H[j + 1, j] = np.asarray(heights)[: j + 1], tall
        used = j + 1
        if not np.isfinite(H[: j + 2, j]).all():
            y, is_over = np.full(used, np.nan), True
            break
        y, *_ = np.linalg.lstsq(H[: j + 2, : j + 1], right[: j + 2], rcond=None)
        left = float(np.linalg.norm(right[: j + 2] - H[: j + 2, : j + 1] @ y))
        if callback is not None:
            callback(left / system.b_norm)
        is_over = tall <= np.finfo(np.float64).eps * float(np.linalg.norm(H[: j + 2, j]))
        if left <= small or is_over:
            break
        v = w / tall
        basis = put_row(basis, v, j + 1)
    weights = np.zeros(rows, system.dtype)
    weights[:used] = y
    return hnp.asarray(weights) @ basis, used, is_over


__all__ = ["LinearOperator", "bicg", "bicgstab", "cg", "cgs", "gmres"]
