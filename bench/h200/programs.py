"""Memory-bound programs for a GPU, as JAX functions; `bytes` is the least that each has to move.

Inputs and results are counted once, and what a sweep reads and writes once for each sweep. What is
computed in float32 is read and written as bfloat16 where nothing else is said. peers.py has the same
programs for torch.
"""

import math
from dataclasses import dataclass
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

F32, BF16 = jnp.float32, jnp.bfloat16
F8 = jnp.float8_e4m3fn


@dataclass(frozen=True)
class Argument:
    """An array, and the random numbers that it has."""
    shape: tuple
    dtype: object = BF16
    draw: str = "normal"  # "size": of a normal number; "low,high": even
    def struct(self):
        return jax.ShapeDtypeStruct(self.shape, self.dtype)

    def count(self):
        return math.prod(self.shape)

    def numbers(self, generator, most):
        """As many as there are, or `most` of them, to be repeated."""
        count = min(self.count(), most)
        if self.dtype == jnp.bool_:
            return generator.random(count) < 0.9
        if "," in self.draw:
            low, high = map(float, self.draw.split(","))
            return (low + (high - low) * generator.random(count)).astype(self.dtype)
        drawn = generator.standard_normal(count, np.float32)
        return (np.abs(drawn) if self.draw == "size" else drawn).astype(self.dtype)


@dataclass
class Program:
    name: str
    function: Callable
    arguments: list  # of Argument, and lists of them
    bytes: int

    def structs(self):
        return jax.tree.map(Argument.struct, self.arguments)

    def leaves(self):
        return jax.tree.leaves(self.arguments)

    def text(self):
        return jax.jit(self.function, keep_unused=True).lower(*self.structs()).as_text()


PROGRAMS = []


def size(struct):
    return math.prod(struct.shape) * struct.dtype.itemsize


def add(name, function, *arguments, sweeps=1):
    program = Program(name, function, list(arguments), 0)
    structs = program.structs()
    results = jax.tree.leaves(jax.eval_shape(function, *structs))
    program.bytes = sweeps * sum(map(size, jax.tree.leaves(structs) + results))
    PROGRAMS.append(program)


def softmax(x):
    return jax.nn.softmax(x.astype(F32), -1).astype(BF16)


def normalised(h, gain, shift):
    centred = h - h.mean(-1, keepdims=True)
    scale = lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred * scale * gain.astype(F32) + shift.astype(F32)


def gelu_residual_norm(x, residual, bias, gain, shift):
    h = jax.nn.gelu(x.astype(F32) + bias.astype(F32), approximate=True) + residual.astype(F32)
    return normalised(h, gain, shift).astype(BF16), h.astype(BF16)


def norm_backward(dy, x, gain, mean, scale):
    dy, hat = dy.astype(F32), (x.astype(F32) - mean) * scale
    weighted = dy * gain.astype(F32)
    along = (weighted * hat).mean(-1, keepdims=True) * hat + weighted.mean(-1, keepdims=True)
    return ((weighted - along) * scale).astype(BF16), (dy * hat).sum(0), dy.sum(0)


def rms_normalised(h, gain):
    return h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-6) * gain.astype(F32)


def residual_norm_int8(x, residual, gain):
    h = x.astype(F32) + residual.astype(F32)
    y = rms_normalised(h, gain)
    step = jnp.abs(y).max(-1, keepdims=True) / 127
    return jnp.clip(jnp.round(y / step), -127, 127).astype(jnp.int8), step, h.astype(BF16)


def norm_fp8(x, gain):
    y = rms_normalised(x.astype(F32), gain)
    blocks = y.reshape(y.shape[0], -1, 128)
    step = jnp.maximum(jnp.abs(blocks).max(-1, keepdims=True) / 448, 1e-30)
    return (blocks / step).astype(F8).reshape(y.shape), step[..., 0]


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
    chosen = jnp.take_along_axis(x, labels[:, None], 1)[:, 0]
    loss = (jnp.log(total) + top)[:, 0] - chosen
    is_label = (jnp.arange(x.shape[1])[None] == labels[:, None]).astype(F32)
    return loss.mean(), ((powers / total - is_label) / x.shape[0]).astype(BF16)


def gelu_gradient(x, dy):
    x, dy = x.astype(F32), dy.astype(F32)
    open_ = jax.nn.sigmoid(1.702 * x)
    dx = dy * (open_ * (1 + 1.702 * x * (1 - open_)))
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


def lamb(weights, gradients, first, second):
    out = []
    for w, g, m, v in zip(weights, gradients, first, second):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        step = m / (jnp.sqrt(v) + 1e-6) + 0.01 * w
        trust = jnp.sqrt((w * w).sum()) / jnp.sqrt((step * step).sum())
        out.append((w - 1e-3 * trust * step, m, v))
    return out


def black_scholes(price, strike, years):
    rate, spread = 0.02, 0.3
    root = spread * jnp.sqrt(years)
    d1 = (jnp.log(price / strike) + (rate + 0.5 * spread * spread) * years) / root
    d2 = d1 - root
    below = lambda d: 0.5 * (1 + lax.erf(d * 0.70710678))
    later = strike * jnp.exp(-rate * years)
    return price * below(d1) - later * below(d2), later * below(-d2) - price * below(-d1)


def jacobi(x):
    for _ in range(8):
        x = jnp.pad(0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]), 1)
    return x


def transposed_norm(x, gain, shift):
    tokens = x.astype(F32).reshape(x.shape[0], x.shape[1], -1).transpose(0, 2, 1)
    return normalised(tokens, gain, shift).astype(BF16)


def recurrence(h, steps, weight):
    for t in range(steps.shape[0]):
        z = jax.nn.sigmoid(steps[t] * weight + h)
        n = jnp.tanh(steps[t] + z * h)
        h = (1 - z) * n + z * h
        h = h / jnp.sqrt(1e-5 + (h * h).mean(-1, keepdims=True))
    return h


def bert_shapes(layers, width):
    """Those of BERT, 389 in its large form."""
    wide = 4 * width
    shapes = [(30 * width - 198, width), (width // 2, width), (2, width), (width,), (width,)]
    for _ in range(layers):
        shapes += [(width, width), (width,)] * 4 + [(width,)] * 2
        shapes += [(wide, width), (wide,), (width, wide), (width,)] + [(width,)] * 2
    return shapes


def add_all(scale=1):
    """All programs; `scale` divides their sizes, for tests."""
    PROGRAMS.clear()
    cut = lambda n, least=1: max(n // scale, least)
    for rows, columns in [(65536, 1024), (16384, 4096), (2048, 32768), (512, 131072)]:
        add(f"softmax {rows}x{columns}", softmax, Argument((cut(rows), cut(columns))))
    rows, width = cut(16384), cut(4096, 128)
    wide, narrow = Argument((rows, width)), Argument((width,))
    row = Argument((rows, 1), F32)
    add("bias+gelu+residual+layernorm", gelu_residual_norm, wide, wide, narrow, narrow, narrow)
    add("layernorm backward", norm_backward, wide, wide, narrow, row, Argument((rows, 1), F32, "size"))
    add("residual+rmsnorm+int8", residual_norm_int8, wide, wide, narrow)
    add("rmsnorm+fp8 in blocks", norm_fp8, wide, narrow)
    scores = Argument((cut(8), 16, cut(2048), cut(2048)))
    add("masked softmax", masked_softmax, scores, Argument((scores.shape[0], 1, *scores.shape[2:]), jnp.bool_))
    add("softmax backward", softmax_backward, scores, scores)
    tokens, words = cut(4096), cut(128256)
    add("cross entropy+gradient", cross_entropy, Argument((tokens, words)),
        Argument((tokens,), jnp.int32, f"0,{words}"))
    tall = Argument((cut(65536), cut(2048)))
    add("gelu gradient+column sum", gelu_gradient, tall, tall)
    channels = Argument((320,))
    add("groupnorm+silu", group_norm, Argument((cut(64), cut(64), cut(64), 320)), channels, channels)
    shapes = bert_shapes(cut(24), cut(1024, 16))
    normal, size_ = ([Argument(s, F32, draw) for s in shapes] for draw in ("normal", "size"))
    add("adam 389 tensors", adam, normal, normal, normal, size_)
    add("lamb 389 tensors", lamb, normal, normal, normal, size_)
    worth = Argument((cut(1 << 27),), F32, "10,100")
    add("black-scholes 2^27", black_scholes, worth, worth, Argument(worth.shape, F32, "0.1,1.1"))
    side = cut(16384)
    add("jacobi 16384^2 x8", jacobi, Argument((side, side), F32), sweeps=8)
    add("cumsum 8192x16384", lambda x: jnp.cumsum(x, -1), Argument((cut(8192), cut(16384)), F32))
    deep = cut(1024, 32)
    add("transpose+layernorm", transposed_norm, Argument((cut(64), deep, 32, 32)), Argument((deep,)), Argument((deep,)))
    h = Argument((cut(256), 512), F32)
    add("recurrence, 64 steps", recurrence, h, Argument((64, *h.shape), F32), Argument((512,), F32))


add_all()
