"""A transformer layer with its gradient, as StableHLO text: layer.mlir beside this file.

    pip install jax==0.10.2 && python examples/layer/layer.py
    heddle plan examples/layer/layer.mlir --mesh dp=2,tp=4 --plan examples/layer/megatron.json

gives Megatron's two all-reduces forward and two backward over tp.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

BATCH, TOKENS, WIDTH, HEADS, INNER = 8, 32, 64, 8, 256


def normed(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def attention(x, wq, wk, wv, wo):
    q, k, v = ((x @ w).reshape(BATCH, TOKENS, HEADS, WIDTH // HEADS) for w in (wq, wk, wv))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (WIDTH // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return mixed.reshape(BATCH, TOKENS, WIDTH) @ wo


def layer(x, wq, wk, wv, wo, w1, w2):
    x = x + attention(normed(x), wq, wk, wv, wo)
    return x + jax.nn.gelu(normed(x) @ w1) @ w2


def with_gradient(x, wq, wk, wv, wo, w1, w2, dy):
    y, pull = jax.vjp(layer, x, wq, wk, wv, wo, w1, w2)
    return y, *pull(dy)


if __name__ == "__main__":
    shapes = [(BATCH, TOKENS, WIDTH), *[(WIDTH, WIDTH)] * 4, (WIDTH, INNER), (INNER, WIDTH)]
    arguments = [jax.ShapeDtypeStruct(s, jnp.float32) for s in [*shapes, shapes[0]]]
    text = jax.jit(with_gradient).lower(*arguments).as_text()
    Path(__file__).with_name("layer.mlir").write_text(text, encoding="utf-8")
