#!/usr/bin/env python3
"""Single calls beside NumPy: microseconds of the calling thread, both in turns, the best of nine rounds.

    PYTHONPATH=build/release/python build/venv/bin/python bench/arrays/single.py [SIZE ...] [--calls NAME ...]

Each result that is recorded is waited for, and windows are known. Ratios above 1.07 are marked.
"""

import argparse
import time

import heddle.numpy as hn
import numpy
from heddle.numpy._core import recorded

CALLS = {
    "x + y": lambda np, x, y, f: x + y,
    "x * 2.0": lambda np, x, y, f: x * 2.0,
    "f64 * x": lambda np, x, y, f: f * x,
    "x += y": lambda np, x, y, f: x.__iadd__(y),
    "x < y": lambda np, x, y, f: x < y,
    "-x": lambda np, x, y, f: -x,
    "np.sin(x)": lambda np, x, y, f: np.sin(x),
    "np.exp(-x)": lambda np, x, y, f: np.exp(-x),
    "np.sqrt(x)": lambda np, x, y, f: np.sqrt(x),
    "np.maximum(x, y)": lambda np, x, y, f: np.maximum(x, y),
    "float(x.sum())": lambda np, x, y, f: float(x.sum()),
    "float(np.mean(x))": lambda np, x, y, f: float(np.mean(x)),
    "float(x.max())": lambda np, x, y, f: float(x.max()),
    "np.dot(x, y)": lambda np, x, y, f: float(np.dot(x, y)),
    "np.where(x > 0, x, y)": lambda np, x, y, f: np.where(x > 0, x, y),
    "x[1:] + x[:-1]": lambda np, x, y, f: x[1:] + x[:-1],
    "x[1:]": lambda np, x, y, f: x[1:],
    "x.T": lambda np, x, y, f: x.T,
    "np.flip(x)": lambda np, x, y, f: np.flip(x),
    "x.reshape(-1, 1)": lambda np, x, y, f: x.reshape(-1, 1),
    "x.copy()": lambda np, x, y, f: x.copy(),
    "x.shape": lambda np, x, y, f: x.shape,
}
VIEWS = ("x[1:]", "x.T", "np.flip(x)", "x.reshape(-1, 1)", "x.shape")


def seconds(call, np, given, turns, waits):
    began = time.thread_time()
    if waits and np is hn:
        for _ in range(turns):
            result = call(np, *given)  # which has to be seen
            np.flush()
    else:
        for _ in range(turns):
            result = call(np, *given)
    del result
    return (time.thread_time() - began) / turns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=[1, 100, 1000, 10_000, 20_000, 50_000, 100_000])
    parser.add_argument("--calls", nargs="*", default=list(CALLS))
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"{'NumPy, Heddle (µs)':24}" + "".join(f"{size:>24,}" for size in options.sizes))
    for name in options.calls:
        cells = []
        for size in options.sizes:
            x, y = numpy.linspace(0.5, 1.5, size), numpy.linspace(1e-9, 2e-9, size)
            f = numpy.float64(1.25)
            both = {numpy: (x, y, f), hn: (hn.asarray(x), hn.asarray(y), f)}
            turns = max(3, min(2000, 2_000_000 // size if name not in VIEWS else 2000))
            best = {}
            for _ in range(options.rounds):
                for np, given in both.items():
                    took = seconds(CALLS[name], np, given, turns, size > recorded.at_once())
                    best[np] = min(best.get(np, 1), took)
            theirs, ours = best[numpy] * 1e6, best[hn] * 1e6
            cells.append(f"{theirs:.2f}, {ours:.2f} ({ours / theirs:.2f}){'*' if ours > 1.07 * theirs else ' '}")
        print(f"{name:24}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


main()
