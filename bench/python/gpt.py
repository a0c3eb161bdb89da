"""Training of a GPT with GPT-2 small's width and vocabulary, but two layers: AdamW of optax, jitted, with
donated state, as users write it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

LAYERS, WIDTH, HEADS, VOCABULARY = 2, 768, 12, 50257
BATCH, LENGTH = 2, 128


def initial(seed=0):
    rng = np.random.default_rng(seed)

    def weights(*shape):
        return jnp.asarray(rng.normal(size=shape) * 0.02, jnp.float32)

    def norm():
        return {"gain": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}

    def block():
        return {"norm1": norm(), "norm2": norm(), "qkv": weights(WIDTH, 3 * WIDTH), "out": weights(WIDTH, WIDTH),
                "up": weights(WIDTH, 4 * WIDTH), "down": weights(4 * WIDTH, WIDTH)}

    return {"tokens": weights(VOCABULARY, WIDTH), "places": weights(LENGTH, WIDTH), "norm": norm(),
            "blocks": [block() for _ in range(LAYERS)]}


def normalised(x, p):
    centred = x - jnp.mean(x, -1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred ** 2, -1, keepdims=True) + 1e-5) * p["gain"] + p["bias"]


def attention(x, p):
    heads = (x @ p["qkv"]).reshape(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
    q, k, v = (heads[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS).astype(np.float32)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jax.nn.softmax(scores) @ v
    return mixed.transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH) @ p["out"]


def loss(params, text):
    x = params["tokens"][text[:, :-1]] + params["places"]
    for p in params["blocks"]:
        x = x + attention(normalised(x, p["norm1"]), p)
        x = x + jax.nn.gelu(normalised(x, p["norm2"]) @ p["up"]) @ p["down"]
    logits = normalised(x, params["norm"]) @ params["tokens"].T
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, text[:, 1:]))


class Training:
    """A step a call; `losses` are those so far. `compiled` makes the step of its function."""

    def __init__(self, compiled=lambda step: jax.jit(step, donate_argnums=(0, 1))):
        optimiser = optax.adamw(3e-4)
        self.params = initial()
        self.state = optimiser.init(self.params)
        self.texts = np.random.default_rng(1).integers(0, VOCABULARY, (8, BATCH, LENGTH + 1)).astype(np.int32)
        self.losses = []

        def step(params, state, text):
            value, gradients = jax.value_and_grad(loss)(params, text)
            updates, state = optimiser.update(gradients, state, params)
            return optax.apply_updates(params, updates), state, value

        self.step = compiled(step)

    def __call__(self):
        text = self.texts[len(self.losses) % len(self.texts)]
        self.params, self.state, value = self.step(self.params, self.state, text)
        self.losses.append(float(value))
