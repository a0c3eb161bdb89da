"""The programs of the benchmark, written once against `Space` (space.py).

Each is float32 arithmetic on whole arrays, as a user would write it; NumPy, JAX and torch run the
same lines. Names, shapes and seeds are fixed, so that figures of different days compare.
"""
from dataclasses import dataclass
from typing import Callable

import numpy as np

MEMORY, MATRIX, TINY, CALL = "memory-bound", "matrix", "tiny", "call"
# Inputs and results together; less than this stays in a core's own cache.
CACHED_BYTES = 1 << 20


@dataclass
class Program:
    name: str
    kind: str  # MEMORY, MATRIX, TINY or CALL
    function: Callable  # (space, *arrays) -> array or sequence of arrays
    inputs: Callable  # () -> list of NumPy arrays
    sweeps: int = 1  # how often inputs and results have to pass through memory
    quantises: bool = False  # integers may differ by one where a float lies between two
    for_jax: bool = False  # has no words in the other libraries


PROGRAMS = []


def program(name, inputs, kind=MEMORY, **more):
    """Adds the decorated function to PROGRAMS."""

    def add(function):
        PROGRAMS.append(Program(name, kind, function, inputs, **more))
        return function

    return add


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def positive(*shape, seed=0):
    return np.abs(normal(*shape, seed=seed)) + np.float32(0.1)


def tanh_gelu(s, x):
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + s.tanh(inner))


def normalised(s, h, gain, bias):
    """Layer norm over the last axis."""
    centred = h - s.mean(h, -1)
    variance = s.mean(centred * centred, -1)
    return centred * s.rsqrt(variance + 1e-5) * gain + bias


def softmax(s, x):
    powers = s.exp(x - s.max(x, -1))
    return powers / s.sum(powers, -1)


def add_softmax(rows, columns):
    program(f"softmax {rows}x{columns}", lambda: [normal(rows, columns)])(softmax)


add_softmax(65536, 256)
add_softmax(8192, 2048)
add_softmax(256, 65536)


@program(
    "bias+gelu+res+layernorm 8192x2048",
    lambda: [normal(8192, 2048), normal(8192, 2048, seed=1)] + [normal(2048)] * 3,
)
def bias_gelu_residual_layernorm(s, x, residual, bias, gain, shift):
    h = tanh_gelu(s, x + bias) + residual
    return normalised(s, h, gain, shift), h


@program(
    "layernorm backward 8192x2048",
    lambda: [
        normal(8192, 2048),
        normal(8192, 2048, seed=1),
        normal(2048),
        normal(8192, 1),
        positive(8192, 1),
    ],
)
def layernorm_backward(s, dy, x, gain, mean, scale):
    unit = (x - mean) * scale
    weighted = dy * gain
    along = s.mean(unit * weighted, -1)
    level = s.mean(weighted, -1)
    dx = (weighted - (unit * along + level)) * scale
    return dx, s.sum(dy * unit, 0, keep=False), s.sum(dy, 0, keep=False)


@program(
    "res+rmsnorm+rowquant int8 8192x2048",
    lambda: [normal(8192, 2048), normal(8192, 2048, seed=1), normal(2048)],
    quantises=True,
)
def residual_rmsnorm_quantise(s, x, residual, gain):
    h = x + residual
    unit = h * s.rsqrt(s.mean(h * h, -1) + 1e-6) * gain
    step = s.max(s.abs(unit), -1) / 127.0
    return s.to_int8(s.round(unit / step)), step, h


@program(
    "masked softmax 4x8x1024x1024",
    lambda: [
        normal(4, 8, 1024, 1024),
        np.random.default_rng(1).random((4, 1, 1024, 1024)) > 0.1,
    ],
)
def masked_softmax(s, scores, mask):
    return softmax(s, s.where(mask, scores * 0.125, -1e30))


@program(
    "softmax backward 4x8x1024x1024",
    lambda: [normal(4, 8, 1024, 1024), normal(4, 8, 1024, 1024, seed=1)],
)
def softmax_backward(s, shares, gradient):
    return shares * (gradient - s.sum(shares * gradient, -1))


VOCABULARY = 50257


@program(
    "cross entropy+grad 512x50257",
    lambda: [
        normal(512, VOCABULARY),
        np.random.default_rng(1).integers(0, VOCABULARY, (512, 1)).astype(np.int32),
    ],
)
def cross_entropy(s, logits, labels):
    peak = s.max(logits, -1)
    powers = s.exp(logits - peak)
    total = s.sum(powers, -1)
    chosen = s.to_float(s.arange(VOCABULARY)[None] == labels)
    loss = s.mean(s.log(total) + peak - s.sum(logits * chosen, -1), 0, keep=False)
    return loss, (powers / total - chosen) / 512


@program(
    "gelu-grad + column sum 16384x1024",
    lambda: [normal(16384, 1024), normal(16384, 1024, seed=1)],
)
def gelu_gradient(s, x, upstream):
    gate = s.sigmoid(1.702 * x)
    gradient = upstream * (gate * (1 + 1.702 * x * (1 - gate)))
    return gradient, s.sum(gradient, 0, keep=False)


@program(
    "groupnorm+silu NHWC 16x64x64x320",
    lambda: [normal(16, 64, 64, 320), normal(320), normal(320)],
)
def groupnorm_silu(s, image, gain, shift):
    groups = image.reshape(16, 64 * 64, 32, 10)
    centred = groups - s.mean(groups, (1, 3))
    variance = s.mean(centred * centred, (1, 3))
    h = (centred * s.rsqrt(variance + 1e-5)).reshape(16, 64, 64, 320) * gain + shift
    return h * s.sigmoid(h)


# The parameters of a small transformer: an embedding, square and long matrices with their biases.
PARAMETERS = [(8192, 512)] + 40 * [(512, 512), (512,)] + 10 * [(2048, 512), (2048,)]


def optimizer_state():
    """Parameters, gradients, first and second moments."""
    state = [normal(*shape, seed=k) for k in range(3) for shape in PARAMETERS]
    return state + [positive(*shape, seed=3) for shape in PARAMETERS]


def quarters(arrays):
    n = len(arrays) // 4
    return zip(arrays[:n], arrays[n : 2 * n], arrays[2 * n : 3 * n], arrays[3 * n :])


def moments(g, m, v):
    return 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g


@program("adam 101 tensors", optimizer_state)
def adam(s, *arrays):
    results = []
    for p, g, m, v in quarters(arrays):
        m, v = moments(g, m, v)
        results += [p - 1e-3 * m / (s.sqrt(v) + 1e-8), m, v]
    return results


@program("lamb 101 tensors", optimizer_state)
def lamb(s, *arrays):
    results = []
    for p, g, m, v in quarters(arrays):
        m, v = moments(g, m, v)
        step = m / (s.sqrt(v) + 1e-6) + 0.01 * p
        trust = s.sqrt((p * p).sum()) / s.sqrt((step * step).sum())
        results += [p - 1e-3 * trust * step, m, v]
    return results


@program("black-scholes 2^23", lambda: [positive(1 << 23, seed=k) for k in range(3)])
def black_scholes(s, spot, strike, years):
    def cumulative(x):
        return 0.5 * (1 + s.erf(x * 0.70710678))

    spread = 0.3 * s.sqrt(years)
    upper = (s.log(spot / strike) + 0.065 * years) / spread
    lower = upper - spread
    present = strike * s.exp(-0.02 * years)
    call = spot * cumulative(upper) - present * cumulative(lower)
    return call, present * cumulative(-lower) - spot * cumulative(-upper)


@program("jacobi 4096^2 x8", lambda: [normal(4096, 4096)], sweeps=8)
def jacobi(s, u):
    for _ in range(8):
        p = s.with_zero_border(u)
        u = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])
    return u


@program("cumsum 4096x4096", lambda: [normal(4096, 4096)])
def cumsum(s, x):
    return s.cumsum(x, 1)


@program(
    "transpose+layernorm 16x1024x32x32",
    lambda: [normal(16, 1024, 32, 32), normal(1024), normal(1024)],
)
def transpose_layernorm(s, image, gain, shift):
    tokens = s.permute(image.reshape(16, 1024, 1024), (0, 2, 1))
    return normalised(s, tokens, gain, shift)


@program(
    "dot-product chain (cg vectors) 2^24",
    lambda: [normal(1 << 24, seed=k) for k in range(4)],
)
def conjugate_gradient_vectors(s, x, residual, direction, image):
    before = (residual * residual).sum()
    step = before / (direction * image).sum()
    new_residual = residual - step * image
    ratio = (new_residual * new_residual).sum() / before
    return x + step * direction, new_residual, new_residual + ratio * direction


@program(
    "gru chain 64 steps 256x128",
    lambda: [normal(256, 128), normal(128), normal(128, seed=1)],
    kind=TINY,
)
def gru_chain(s, h, a, b):
    for _ in range(64):
        gate = s.sigmoid(h * a + b)
        h = gate * h + (1 - gate) * s.tanh(h * b + a)
    return h


def attention(s, x, weights):
    """Eight heads of 64 over 256 tokens."""
    qkv = s.permute((x @ weights).reshape(4, 256, 3, 8, 64), (2, 0, 3, 1, 4))
    scores = (qkv[0] @ s.permute(qkv[1], (0, 1, 3, 2))) * 0.125
    return s.permute(softmax(s, scores) @ qkv[2], (0, 2, 1, 3)).reshape(4, 256, 512)


@program(
    "transformer block forward 4x256x512",
    lambda: [
        normal(4, 256, 512),
        normal(512, 1536) / 23,
        normal(512, 512) / 23,
        normal(512, 2048) / 23,
        normal(2048, 512) / 45,
        normal(512),
        normal(512),
    ],
    kind=MATRIX,
)
def transformer_block(s, x, w_qkv, w_out, w_up, w_down, gain, shift):
    h = x + attention(s, normalised(s, x, gain, shift), w_qkv) @ w_out
    return h + tanh_gelu(s, normalised(s, h, gain, shift) @ w_up) @ w_down


# Tiny: what a call costs beside its arithmetic.


@program("tiny softmax 32x64", lambda: [normal(32, 64)], kind=TINY)
def tiny_softmax(s, x):
    return softmax(s, x)


@program(
    "tiny bias+gelu+layernorm 16x256",
    lambda: [normal(16, 256)] + [normal(256, seed=k) for k in range(1, 4)],
    kind=TINY,
)
def tiny_layernorm(s, x, bias, gain, shift):
    return normalised(s, tanh_gelu(s, x + bias), gain, shift)


@program(
    "tiny adam 4 tensors 8x64",
    lambda: [normal(8, 64, seed=k) for k in range(12)]
    + [positive(8, 64, seed=k) for k in range(4)],
    kind=TINY,
)
def tiny_adam(s, *arrays):
    return adam(s, *arrays)


@program("tiny polynomial 1024", lambda: [normal(1024)], kind=TINY)
def tiny_polynomial(s, x):
    return ((0.1 * x + 0.2) * x + 0.3) * x + 0.4


@program(
    "tiny mean squared error 64x64",
    lambda: [normal(64, 64), normal(64, 64, seed=1)],
    kind=TINY,
)
def tiny_error(s, x, y):
    difference = x - y
    return s.mean(difference * difference, (0, 1), keep=False), 2 * difference / 4096


# Calls: what stands beside kernels, and loops of scalars.


def complex_normal(*shape):
    return (normal(*shape) + 1j * normal(*shape, seed=1)).astype(np.complex64)


def call(name, inputs, **more):
    return program(name, inputs, kind=CALL, **more)


@call("fft 16x10007", lambda: [complex_normal(16, 10007)])
def fft(s, x):
    return s.module.fft.fft(x)


@call("fft2 4x256x256", lambda: [complex_normal(4, 256, 256)])
def fft2(s, x):
    return s.module.fft.fft2(x)


@call("rfft 64x4096", lambda: [normal(64, 4096)])
def rfft(s, x):
    return s.module.fft.rfft(x)


@call("irfft2 to 8x128x128", lambda: [complex_normal(8, 128, 65)])
def irfft2(s, x):
    return s.module.fft.irfft2(x)


def small_integers(dtype, *shape, seed=0):
    return np.random.default_rng(seed).integers(-100, 100, shape).astype(dtype)


def float8(*shape, seed=0):
    import ml_dtypes

    return normal(*shape, seed=seed).astype(ml_dtypes.float8_e4m3fn)


def product_in(wide):
    def function(s, x, y):
        import jax

        dimensions = (((1,), (0,)), ((), ()))
        return jax.lax.dot_general(x, y, dimensions, preferred_element_type=wide)

    return function


def pair(make, *shape):
    return lambda: [make(*shape), make(*shape, seed=1)]


call("product 256 f8", pair(float8, 256, 256), for_jax=True)(product_in("float32"))
call(
    "product 256 i8 to i32",
    pair(lambda *s, seed=0: small_integers(np.int8, *s, seed=seed), 256, 256),
    for_jax=True,
)(product_in("int32"))
call(
    "product 256 i32",
    pair(lambda *s, seed=0: small_integers(np.int32, *s, seed=seed), 256, 256),
    for_jax=True,
)(product_in("int32"))
# Eighths, so that sums in f16 and in f32 are the same.
call(
    "product 384 f16",
    pair(lambda *s, seed=0: (small_integers(np.int8, *s, seed=seed) // 25 / 8).astype(np.float16), 384, 384),
    for_jax=True,
)(product_in("float16"))


def places(count, among, seed=3):
    return np.random.default_rng(seed).integers(0, among, count).astype(np.int32)


@call("scatter-add 300k into 10k", lambda: [normal(10_000), places(300_000, 10_000), normal(300_000)], for_jax=True)
def scatter_add(s, x, at, updates):
    return x.at[at].add(updates)


@call("f8 convert 500k", lambda: [normal(500_000)], for_jax=True)
def convert_float8(s, x):
    return x.astype("float8_e4m3fn").astype("float32") * 2


@call("complex exp 300k", lambda: [complex_normal(300_000)])
def complex_exp(s, z):
    return s.exp(z)


@call("sort 1M", lambda: [normal(1_000_000)])
def sort(s, x):
    return s.module.sort(x) if s.module.__name__ != "torch" else s.module.sort(x).values


@call("top 8 of 4096x4096", lambda: [normal(4096, 4096)], for_jax=True)
def top_k(s, x):
    import jax

    return jax.lax.top_k(x, 8)


@call("100k turns of scalars", lambda: [np.float32(0.3)], for_jax=True)
def scalar_turns(s, x):
    import jax

    return jax.lax.fori_loop(0, 100_000, lambda i, x: 3.7 * x * (1 - x), x)


@call("scan of 100k scalars", lambda: [np.float32(0.3), normal(100_000)], for_jax=True)
def scalar_scan(s, x, values):
    import jax

    def turn(kept, value):
        kept = 0.9 * kept + 0.1 * value
        return kept, kept * kept

    return jax.lax.scan(turn, x, values)


@call("100k turns of 8 numbers", lambda: [normal(8)], for_jax=True)
def vector_turns(s, x):
    import jax

    return jax.lax.fori_loop(0, 100_000, lambda i, x: 0.5 * (x + s.module.roll(x, 1)) + 0.01, x)
