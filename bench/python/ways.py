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


def gpt(way):
    """Seconds of one AdamW step of a GPT as wide as GPT-2 small, of two layers."""
    import gpt as model

    donated = {"donate" if way == "jit" else "donate_argnums": (0, 1)}
    training = model.Training(lambda step: compiler(way)(step, **donated))
    for _ in range(2):
        training()
    return best(training, 1, 6)


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
