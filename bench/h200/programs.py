"""Memory-bound programs for a GPU, as JAX functions; `bytes` is the least that each has to move.

Inputs and results are counted once. What is computed in float32 is read and written as bfloat16
where the name says so.
"""

import math
from dataclasses import dataclass
from typing import Callable

import jax
import jax.numpy as jnp
from jax import lax

F32, BF16 = jnp.float32, jnp.bfloat16


@dataclass
class Program:
    name: str
    function: Callable
    arguments: list  # of jax.ShapeDtypeStruct
    bytes: int
    sweeps: int = 1


PROGRAMS = []


def struct(*shape, dtype=BF16):
    return jax.ShapeDtypeStruct(shape, dtype)


def size(struct_):
    return math.prod(struct_.shape) * struct_.dtype.itemsize


def add(name, function, *arguments, sweeps=1):
    results = jax.tree.leaves(jax.eval_shape(function, *arguments))
    least = sum(map(size, jax.tree.leaves(arguments))) + sum(map(size, results))
    PROGRAMS.append(Program(name, function, list(arguments), least * sweeps, sweeps))


def softmax(x):
    x = x.astype(F32)
    powers = jnp.exp(x - x.max(-1, keepdims=True))
    return (powers / powers.sum(-1, keepdims=True)).astype(BF16)


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def normalised(h, gain, shift):
    centred = h - h.mean(-1, keepdims=True)
    scale = lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred * scale * gain.astype(F32) + shift.astype(F32)


def gelu_residual_norm(x, residual, bias, gain, shift):
    h = gelu(x.astype(F32) + bias.astype(F32)) + residual.astype(F32)
    return normalised(h, gain, shift).astype(BF16), h.astype(BF16)


def norm_backward(dy, x, gain, mean, scale):
    dy, hat = dy.astype(F32), (x.astype(F32) - mean) * scale
    weighted = dy * gain.astype(F32)
    along = (weighted * hat).mean(-1, keepdims=True) * hat + weighted.mean(-1, keepdims=True)
    return ((weighted - along) * scale).astype(BF16), (dy * hat).sum(0), dy.sum(0)


def residual_norm_int8(x, residual, gain):
    h = x.astype(F32) + residual.astype(F32)
    y = h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-6) * gain.astype(F32)
    step = jnp.abs(y).max(-1, keepdims=True) / 127
    return jnp.clip(jnp.round(y / step), -127, 127).astype(jnp.int8), step, h.astype(BF16)


def masked_softmax(scores, mask):
    return softmax(jnp.where(mask, scores.astype(F32) * 0.125, -1e30))


def softmax_backward(p, dp):
    p, dp = p.astype(F32), dp.astype(F32)
    return (p * (dp - (p * dp).sum(-1, keepdims=True))).astype(BF16)


def cross_entropy(logits, labels):
    x = logits.astype(F32)
    top = x.max(-1, keepdims=True)
    powers = jnp.exp(x - top)
    total = powers.sum(-1, keepdims=True)
    chosen = jnp.arange(x.shape[1])[None] == labels[:, None]
    loss = (jnp.log(total) + top)[:, 0] - jnp.where(chosen, x, 0).sum(-1)
    return loss.mean(), ((powers / total - chosen) / x.shape[0]).astype(BF16)


def gelu_gradient(x, dy):
    x, dy = x.astype(F32), dy.astype(F32)
    dx = dy * jax.vmap(jax.vmap(jax.grad(gelu)))(x)
    return dx.astype(BF16), dx.sum(0)


def group_norm(x, gain, shift):
    b, h, w, c = x.shape
    g = x.astype(F32).reshape(b, h * w, 32, c // 32)
    centred = g - g.mean((1, 3), keepdims=True)
    g = centred * lax.rsqrt((centred**2).mean((1, 3), keepdims=True) + 1e-5)
    y = g.reshape(b, h, w, c) * gain.astype(F32) + shift.astype(F32)
    return (y * jax.nn.sigmoid(y)).astype(BF16)


def adam(weights, gradients, first, second):
    out = []
    for w, g, m, v in zip(weights, gradients, first, second):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        out.append((w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v))
    return out


def black_scholes(price, strike, years):
    rate, spread = 0.02, 0.3
    root = spread * jnp.sqrt(years)
    d1 = (jnp.log(price / strike) + (rate + spread * spread / 2) * years) / root
    d2 = d1 - root
    below = lambda d: 0.5 * (1 + lax.erf(d / math.sqrt(2)))
    later = strike * jnp.exp(-rate * years)
    call = price * below(d1) - later * below(d2)
    return call, call - price + later


def jacobi(x):
    for _ in range(8):
        inner = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        x = x.at[1:-1, 1:-1].set(inner)
    return x


def transposed_norm(x, gain, shift):
    return normalised(jnp.moveaxis(x.astype(F32), 1, -1), gain, shift).astype(BF16)


def gated_chain(h, gate, bias):
    for _ in range(64):
        z = jax.nn.sigmoid(h * gate + bias)
        h = z * h + (1 - z) * jnp.tanh(h + bias)
    return h


ROWS, WIDTH = 16384, 4096
for rows, columns in [(65536, 1024), (16384, 4096), (2048, 32768), (512, 131072)]:
    add(f"softmax {rows}x{columns}", softmax, struct(rows, columns))
wide, narrow = struct(ROWS, WIDTH), struct(WIDTH)
add("bias+gelu+residual+layernorm", gelu_residual_norm, wide, wide, narrow, narrow, narrow)
add("layernorm backward", norm_backward, wide, wide, narrow, struct(ROWS, 1, dtype=F32),
    struct(ROWS, 1, dtype=F32))
add("residual+rmsnorm+int8", residual_norm_int8, wide, wide, narrow)
scores = struct(8, 16, 2048, 2048)
add("masked softmax", masked_softmax, scores, struct(8, 1, 2048, 2048, dtype=jnp.bool_))
add("softmax backward", softmax_backward, scores, scores)
add("cross entropy+gradient", cross_entropy, struct(4096, 128256), struct(4096, dtype=jnp.int32))
add("gelu gradient+column sum", gelu_gradient, struct(65536, 2048), struct(65536, 2048))
add("groupnorm+silu", group_norm, struct(64, 64, 64, 320), struct(320), struct(320))
tensors = [struct(*s, dtype=F32) for s in [(50257, 1024)] + [(1024, 4096), (4096,), (1024,), (1024, 1024)] * 97]
add("adam 389 tensors", adam, tensors, tensors, tensors, tensors)
add("black-scholes 2^27", black_scholes, *[struct(1 << 27, dtype=F32)] * 3)
add("jacobi 16384^2 x8", jacobi, struct(16384, 16384, dtype=F32), sweeps=8)
add("cumsum 8192x16384", lambda x: jnp.cumsum(x, 1), struct(8192, 16384, dtype=F32))
add("transpose+layernorm", transposed_norm, struct(64, 1024, 32, 32), struct(1024), struct(1024))
add("gated chain, 64 steps", gated_chain, *[struct(256, 512, dtype=F32)] * 3)
