"""Whole training steps as JAX users write them. A step is a function of parameters, the optimiser's state and a
batch, and gives back the same with the loss; arrays come in flat lists, in the order that steps_torch.py has them too."""
from dataclasses import dataclass
from typing import Callable

import numpy as np

ADAM, MOMENTUM = "adam", "momentum"


@dataclass
class Step:
    name: str
    shapes: list  # of parameters
    batch: Callable  # () -> list of NumPy arrays
    loss: Callable | None  # (parameters, *batch) -> number; None where gradients are the batch
    optimiser: str = ADAM
    dtype: str = "float32"
    tolerance: float = 1e-2  # of a result's largest number, between libraries

    def state_count(self):
        """How many arrays the optimiser keeps for each parameter."""
        return 2 if self.optimiser == ADAM else 1

    def inputs(self):
        """Parameters, moments, batch."""
        import ml_dtypes

        dtype = ml_dtypes.bfloat16 if self.dtype == "bfloat16" else np.float32
        parameters = [initial(shape, k).astype(dtype) for k, shape in enumerate(self.shapes)]
        moments = [np.zeros(shape, dtype) for shape in self.shapes]
        # No zeros: the first step of Adam would be the sign of each gradient, which rounding decides for the small ones.
        squares = [np.full(shape, 1e-3, dtype) for shape in self.shapes] if self.state_count() == 2 else []
        return parameters + moments + squares + self.batch()


STEPS = {}


def add(step):
    STEPS[step.name] = step


def initial(shape, seed):
    """Weights by what goes in, gains and biases next to one and zero by turns of their place."""
    numbers = np.random.default_rng(seed)
    if len(shape) == 1:
        return (1 + 0.05 * numbers.normal(size=shape)).astype(np.float32)
    inputs = int(np.prod(shape[:-1]))
    few = numbers.normal(size=min(int(np.prod(shape)), 1 << 20)).astype(np.float32)
    return np.resize(few, shape) / np.float32(np.sqrt(min(inputs, 4096)))


def tokens(rows, length, vocabulary, seed=1):
    return np.random.default_rng(seed).integers(0, vocabulary, (rows, length)).astype(np.int32)


def images(*shape, seed=2):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# ---- the step itself


def updated(step, gradients, parameters, state):
    import jax.numpy as jnp

    n = len(parameters)
    if step.optimiser == MOMENTUM:
        moments = [0.9 * m + g for m, g in zip(state, gradients)]
        return [p - 1e-3 * m for p, m in zip(parameters, moments)] + moments
    moments = [0.9 * m + 0.1 * g for m, g in zip(state[:n], gradients)]
    squares = [0.999 * v + 0.001 * g * g for v, g in zip(state[n:], gradients)]
    changed = [
        p * (1 - 1e-5) - 1e-4 * m / (jnp.sqrt(v) + 1e-8)
        for p, m, v in zip(parameters, moments, squares)
    ]
    return changed + moments + squares


def function_of(step):
    """One step of `step` on a flat list of arrays; results are what goes into the next one, and the loss."""
    import jax

    n = len(step.shapes)
    kept = n * (1 + step.state_count())

    def run(*arrays):
        parameters, state, batch = arrays[:n], arrays[n:kept], arrays[kept:]
        if step.loss is None:
            return tuple(updated(step, batch, parameters, state))
        value, gradients = jax.value_and_grad(step.loss)(list(parameters), *batch)
        return (*updated(step, gradients, parameters, state), value)

    return run


# ---- parts of models


def norm(x, gain, shift):
    import jax
    import jax.numpy as jnp

    centred = x - jnp.mean(x, -1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + 1e-5) * gain + shift


def cross_entropy(logits, labels):
    import jax
    import jax.numpy as jnp

    logs = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], -1))


def attend(q, k, v):
    """Causal, of arrays with heads last but one."""
    import jax
    import jax.numpy as jnp

    length, size = q.shape[1], q.shape[-1]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * np.asarray(size**-0.5, q.dtype)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, np.asarray(-1e9, q.dtype))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


# ---- GPT-2


def gpt_shapes(layers, width, vocabulary, length):
    block = [(width,), (width,), (width, 3 * width), (3 * width,), (width, width), (width,)]
    block += [(width,), (width,), (width, 4 * width), (4 * width,), (4 * width, width), (width,)]
    return [(vocabulary, width), (length, width)] + block * layers + [(width,), (width,)]


def gpt_loss(heads):
    def loss(parameters, text):
        import jax

        embedding, places, *blocks, gain, shift = parameters
        inputs, wanted = text[:, :-1], text[:, 1:]
        rows, length = inputs.shape
        x = embedding[inputs] + places[:length]
        for at in range(0, len(blocks), 12):
            g1, b1, qkv, qkv_b, out, out_b, g2, b2, up, up_b, down, down_b = blocks[at : at + 12]
            parts = (norm(x, g1, b1) @ qkv + qkv_b).reshape(rows, length, 3, heads, -1)
            mixed = attend(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2])
            x = x + mixed.reshape(rows, length, -1) @ out + out_b
            x = x + jax.nn.gelu(norm(x, g2, b2) @ up + up_b) @ down + down_b
        return cross_entropy(norm(x, gain, shift) @ embedding.T, wanted)

    return loss


GPT2 = gpt_shapes(12, 768, 50257, 1024)
add(Step("gpt2 124M, 1x256", GPT2, lambda: [tokens(1, 257, 50257)], gpt_loss(12)))
add(
    Step(
        "gpt narrow, 6 of 256, 8x256",
        gpt_shapes(6, 256, 8192, 256),
        lambda: [tokens(8, 257, 8192)],
        gpt_loss(8),
    )
)
add(Step("adam of gpt2 124M", GPT2, lambda: [0.01 * initial(s, 7) for s in GPT2], None))


# ---- a LLaMA-like model in bf16


def llama_shapes(layers, width, hidden, vocabulary):
    block = [(width,), (width, 3 * width), (width, width), (width,), (width, 2 * hidden), (hidden, width)]
    return [(vocabulary, width)] + block * layers + [(width,), (width, vocabulary)]


def scaled(x, gain):
    import jax
    import jax.numpy as jnp

    wide = x.astype(jnp.float32)
    scale = jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)
    return (wide * scale).astype(x.dtype) * gain


def turned(x):
    """Rotary places of (rows, length, heads, size)."""
    import jax.numpy as jnp

    length, half = x.shape[1], x.shape[-1] // 2
    angles = np.arange(length)[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = (f(angles)[None, :, None].astype(np.float32) for f in (np.cos, np.sin))
    a, b = x[..., :half].astype(jnp.float32), x[..., half:].astype(jnp.float32)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def llama_loss(heads):
    def loss(parameters, text):
        import jax
        import jax.numpy as jnp

        embedding, *blocks, gain, head = parameters
        inputs, wanted = text[:, :-1], text[:, 1:]
        rows, length = inputs.shape
        x = embedding[inputs]
        for at in range(0, len(blocks), 6):
            g1, qkv, out, g2, gate_up, down = blocks[at : at + 6]
            parts = (scaled(x, g1) @ qkv).reshape(rows, length, 3, heads, -1)
            mixed = attend(turned(parts[:, :, 0]), turned(parts[:, :, 1]), parts[:, :, 2])
            x = x + mixed.reshape(rows, length, -1) @ out
            gate, up = jnp.split(scaled(x, g2) @ gate_up, 2, -1)
            x = x + (jax.nn.silu(gate) * up) @ down
        return cross_entropy(scaled(x, gain) @ head, wanted)

    return loss


add(
    Step(
        "llama bf16, 4 of 512, 2x256",
        llama_shapes(4, 512, 1376, 8192),
        lambda: [tokens(2, 257, 8192)],
        llama_loss(8),
        dtype="bfloat16",
        tolerance=5e-2,
    )
)


# ---- ResNet-50

RESNET_STAGES = (3, 4, 6, 3)


def resnet_shapes():
    shapes, inputs = [(7, 7, 3, 64), (64,), (64,)], 64
    for stage, blocks in enumerate(RESNET_STAGES):
        width = 64 << stage
        for block in range(blocks):
            for shape in ((1, 1, inputs, width), (3, 3, width, width), (1, 1, width, 4 * width)):
                shapes += [shape, shape[-1:], shape[-1:]]
            if block == 0:
                shapes += [(1, 1, inputs, 4 * width), (4 * width,), (4 * width,)]
            inputs = 4 * width
    return shapes + [(2048, 1000), (1000,)]


def convolved(x, weight, stride=1):
    import jax

    size = weight.shape[0] // 2
    return jax.lax.conv_general_dilated(
        x, weight, (stride, stride), [(size, size)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def batch_normed(x, gain, shift):
    import jax
    import jax.numpy as jnp

    centred = x - jnp.mean(x, (0, 1, 2))
    return centred * jax.lax.rsqrt(jnp.mean(centred * centred, (0, 1, 2)) + 1e-5) * gain + shift


def resnet_loss(parameters, pictures, labels):
    import jax
    import jax.numpy as jnp

    rest = iter(parameters)

    def layer(x, stride=1):
        weight, gain, shift = next(rest), next(rest), next(rest)
        return batch_normed(convolved(x, weight, stride), gain, shift)

    x = jax.nn.relu(layer(pictures, 2))
    x = jax.lax.reduce_window(
        x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))
    )
    for stage, blocks in enumerate(RESNET_STAGES):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = layer(jax.nn.relu(layer(jax.nn.relu(layer(x)), stride)))
            x = jax.nn.relu(y + (layer(x, stride) if block == 0 else x))
    return cross_entropy(jnp.mean(x, (1, 2)) @ next(rest) + next(rest), labels)


add(
    Step(
        "resnet-50, 4 images",
        resnet_shapes(),
        lambda: [images(4, 224, 224, 3), tokens(4, 1, 1000)[:, 0]],
        resnet_loss,
        optimiser=MOMENTUM,
        # A ReLU that is just above zero for one library and just below for another changes all gradients before it: in
        # f32 JAX's own differ from f64 by 0.06, and up to there they agree to five digits.
        tolerance=0.15,
    )
)


# ---- a U-Net

UNET_WIDTHS = (64, 128, 256)


def unet_shapes():
    def pair(inputs, width):
        first = [(3, 3, inputs, width), (width,), (width,)]
        return first + [(3, 3, width, width), (width,), (width,)]

    shapes, inputs = [(3, 3, 3, 64)], 64
    for width in UNET_WIDTHS:
        shapes += pair(inputs, width)
        inputs = width
    for width in reversed(UNET_WIDTHS[:-1]):
        shapes += pair(inputs + width, width)
        inputs = width
    return shapes + [(3, 3, 64, 3)]


def group_normed(x, gain, shift, groups=8):
    import jax
    import jax.numpy as jnp

    parts = x.reshape(x.shape[0], x.shape[1], x.shape[2], groups, -1)
    centred = parts - jnp.mean(parts, (1, 2, 4), keepdims=True)
    scale = jax.lax.rsqrt(jnp.mean(centred * centred, (1, 2, 4), keepdims=True) + 1e-5)
    return (centred * scale).reshape(x.shape) * gain + shift


def unet_loss(parameters, pictures, wanted):
    import jax
    import jax.numpy as jnp

    rest = iter(parameters)

    def pair(x):
        for _ in range(2):
            x = jax.nn.silu(group_normed(convolved(x, next(rest)), next(rest), next(rest)))
        return x

    x, kept = convolved(pictures, next(rest)), []
    for level in range(len(UNET_WIDTHS)):
        x = pair(x)
        if level + 1 < len(UNET_WIDTHS):
            kept.append(x)
            x = x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2, -1).mean((2, 4))
    while kept:
        x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
        x = pair(jnp.concatenate([x, kept.pop()], -1))
    difference = convolved(x, next(rest)) - wanted
    return jnp.mean(difference * difference)


add(
    Step(
        "unet, 64 channels, 4 of 64x64",
        unet_shapes(),
        lambda: [images(4, 64, 64, 3), images(4, 64, 64, 3, seed=3)],
        unet_loss,
    )
)


# ---- an LSTM

LSTM_WIDTH, LSTM_LAYERS, LSTM_WORDS = 512, 2, 4096


def lstm_shapes():
    layer = [(4 * LSTM_WIDTH, LSTM_WIDTH), (4 * LSTM_WIDTH, LSTM_WIDTH), (4 * LSTM_WIDTH,)]
    return [(LSTM_WORDS, LSTM_WIDTH)] + layer * LSTM_LAYERS + [(LSTM_WIDTH, LSTM_WORDS)]


def lstm_loss(parameters, text):
    import jax
    import jax.numpy as jnp

    embedding, *layers, head = parameters
    x = embedding[text[:, :-1]].transpose(1, 0, 2)
    for at in range(0, len(layers), 3):
        by_input, by_state, bias = layers[at : at + 3]
        ahead = x @ by_input.T + bias

        def turn(carried, now, by_state=by_state):
            state, cell = carried
            i, f, g, o = jnp.split(now + state @ by_state.T, 4, -1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
            state = jax.nn.sigmoid(o) * jnp.tanh(cell)
            return (state, cell), state

        zeros = jnp.zeros((x.shape[1], LSTM_WIDTH), x.dtype)
        x = jax.lax.scan(turn, (zeros, zeros), ahead)[1]
    return cross_entropy(x.transpose(1, 0, 2) @ head, text[:, 1:])


add(Step("lstm, 2 of 512, 16x64", lstm_shapes(), lambda: [tokens(16, 65, LSTM_WORDS)], lstm_loss))


# ---- a mixture of experts

MOE_WIDTH, MOE_EXPERTS, MOE_HEADS, MOE_LAYERS, MOE_WORDS = 256, 8, 8, 2, 4096


def moe_shapes():
    d = MOE_WIDTH
    block = [(d,), (d,), (d, 3 * d), (d, d), (d,), (d,), (d, MOE_EXPERTS)]
    block += [(MOE_EXPERTS, d, 4 * d), (MOE_EXPERTS, 4 * d, d)]
    return [(MOE_WORDS, d)] + block * MOE_LAYERS + [(d,), (d,), (d, MOE_WORDS)]


def experts_of(x, router, up, down):
    """The two best experts of each token, with room for a quarter more than an equal share."""
    import jax
    import jax.numpy as jnp

    count = x.shape[0]
    room = count * 2 * 5 // (4 * MOE_EXPERTS)
    shares, chosen = jax.lax.top_k(jax.nn.softmax(x @ router), 2)
    shares = shares / jnp.sum(shares, -1, keepdims=True)
    picked = jax.nn.one_hot(chosen.reshape(-1), MOE_EXPERTS, dtype=jnp.int32)
    place = jnp.sum((jnp.cumsum(picked, 0) - 1) * picked, -1)
    at = jnp.where(place < room, chosen.reshape(-1) * room + place, MOE_EXPERTS * room)
    sent = jnp.zeros((MOE_EXPERTS * room, MOE_WIDTH), x.dtype).at[at].set(jnp.repeat(x, 2, 0), mode="drop")
    h = jax.nn.gelu(jnp.einsum("erd,edf->erf", sent.reshape(MOE_EXPERTS, room, -1), up))
    back = jnp.einsum("erf,efd->erd", h, down).reshape(MOE_EXPERTS * room, -1)
    taken = back.at[at].get(mode="fill", fill_value=0).reshape(count, 2, -1)
    return jnp.sum(taken * shares[..., None], 1)


def moe_loss(parameters, text):
    embedding, *blocks, gain, shift, head = parameters
    x = embedding[text[:, :-1]]
    rows, length = x.shape[:2]
    for at in range(0, len(blocks), 9):
        g1, b1, qkv, out, g2, b2, router, up, down = blocks[at : at + 9]
        parts = (norm(x, g1, b1) @ qkv).reshape(rows, length, 3, MOE_HEADS, -1)
        x = x + attend(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]).reshape(rows, length, -1) @ out
        flat = norm(x, g2, b2).reshape(rows * length, -1)
        x = x + experts_of(flat, router, up, down).reshape(x.shape)
    return cross_entropy(norm(x, gain, shift) @ head, text[:, 1:])


add(Step("moe, 8 experts, 2 of 256, 4x128", moe_shapes(), lambda: [tokens(4, 129, MOE_WORDS)], moe_loss))
