"""Heat spreads over a plate: rows lie on two devices, which exchange what lies at their borders.

    python examples/jax/pde.py [--size 64]
"""

import argparse

import heddle
import jax
import jax.numpy as jnp
import numpy as np


def spread(heat, rate):
    inner = heat[1:-1, 1:-1]
    around = heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]
    return heat.at[1:-1, 1:-1].set(inner + rate * (around - 4 * inner))


def simulate(heat, rate):
    return jax.lax.fori_loop(0, 100, lambda i, h: spread(h, rate), heat)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=64)
    size = parser.parse_args().size

    plate = np.zeros((size, size), np.float32)
    plate[0] = 100
    run = heddle.jit(simulate, mesh={"rows": 2}, layouts={"heat": "rows,_"})
    print(run.plan(plate, 0.2))
    heat = run(plate, 0.2)
    print("each device has", heat.parts[0].shape)
    same = np.asarray(jax.jit(simulate)(jnp.asarray(plate), 0.2))
    print(f"differs from JAX by at most {np.abs(np.asarray(heat) - same).max():.1e}")


if __name__ == "__main__":
    main()
