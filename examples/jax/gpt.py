"""A small GPT learns to count, on a mesh of four devices.

    python examples/jax/gpt.py [--steps 60]
"""

import argparse

import heddle
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH = 32, 64, 4, 2, 32


def make_params(seed=0):
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    layers = [
        {
            "qkv": normal(WIDTH, 3 * WIDTH),
            "out": normal(WIDTH, WIDTH),
            "up": normal(WIDTH, 4 * WIDTH),
            "down": normal(4 * WIDTH, WIDTH),
        }
        for _ in range(LAYERS)
    ]
    return {"embed": normal(VOCABULARY, WIDTH), "place": normal(LENGTH, WIDTH), "layers": layers}


def normed(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def attention(layer, x):
    batch, length, _ = x.shape
    q, k, v = jnp.split((x @ layer["qkv"]).reshape(batch, length, HEADS, -1), 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    scores = jnp.where(np.tril(np.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return mixed.reshape(batch, length, -1) @ layer["out"]


def loss_of(params, tokens):
    x = params["embed"][tokens[:, :-1]] + params["place"]
    for layer in params["layers"]:
        x = x + attention(layer, normed(x))
        x = x + jax.nn.gelu(normed(x) @ layer["up"]) @ layer["down"]
    logits = normed(x) @ params["embed"].T
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


optimizer = optax.adam(3e-3)


def train_step(params, state, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def batch_of(step, size=16):
    start = np.random.default_rng(step).integers(0, VOCABULARY, (size, 1))
    return ((start + np.arange(LENGTH + 1)) % VOCABULARY).astype(np.int32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps

    step = heddle.jit(
        train_step,
        mesh={"dp": 2, "tp": 2},
        layouts={
            "tokens": "dp,_",
            "params*qkv*": "_,tp",
            "params*out*": "tp,_",
            "params*up*": "_,tp",
            "params*down*": "tp,_",
        },
        donate=("params", "state"),
    )
    params = make_params()
    state = optimizer.init(params)
    for i in range(steps):
        params, state, loss = step(params, state, batch_of(i))
        if i % 20 == 0 or i == steps - 1:
            print(f"step {i:3}  loss {float(loss):.3f}")
    print("up lies as", params["layers"][0]["up"].layout)


if __name__ == "__main__":
    main()
