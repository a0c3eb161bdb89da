"""Programs that are written per device along all axes of their mesh, or along some."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from meshes import LINE, PIPELINED, SQUARE, TRAINING, below, mapped, real

XY = P("x", "y")
ROWS = P("x", None)
RING = [(i, (i + 1) % 4) for i in range(4)]


@mapped(SQUARE, (XY,), P(None, "y"), real(4, 6))
def sum_along_one(a):
    return lax.psum(a, "x")


@mapped(SQUARE, (XY,), (P(), P("x", None)), real(4, 6))
def mean_and_most(a):
    return lax.pmean(a.sum(), ("x", "y")), lax.pmax(a, "y")


@mapped(LINE, (ROWS,), ROWS, real(8, 6))
def gathered(a):
    return lax.all_gather(a, "x", axis=0, tiled=True)[2:4] + a


@mapped(LINE, (ROWS,), ROWS, real(8, 4))
def scattered_sum(a):
    return lax.psum_scatter(jnp.tile(a, (2, 1)), "x", scatter_dimension=0, tiled=True)


@mapped(LINE, (ROWS,), P(None, "x"), real(8, 12))
def exchanged(a):
    return lax.all_to_all(a, "x", 1, 0, tiled=True)


@mapped(LINE, (P("x"),), P("x"), real(8))
def sent_to_some(a):
    return lax.ppermute(a, "x", [(0, 1), (2, 3)])


@mapped(SQUARE, (XY,), XY, real(4, 6))
def places(a):
    return a + 10 * lax.axis_index("x") + lax.axis_index("y") + 100 * lax.axis_index(("y", "x"))


@mapped(LINE, (P("x"),), P("x"), real(8))
def branches_by_place(a):
    return lax.cond(lax.axis_index("x") % 2 == 0, lambda a: a * 2, lambda a: -a, a)


@mapped(LINE, (P(), P("x")), P("x"), below(9, 2).astype("uint32"), real(8))
def own_random_numbers(key, a):
    key = jax.random.fold_in(jax.random.wrap_key_data(key), lax.axis_index("x"))
    return a + jax.random.normal(key, a.shape)


@mapped(LINE, (ROWS, ROWS, ROWS), ROWS, real(16, 8), real(16, 8), real(16, 8))
def ring_attention(q, k, v):
    def step(_, c):
        k, v, most, total, out = c
        scores = q @ k.T
        now = jnp.maximum(most, scores.max(-1))
        p, old = jnp.exp(scores - now[:, None]), jnp.exp(most - now)
        return (lax.ppermute(k, "x", RING), lax.ppermute(v, "x", RING), now,
                total * old + p.sum(-1), out * old[:, None] + p @ v)
    start = (k, v, q[:, 0] * 0 - 1e9, q[:, 0] * 0, q * 0)
    _, _, _, total, out = lax.fori_loop(0, 4, step, start)
    return out / total[:, None]


@mapped(LINE, (P(), P("x", None, None)), P(), real(6, 8), real(4, 8, 8))
def pipeline(x, w):
    place = lax.axis_index("x")

    def step(h, t):
        h = jnp.where(place == 0, x[jnp.minimum(t, 5)], h)
        h = jnp.tanh(h @ w[0])
        return lax.ppermute(h, "x", RING), h
    _, done = lax.scan(step, x[0] * 0 + w[0, 0] * 0, jnp.arange(9))
    return lax.psum(jnp.where(place == 3, done[3:], 0.0), "x")


@mapped(LINE, (ROWS,), ROWS, real(16, 5))
def halo(u):
    def step(_, u):
        above = lax.ppermute(u[-1:], "x", [(i, i + 1) for i in range(3)])
        below_it = lax.ppermute(u[:1], "x", [(i + 1, i) for i in range(3)])
        p = jnp.concatenate([above, u, below_it])
        return u + 0.1 * (p[2:] + p[:-2] - 2 * u)
    return lax.fori_loop(0, 3, step, u)


@mapped(LINE, (ROWS, P("x", None, None)), ROWS, real(32, 8), real(4, 8, 8))
def experts(x, w):
    sent = lax.all_to_all(x.reshape(4, -1, 8), "x", 0, 0)
    return lax.all_to_all(jnp.tanh(sent @ w[0]), "x", 0, 0).reshape(x.shape)


@mapped(LINE, (ROWS, ROWS), ROWS, real(8, 8), real(8, 6))
def gathered_weights(x, w):
    return x @ lax.all_gather(w, "x", axis=0, tiled=True)


@mapped(TRAINING, (P("dp", None), P(None, "tp"), P("tp", None)), P("dp", None),
        real(8, 6), real(6, 8), real(8, 6))
def megatron(x, a, b):
    return lax.psum(jax.nn.gelu(x @ a) @ b, "tp")


# ---- along some axes; the others are the compiler's

@mapped(SQUARE, (ROWS, P(None, "y")), ROWS, real(8, 6), real(6, 4), axes={"x"})
def free_products(a, b):
    return jnp.tanh(a @ b) @ b.T


@mapped(SQUARE, (XY, P("y", None)), P("y"), real(8, 6), real(6, 4), axes={"x"})
def free_sum(a, b):
    return lax.psum((a @ b).sum(0), "x")


@mapped(SQUARE, (XY,), XY, real(4, 6), axes={"x"})
def free_scattered_sum(a):
    return lax.psum_scatter(jnp.concatenate([a, a * 2]), "x", scatter_dimension=0, tiled=True)


@mapped(SQUARE, (P("x", None, "y"),), P("x", None, "y"), real(4, 6, 8), axes={"x"})
def free_exchange(a):
    return lax.all_to_all(a, "x", 1, 0, tiled=True)


@mapped(SQUARE, (XY,), XY, real(4, 6), axes={"x"})
def free_loop(a):
    def step(_, a):
        return a + lax.psum(a, "x") * a.sum(1, keepdims=True) * 0.01
    return lax.fori_loop(0, 3, step, a)


@mapped(PIPELINED, (P("pp", "dp", None), P("pp", None, "tp")), P("pp", "dp", "tp"),
        real(4, 4, 8), real(2, 8, 8), axes={"pp"})
def free_stages(x, w):
    return lax.ppermute(jnp.tanh(x @ w[0]), "pp", [(0, 1), (1, 0)])
