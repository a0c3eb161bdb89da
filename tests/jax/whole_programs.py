"""Programs over whole values with shardings at their ends and, here and there, inside."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from meshes import CUBE, LINE, SQUARE, TRAINING, WIDE, below, program, real

CONV = ("NHWC", "HWIO", "NHWC")
XY = P("x", "y")


def conv(x, w, stride=1, padding="SAME", **more):
    return lax.conv_general_dilated(x, w, (stride, stride), padding, dimension_numbers=CONV, **more)


@program(TRAINING, (P("dp", None), P(None, "tp"), P("tp", None)), P("dp", None),
         real(8, 16), real(16, 32), real(32, 16))
def mlp(x, w1, w2):
    return jax.nn.gelu(x @ w1) @ w2


@program(TRAINING, (P("dp", None), P("dp", "tp"), P("tp", "dp")), (P("dp", "tp"), P("tp", "dp")),
         real(8, 16), real(16, 32), real(32, 16))
def fsdp_gradient(x, w1, w2):
    return jax.grad(lambda a, b: ((jax.nn.gelu(x @ a) @ b) ** 2).mean(), (0, 1))(w1, w2)


@program(TRAINING, (P("dp", None, None), *[P(None, "tp")] * 3, P("tp", None)),
         P("dp", None, None), real(2, 8, 16), *[real(16, 16) for _ in range(4)])
def attention(x, wq, wk, wv, wo):
    b, s, d = x.shape
    q, k, v = [(x @ w).reshape(b, s, 4, d // 4).transpose(0, 2, 1, 3) for w in (wq, wk, wv)]
    scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), jnp.einsum("bhqd,bhkd->bhqk", q, k), -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    return x + mixed.transpose(0, 2, 1, 3).reshape(b, s, d) @ wo


@program(TRAINING, (P("dp", None), P("tp", None), P("dp")), P("tp", None),
         real(8, 6), real(12, 6), below(12, 8))
def cross_entropy_gradient(h, w, y):
    return jax.grad(lambda w: -jax.nn.log_softmax(h @ w.T)[jnp.arange(8), y].mean())(w)


@program(TRAINING, (P("dp", None), P("tp", None)), P("dp", None, None),
         below(12, 4, 6), real(12, 8))
def embedding(i, table):
    return table[i]


@program(TRAINING, (P("tp", None), P("dp"), P("dp", None)), P("tp", None),
         real(12, 8), below(12, 6), real(6, 8))
def embedding_gradient(table, i, g):
    return table.at[i].add(g)


@program(TRAINING, (P("dp", "tp"),) * 4, (P("dp", "tp"),) * 3,
         real(8, 6), real(8, 6), real(8, 6), abs(real(8, 6)))
def adam(p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return p - 0.01 * m / (jnp.sqrt(v) + 1e-8), m, v


@program(TRAINING, (P("dp", "tp"), P("dp", "tp")), P("dp", "tp"), real(8, 6), real(8, 6))
def lamb(p, g):
    return p - 0.1 * jnp.linalg.norm(p) / jnp.linalg.norm(g) * g


@program(TRAINING, (P("dp", "tp", None), P("dp", None, None), P("dp")), P("dp", "tp", None),
         real(4, 16, 8), real(4, 1, 8), below(16, 4))
def cache_update(cache, new, place):
    return jax.vmap(lambda c, n, p: lax.dynamic_update_slice(c, n, (p, 0)))(cache, new, place)


@program(TRAINING, (P("dp", None, None), P(None, "tp", None)), P("dp", None, "tp"),
         real(4, 6, 8), real(3, 8, 8))
def scanned_layers(x, w):
    def layer(h, w):
        w = lax.with_sharding_constraint(w, NamedSharding(TRAINING, P("tp", None)))
        return jnp.tanh(h @ w), None
    return lax.scan(layer, x, w)[0]


@program(SQUARE, (P(None, "x", "y", None), P()), P(None, "x", "y", None),
         real(2, 8, 8, 3), real(3, 3, 3, 4))
def spatial_convolution(x, w):
    return conv(x, w)


@program(SQUARE, (P("x", "y", None, None), P(), P()), P("x", None),
         real(4, 10, 9, 3), real(3, 3, 3, 8), real(3, 3, 8, 8))
def convolutions(x, w1, w2):
    h = jax.nn.relu(conv(x, w1, 2))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "SAME")
    return conv(h, w2, padding="VALID").mean((1, 2))


@program(SQUARE, (P("y", None, None, "x"), P(None, None, None, "x")), P(None, None, None, "x"),
         real(2, 5, 5, 8), real(3, 3, 2, 12))
def grouped_convolution_gradient(x, w):
    return jax.grad(lambda w: (conv(x, w, feature_group_count=4) ** 2).sum())(w)


@program(SQUARE, (XY,), XY, real(8, 12))
def stencil(u):
    def step(_, u):
        p = jnp.pad(u, 1)
        return u + 0.1 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u)
    return lax.fori_loop(0, 5, step, u)


@program(SQUARE, (XY,), XY, real(8, 12))
def rolls(u):
    return jnp.roll(u, 1, 0) + jnp.roll(u, -3, 1) + jnp.flip(u, (0, 1))


@program(LINE, (P("x"),), (P("x"), P(), P("x")), real(16))
def running_sum_and_order(x):
    return jnp.cumsum(x), jnp.argmax(x), jnp.sort(x)


@program(LINE, (P("x", None),), (P("x", None), P(None, "x"), P("x")), real(8, 8))
def orders(x):
    return jnp.sort(x, 0), jnp.argsort(x, 1), jnp.median(x, axis=1)


@program(LINE, (P(None, "x"),), (P(), P()), real(4, 16))
def largest(x):
    return tuple(lax.top_k(x, 3))


@program(SQUARE, (XY, P("y", "x")), (XY, P(), P("x")), real(6, 8), real(8, 6))
def products(a, b):
    return a @ b, jnp.einsum("ij,ji->", a, b), jnp.einsum("ij,ji->i", a, b)


@program(CUBE, (P("a", "b", "c"), P("c", "a")), (P("a", "b"), P("c", "a", "b")),
         real(4, 6, 8), real(8, 4))
def products_on_a_cube(a, b):
    return jnp.einsum("ijk,ki->ij", a, b), jnp.einsum("ijk,kl->lij", a, b)


@program(WIDE, (XY,), P("y", "x"), real(8, 8))
def constraints(x):
    y = lax.with_sharding_constraint(x * 2, NamedSharding(WIDE, P(("x", "y"), None)))
    return lax.with_sharding_constraint(y + 1, NamedSharding(WIDE, P(None, ("y", "x")))).T @ x


@program(WIDE, (XY,), P(), real(8, 8))
def uneven_inside(x):
    a = lax.with_sharding_constraint(x[:7, :5], NamedSharding(WIDE, XY))
    return lax.with_sharding_constraint(jnp.cumsum(a, 0), NamedSharding(WIDE, P("y", "x"))).sum(1)


@program(SQUARE, (P(), XY), (XY, P("x")), below(9, 2).astype("uint32"), real(8, 6))
def random_numbers(key, x):
    key = jax.random.wrap_key_data(key)
    return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0), jax.random.normal(key, (8,))


@program(SQUARE, (XY,), XY, real(4, 6))
def loops_and_branches(x):
    def body(c):
        return c[0] + 1, lax.cond(c[1].sum() > 0, lambda x: x * 0.5 - 1, lambda x: -x, c[1])
    return lax.while_loop(lambda c: c[0] < 4, body, (0, x))[1]


@program(SQUARE, (XY, P("x")), (XY, P("x")), real(4, 6), below(6, 4))
def indexing(a, i):
    return a.at[jnp.arange(4), i].set(7.0), a[jnp.arange(4), i]


@program(SQUARE, (XY,), (P("x"), XY), real(8, 8))
def transforms(x):
    return jnp.abs(jnp.fft.rfft(x, axis=1)).sum(1), jnp.fft.fft2(x).real


@program(SQUARE, (P(None, "x", "y", None),), P(None, "x", "y", None), real(2, 6, 4, 3))
def resized(x):
    return jax.image.resize(x, (2, 12, 8, 3), "bilinear")


@program(TRAINING, (P("dp", None), P(), P("tp", None, None)), P("dp", None),
         real(8, 6), real(6, 4), real(4, 6, 6))
def mixture_of_experts(x, gate, w):
    value, expert = lax.top_k(jax.nn.softmax(x @ gate), 2)
    weight = (jax.nn.one_hot(expert, 4) * value[..., None]).sum(1)
    slot = jnp.where(weight > 0, jnp.cumsum(weight > 0, 0) - 1, 8)
    sent = jax.nn.one_hot(slot, 8)
    done = jnp.tanh(jnp.einsum("tec,td,edf->ecf", sent, x, w))
    return jnp.einsum("tec,te,ecf->tf", sent, weight, done)


@program(LINE, (P("x"), P("x")), P("x"), real(8, 4, 4), real(8, 4, 2))
def batched_solve(a, b):
    return jnp.linalg.solve(a + 6 * jnp.eye(4), b)


@program(SQUARE, (P("x", "y"),), (P("x"), P("x"), P("x")), real(4, 2, 5, 3))
def batched_factors(a):
    s = jnp.swapaxes(a, -1, -2) @ a + jnp.eye(3)
    q, r = jnp.linalg.qr(a)
    return jnp.linalg.cholesky(s), jnp.linalg.eigvalsh(s), q @ r


@program(SQUARE, (XY,), (P(), P("x"), P()), real(6, 6))
def factors_of_one_matrix(a):
    u, s, v = jnp.linalg.svd(a)
    return s, (u * s) @ v, jnp.linalg.slogdet(a)[1]
