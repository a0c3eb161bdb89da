"""Programs for one device: linear algebra, composites, narrow and complex elements, nothing at all.

Vectors that are known but for their sign are compared by what they make together.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import sparse

PROGRAMS = {}  # name -> (function, arguments)
RANDOM = np.random.default_rng(0)


def real(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def imaginary(*shape):
    return (real(*shape) + 1j * real(*shape)).astype(np.complex64)


def program(*arguments):
    """Puts the function that follows into the table."""
    def put(function):
        PROGRAMS[function.__name__] = (function, arguments)
        return function
    return put


def of_each(*shape):
    """The same of real matrices, of batches of them and of complex ones."""
    def put(function):
        for kind, a in (("real", real(*shape)), ("batch", real(2, 3, *shape)),
                        ("complex", imaginary(*shape))):
            PROGRAMS[f"{function.__name__}_{kind}"] = (function, (a,))
        return function
    return put


def adjoint(a):
    return jnp.swapaxes(a, -1, -2).conj()


def hermitian(a):
    return a @ adjoint(a) + 3 * jnp.eye(a.shape[-1], dtype=a.dtype)


@of_each(4, 4)
def cholesky(a):
    return jnp.linalg.cholesky(hermitian(a)), jnp.linalg.cholesky(hermitian(a), upper=True)


@of_each(5, 3)
def lu(a):
    return lax.linalg.lu(a)


@of_each(4, 4)
def inverse(a):
    return jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.slogdet(a)


@of_each(5, 3)
def qr(a):
    q, r = jnp.linalg.qr(a)
    whole, _ = jnp.linalg.qr(a, mode="complete")
    return q @ r, abs(r), whole @ adjoint(whole)


@of_each(5, 3)
def qr_with_pivots(a):
    q, r, order = jax.scipy.linalg.qr(a, pivoting=True, mode="economic")
    return q @ r, order


@of_each(4, 4)
def eigh(a):
    w, v = jnp.linalg.eigh(hermitian(a))
    return w, (v * w[..., None, :]) @ adjoint(v)


@of_each(4, 4)
def eig(a):
    w, v = jnp.linalg.eig(a)
    return abs(a @ v - v * w[..., None, :]) < 1e-3, jnp.sort(abs(w))


@of_each(5, 3)
def svd(a):
    u, s, v = jnp.linalg.svd(a, full_matrices=False)
    by_rotations = lax.linalg.svd(a, compute_uv=False, algorithm=lax.linalg.SvdAlgorithm.QR)
    return s, (u * s[..., None, :]) @ v, by_rotations, jnp.linalg.svd(a, compute_uv=False)


@of_each(4, 4)
def schur(a):
    t, z = lax.linalg.schur(a)
    return z @ t @ adjoint(z)


@of_each(4, 4)
def hessenberg(a):
    return lax.linalg.hessenberg(a)[0]


@of_each(4, 4)
def tridiagonal(a):
    return lax.linalg.tridiagonal(hermitian(a))[1:3]


@of_each(4, 4)
def triangles(a):
    t = jnp.tril(a) + 4 * jnp.eye(4, dtype=a.dtype)
    solve = lax.linalg.triangular_solve
    return (solve(t, a, left_side=True, lower=True),
            solve(t, a, lower=True, transpose_a=True, conjugate_a=True))


@of_each(5, 2)
def three_diagonals(b):
    d = b[..., 0]
    return lax.linalg.tridiagonal_solve(d * 0.1, d * 0.1 + 3, d * 0.1, b)


@program(real(4, 4))
def gradients(a):
    return (jax.grad(lambda x: jnp.linalg.slogdet(x)[1])(a),
            jax.grad(lambda x: jnp.linalg.cholesky(hermitian(x)).sum())(a),
            jax.grad(lambda x: (jnp.linalg.eigh(hermitian(x))[0] ** 2).sum())(a))


@program(real(3, 3))
def what_has_no_result(a):
    return (jnp.linalg.cholesky(-hermitian(a)), jnp.linalg.eigvalsh(a * jnp.nan),
            jnp.linalg.svd(a * jnp.nan)[1])


@program(real(0, 3), real(2, 0, 0))
def empty_matrices(a, b):
    return jnp.linalg.svd(a, full_matrices=False), jnp.linalg.eigh(b), jnp.linalg.qr(a)


@program(real(3, 4))
def composites(x):
    near = x / 8
    return (lax.erf(x), lax.erfc(x), lax.sinh(x), lax.cosh(x), lax.acosh(abs(x) + 1),
            lax.atanh(near), lax.asin(near), lax.tan(near), lax.top_k(x, 2), lax.approx_max_k(x, 2))


@program(imaginary(3, 4))
def complex_functions(x):
    return lax.sinh(x), lax.acosh(x), lax.tan(x), lax.log(x), lax.sqrt(x), x ** x


@program(abs(real(6)))
def narrow_elements(x):
    names = ("int4", "uint4", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "bfloat16")
    made = [x.astype(getattr(jnp, name)) for name in names]
    return [jnp.sort(jnp.concatenate([a, a + a])).astype(jnp.float32) for a in made]


@program(np.array([0, -0.0, 1e-45, 2.0**-127, 1.4 * 2.0**-127, 1.4, 1.5, 3, 1.4 * 2.0**127, 1.5 * 2.0**127, np.inf, -np.inf,
                   np.nan, -1], np.float32))
def powers_of_two(x):
    made = x.astype(jnp.float8_e8m0fnu)
    return lax.bitcast_convert_type(made, jnp.uint8), made.astype(jnp.float32)


@program(np.array([1, 2], np.uint32), np.array([1, 2, 3, 4], np.uint32))
def random_numbers(threefry, rbg):
    one = jax.random.wrap_key_data(threefry, impl="threefry2x32")
    other = jax.random.wrap_key_data(rbg, impl="rbg")
    return (jax.random.normal(one, (5,)), jax.random.gamma(one, 2.0, (4,)),
            jax.random.permutation(one, 7), jax.random.uniform(other, (5,)),
            jax.random.randint(other, (5,), 0, 9))


@program(real(5), real(4), real(4, 3))
def sparse_products(elements, x, y):
    columns, rows = jnp.array([0, 2, 1, 3, 0]), jnp.array([0, 2, 2, 5])
    matrix = sparse.CSR((elements, columns, rows), shape=(3, 4))
    return matrix @ x, matrix @ y


@program(real(6), real(5))
def vectors_of_three_diagonals(d, e):
    w, v = jax.scipy.linalg.eigh_tridiagonal(d, e)
    return w, (v * w) @ v.T


@program(real(4))
def what_is_kept(x):
    lax.dce_sink(x + 1)
    return x * 2
