"""A library of its own on recorded arrays: waves on a ring, with a potential that is a sparse matrix.

    python examples/library/waves.py

Its operations are builders; they fuse with calls of heddle.numpy and heddle.sparse, which bring theirs the same way.
"""

import numpy

import heddle.numpy as np
import heddle.sparse as sparse
from heddle.library import opaque, operation


@operation("waves.laplacian")
def laplacian(b, u, width):
    """Second differences on a ring; the width of a cell is a number at run time."""
    (n,) = u.shape
    left = b.concatenate([b.slice(u, [n - 1], [n]), b.slice(u, [0], [n - 1])], 0)
    right = b.concatenate([b.slice(u, [1], [n]), b.slice(u, [0], [1])], 0)
    return (left + right - 2.0 * u) / b.spread(width * width, [n])


@operation("waves.energy")
def energy(b, u, v):
    """Two results: what is in motion, and what is in position."""
    return [b.reduce(one * one, [0], "add") * 0.5 for one in (v, u)]


@opaque
def crests(u):
    """Has to see values: a window ends here, and another begins behind."""
    return numpy.flatnonzero((u > numpy.roll(u, 1)) & (u > numpy.roll(u, -1)))


def potential(n):
    """Couples each cell with the one opposite."""
    ones = numpy.ones(n)
    return sparse.csr_array((0.1 * ones, (numpy.arange(n), (numpy.arange(n) + n // 2) % n)), shape=(n, n))


def simulate(n, steps, dt=1e-3, width=0.1):
    u = np.exp(-(((np.arange(n) - n / 2) * (20 / n)) ** 2))
    v = np.zeros(n)
    coupling = potential(n)
    for _ in range(steps):
        v = v + dt * (laplacian(u, width) - coupling @ u)  # one kernel, of three libraries
        u = u + dt * v
    return u, v


if __name__ == "__main__":
    u, v = simulate(100_000, 50)
    before = np.counts()["launches"]
    moving, resting = energy(u, v)
    print(f"energy {float(moving):.6f} in motion, {float(resting):.6f} in position; crests at {crests(u)[:3]}")
    print(f"{np.counts()['launches']} launches in all, for {np.counts()['calls']} calls")
