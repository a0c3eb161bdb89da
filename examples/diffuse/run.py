"""Times the seven applications on Heddle and on NumPy with SciPy: seconds a turn, launches a turn, and what compiling took.

    python examples/diffuse/run.py [NAME…] [--size N] [--turns 20]
"""

import argparse
import time

import numpy
import scipy.sparse

import heddle.numpy as np
import heddle.sparse as sparse
from apps import APPS


def timed(app, turns, flush):
    began = time.perf_counter()
    for _ in range(turns):
        app.turn()
    flush(app)
    return (time.perf_counter() - began) / turns


def run(name, size, turns):
    make, paper, usual = APPS[name]
    size = size or usual
    ours, theirs = make(np, sparse, size), make(numpy, scipy.sparse, size)
    read = lambda app: [numpy.asarray(one) for one in app.result()]  # noqa: E731
    first = timed(ours, turns, read)
    timed(ours, turns, read)  # windows find their size
    before = np.counts()
    again = timed(ours, turns, read)
    launches = (np.counts()["launches"] - before["launches"]) / turns
    for _ in range(2):
        beside = timed(theirs, turns, read)
    beside_too = timed(theirs, turns, read)
    worst = max(abs(a - b).max() / max(abs(b).max(), 1e-300) for a, b in zip(read(ours), read(theirs)))
    print(f"{name:14} {size:8} {again * 1e3:9.2f} ms {min(beside, beside_too) * 1e3:9.2f} ms {min(beside, beside_too) / again:6.2f}x"
          f" {launches:7.1f} {paper:7.1f}   first {first * 1e3:8.1f} ms   differs {worst:.0e}", flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(APPS))
    parser.add_argument("--size", type=int)
    parser.add_argument("--turns", type=int, default=20)
    args = parser.parse_args()
    print("application        size   a turn on Heddle   on NumPy      launches    paper's")
    for name in args.names:
        if name not in APPS:
            parser.error(f"{name!r} is none of {', '.join(APPS)}")
        run(name, args.size, args.turns)
