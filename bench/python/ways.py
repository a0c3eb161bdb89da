#!/usr/bin/env python3
"""Heddle beside JAX's CPU backend, both called from Python.

    build/venv/bin/python bench/python/ways.py [dispatch] [gpt] [--rounds 3]

Each way runs in a process of its own, in turns; the best of all rounds counts. `jax` is JAX's CPU
backend, `plugin` the same program with JAX_PLATFORMS=heddle,cpu, `jit` is heddle.jit.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time

WAYS = {"jax": "cpu", "plugin": "heddle,cpu", "jit": "cpu"}
WIDTH, LAYERS, HEADS, VOCABULARY, LENGTH, BATCH = 768, 2, 12, 8192, 64, 4


def best(run, calls, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def compiler(way):
    import jax

    if way != "jit":
        return jax.jit
    import heddle

    return heddle.jit


def dispatch(way):
    """Seconds of one call that computes next to nothing."""
    import jax
    import numpy as np

    f = compiler(way)(lambda x, y: x + y)
    x = np.ones((8, 8), np.float32)
    if way != "jit":
        x = jax.numpy.asarray(x)
    x = f(x, x)
    for _ in range(1000):
        f(x, x)
    return best(lambda: f(x, x), 2000, 10)


def gpt_params():
    import numpy as np

    rng = np.random.default_rng(0)

    def normal(*shape):
        return (rng.standard_normal(shape) * 0.02).astype(np.float32)

    layer = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH),
             "down": (4 * WIDTH, WIDTH)}  # fmt: skip
    layers = [{name: normal(*shape) for name, shape in layer.items()} for _ in range(LAYERS)]
    return {"embed": normal(VOCABULARY, WIDTH), "place": normal(LENGTH, WIDTH), "layers": layers}


def gpt(way):
    """Seconds of one AdamW step of a GPT as wide as GPT-2 small, of two layers."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    def normed(x):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def attend(layer, x):
        q, k, v = jnp.split((x @ layer["qkv"]).reshape(BATCH, LENGTH, 3 * HEADS, -1), 3, 2)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
        scores = jnp.where(np.tril(np.ones((LENGTH, LENGTH), bool)), scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        return mixed.reshape(BATCH, LENGTH, WIDTH) @ layer["out"]

    def loss_of(params, tokens):
        x = params["embed"][tokens[:, :-1]] + params["place"]
        for layer in params["layers"]:
            x = x + attend(layer, normed(x))
            x = x + jax.nn.gelu(normed(x) @ layer["up"]) @ layer["down"]
        logits = normed(x) @ params["embed"].T
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    optimizer = optax.adamw(3e-4)

    def train_step(params, state, tokens):
        loss, grads = jax.value_and_grad(loss_of)(params, tokens)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    options = {"donate": (0, 1)} if way == "jit" else {"donate_argnums": (0, 1)}
    step = compiler(way)(train_step, **options)
    params = gpt_params()
    state = optimizer.init(params)
    if way != "jit":
        params = jax.tree.map(jnp.asarray, params)
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (BATCH, LENGTH + 1)).astype(np.int32)
    times = []
    for _ in range(8):
        start = time.perf_counter()
        params, state, loss = step(params, state, tokens)
        float(loss)
        times.append(time.perf_counter() - start)
    return min(times[2:])


def measure(name, way):
    environment = dict(os.environ, JAX_PLATFORMS=WAYS[way])
    command = [sys.executable, __file__, "--one", name, way]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name} by {way}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=["dispatch", "gpt"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(globals()[asked.one[0]](asked.one[1])))
        return
    has_plugin = importlib.util.find_spec("heddle.jax_plugin") is not None
    ways = [way for way in WAYS if way != "plugin" or has_plugin]
    print(f"{'':10}" + "".join(f"{way:>12}" for way in ways))
    for name in asked.names:
        seconds = {way: float("inf") for way in ways}
        for _ in range(asked.rounds):
            for way in ways:
                seconds[way] = min(seconds[way], measure(name, way))
        print(f"{name:10}" + "".join(f"{1e6 * seconds[way]:9.1f} us" for way in ways))


if __name__ == "__main__":
    main()
