"""A small GPT that learns to continue a text, exported from JAX for Heddle.

    pip install jax==0.10.2 safetensors && python examples/gpt/gpt.py

writes forward.mlir, train.mlir and step.mlir beside this file, and what JAX gives for them as
.safetensors. The first two take no arguments: weights come from a seed, and the batch is cut from the
text below. forward.mlir gives the loss before training. train.mlir trains with Adam for STEPS steps,
in a loop inside the program, and gives the loss after the last step and the loss of every step.
step.mlir is one step of gradient descent from weights and a batch that it is given.
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy
from safetensors.numpy import save_file

TEXT = ("the weaver lifts the heddle and every other thread rises; "
        "the shuttle runs between them and the cloth grows by one thread; ")
LETTERS = sorted(set(TEXT))

LAYERS, HEADS, WIDTH = 2, 2, 32
CONTEXT, BATCH, STEPS = 16, 4, 8
RATE, BETA1, BETA2, EPSILON = 1e-2, 0.9, 0.99, 1e-8


def initial_weights(seed):
    letters = len(LETTERS)
    count = (letters + CONTEXT + LAYERS * 12 * WIDTH + letters) * WIDTH
    numbers = jax.random.normal(jax.random.key(seed), count)
    used = 0

    def matrix(rows, columns, size=None):
        nonlocal used
        used += rows * columns
        return numbers[used - rows * columns:used].reshape(rows, columns) * (size or rows**-0.5)

    return {
        "letters": matrix(letters, WIDTH, 0.1),
        "places": matrix(CONTEXT, WIDTH, 0.1),
        "blocks": [{
            "attention_norm": jnp.ones(WIDTH),
            "attend": matrix(WIDTH, 3 * WIDTH),
            "project": matrix(WIDTH, WIDTH),
            "feed_norm": jnp.ones(WIDTH),
            "widen": matrix(WIDTH, 4 * WIDTH),
            "narrow": matrix(4 * WIDTH, WIDTH),
        } for _ in range(LAYERS)],
        "norm": jnp.ones(WIDTH),
        "head": matrix(WIDTH, letters),
    }


def normalize(x, scale):
    centred = x - x.mean(axis=-1, keepdims=True)
    return scale * centred * jax.lax.rsqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def attention(block, x):
    batch, length, _ = x.shape
    parts = (x @ block["attend"]).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
    query, key, value = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * (WIDTH // HEADS) ** -0.5
    past = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(past, scores, -1e9), axis=-1)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(batch, length, WIDTH)
    return mixed @ block["project"]


def logits(weights, letters):
    x = weights["letters"][letters] + weights["places"]
    for block in weights["blocks"]:
        x = x + attention(block, normalize(x, block["attention_norm"]))
        hidden = jax.nn.gelu(normalize(x, block["feed_norm"]) @ block["widen"], approximate=False)
        x = x + hidden @ block["narrow"]
    return normalize(x, weights["norm"]) @ weights["head"]


def cross_entropy(weights, letters, targets):
    scores = jax.nn.log_softmax(logits(weights, letters), axis=-1)
    return -jnp.take_along_axis(scores, targets[..., None], axis=-1).mean()


def batch():
    """Letters and the letters that follow them."""
    numbers = jnp.array([LETTERS.index(letter) for letter in TEXT])
    starts = jnp.arange(BATCH) * (len(TEXT) - CONTEXT - 1) // BATCH
    places = starts[:, None] + jnp.arange(CONTEXT)
    return numbers[places], numbers[places + 1]


def adam(weights, gradients, moments, step):
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, moments[0], gradients)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, moments[1], gradients)
    age = (step + 1).astype(jnp.float32)

    def moved(w, m, v):
        return w - RATE * (m / (1 - BETA1**age)) / (jnp.sqrt(v / (1 - BETA2**age)) + EPSILON)

    return jax.tree.map(moved, weights, first, second), (first, second)


def forward():
    return {"loss": cross_entropy(initial_weights(0), *batch())}


def train():
    letters, targets = batch()
    weights = initial_weights(0)
    zeros = jax.tree.map(jnp.zeros_like, weights)

    def step(i, state):
        weights, moments, losses = state
        loss, gradients = jax.value_and_grad(cross_entropy)(weights, letters, targets)
        weights, moments = adam(weights, gradients, moments, i)
        return weights, moments, losses.at[i].set(loss)

    state = (weights, (zeros, zeros), jnp.zeros(STEPS))
    weights, _, losses = jax.lax.fori_loop(0, STEPS, step, state)
    return {"losses": losses, "loss_after": cross_entropy(weights, letters, targets)}


def step(weights, letters, targets):
    loss, gradients = jax.value_and_grad(cross_entropy)(weights, letters, targets)
    return loss, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)


def main():
    folder = pathlib.Path(__file__).parent
    given = (initial_weights(0), *batch())
    compiled = jax.jit(step).lower(*given)
    (folder / "step.mlir").write_text(compiled.as_text(), encoding="utf-8")
    tensors = {f"in.{i}": numpy.asarray(a) for i, a in enumerate(jax.tree.leaves(given))}
    for i, result in enumerate(jax.tree.leaves(jax.jit(step)(*given))):
        tensors[f"out.{i}"] = numpy.asarray(result)
    save_file(tensors, folder / "step.safetensors")
    for program in (forward, train):
        stem = folder / program.__name__
        compiled = jax.jit(program).lower()
        stem.with_suffix(".mlir").write_text(compiled.as_text(), encoding="utf-8")
        results = jax.tree.leaves(jax.jit(program)())
        save_file({f"out.{i}": numpy.asarray(r) for i, r in enumerate(results)},
                  stem.with_suffix(".safetensors"))
        print(program.__name__, *results)


if __name__ == "__main__":
    main()
