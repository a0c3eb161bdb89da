# mypy: ignore-errors
"""lsqr: least squares by Golub and Kahan's bidiagonalisation, with SciPy's arguments and results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import heddle.numpy as hnp
from heddle.sparse._operator import aslinearoperator


def _length(x: Any) -> float:
    return math.sqrt(complex((x * x.conj() if x.dtype.kind == "c" else x * x).sum()).real)


def _rotation(a: float, b: float) -> tuple[float, float, float]:
    """c, s and r of the plane rotation that turns (a, b) into (r, 0)."""
    r = math.hypot(a, b)
    return (a / r, b / r, r) if r else (1.0, 0.0, 0.0)


def lsqr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8,
         iter_lim: Any = None, show: bool = False, calc_var: bool = False, x0: Any = None) -> Any:  # fmt: skip
    """The x with the least |A x - b|² + damp² |x - x0|². Gives SciPy's ten: x, istop, itn, r1norm, r2norm,
    anorm, acond, arnorm, xnorm, var."""
    A = aslinearoperator(A)
    rows, columns = A.shape
    b = hnp.asarray(b).reshape(-1)
    if b.shape != (rows,):
        raise ValueError(f"shapes of A {A.shape} and b {b.shape} are incompatible")
    iter_lim = 2 * columns if iter_lim is None else iter_lim
    dtype = np.result_type(float, A.dtype, b.dtype)
    var = np.zeros(columns)
    limit = 1 / conlim if conlim > 0 else 0.0
    u = b.astype(dtype)
    b_norm = _length(u)
    if x0 is None:
        x, beta = hnp.zeros(columns, dtype), b_norm
    else:
        x = hnp.asarray(x0).reshape(-1).astype(dtype)
        u = u - A.matvec(x)
        beta = _length(u)
    if beta > 0:
        u = u * (1 / beta)
        v = A.rmatvec(u)
        alpha = _length(v)
    else:
        v, alpha = x.copy(), 0.0
    if alpha > 0:
        v = v * (1 / alpha)
    w = v
    rho_bar, phi_bar = alpha, beta
    r1norm = r2norm = beta
    arnorm = alpha * beta
    anorm = acond = xnorm = 0.0
    d_norm2 = res2 = xx_norm = z = 0.0
    cs2, sn2, istop, itn = -1.0, 0.0, 0, 0
    if arnorm == 0:
        return x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, hnp.asarray(var)
    while itn < iter_lim:
        itn += 1
        # The next of both bases.
        u = A.matvec(v) - alpha * u
        beta = _length(u)
        if beta > 0:
            u = u * (1 / beta)
            anorm = math.sqrt(anorm**2 + alpha**2 + beta**2 + damp**2)
            v = A.rmatvec(u) - beta * v
            alpha = _length(v)
            if alpha > 0:
                v = v * (1 / alpha)
        # Damping is rotated away, then what lies below the diagonal.
        rho_bar1 = math.hypot(rho_bar, damp) if damp > 0 else rho_bar
        psi = 0.0
        if damp > 0:
            c1, s1 = rho_bar / rho_bar1, damp / rho_bar1
            psi, phi_bar = s1 * phi_bar, c1 * phi_bar
        cs, sn, rho = _rotation(rho_bar1, beta)
        theta, rho_bar = sn * alpha, -cs * alpha
        phi, phi_bar = cs * phi_bar, sn * phi_bar
        tau = sn * phi
        direction = w * (1 / rho)
        x = x + (phi / rho) * w
        w = v - (theta / rho) * w
        d_norm2 += _length(direction) ** 2
        if calc_var:
            var = var + np.abs(np.asarray(direction)) ** 2
        # |x|, and how good it is.
        delta, gamma_bar, rhs = sn2 * rho, -cs2 * rho, phi - sn2 * rho * z
        z_bar = rhs / gamma_bar
        xnorm = math.sqrt(xx_norm + z_bar**2)
        gamma = math.hypot(gamma_bar, theta)
        cs2, sn2, z = gamma_bar / gamma, theta / gamma, rhs / gamma
        xx_norm += z * z
        acond = anorm * math.sqrt(d_norm2)
        res2 += psi**2
        r2norm = math.sqrt(phi_bar**2 + res2)
        arnorm = alpha * abs(tau)
        r1sq = r2norm**2 - damp**2 * xx_norm
        r1norm = math.copysign(math.sqrt(abs(r1sq)), r1sq)
        test1 = r2norm / b_norm if b_norm else 0.0
        test2 = arnorm / (anorm * r2norm + np.finfo(float).eps)
        test3 = 1 / (acond + np.finfo(float).eps)
        t1 = test1 / (1 + anorm * xnorm / b_norm) if b_norm else 0.0
        rtol = btol + atol * anorm * xnorm / b_norm if b_norm else btol
        # The weakest reason first: a better one takes its place.
        if itn >= iter_lim:
            istop = 7
        if 1 + test3 <= 1:
            istop = 6
        if 1 + test2 <= 1:
            istop = 5
        if 1 + t1 <= 1:
            istop = 4
        if test3 <= limit:
            istop = 3
        if test2 <= atol:
            istop = 2
        if test1 <= rtol:
            istop = 1
        if show:
            print(f"{itn:6} {r1norm:10.3e} {r2norm:10.3e} {test1:8.1e} {test2:8.1e} {anorm:8.1e} {acond:8.1e}")
        if istop:
            break
    return x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, hnp.asarray(var)
