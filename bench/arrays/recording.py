#!/usr/bin/env python3
"""What recording a call takes: nanoseconds of the calling thread, the runs of known windows included.

    PYTHONPATH=build/release/python build/venv/bin/python bench/arrays/recording.py

Arrays of 16 elements that are recorded all the same, so that what is computed takes next to nothing. Python's own share is
that of an addition of two numbers of NumPy's, which makes a new object as well.
"""

import time

import heddle.numpy as np
import numpy
from heddle.numpy._core import recorded

TURNS = 3000


def best(loop):
    """Nanoseconds of each of its ten calls."""
    found = []
    for _ in range(9):
        began = time.thread_time()
        loop(TURNS)
        found.append(time.thread_time() - began)
    return min(found) / TURNS / 10 * 1e9


def calls(a, b):
    def add(turns):
        for _ in range(turns):
            a + b; a + b; a + b; a + b; a + b; a + b; a + b; a + b; a + b; a + b  # fmt: skip

    def chain(turns):
        for _ in range(turns):
            c = a + b; c = c * a; c = c - b; c = c + a; c = c * b; c = c - a; c = c + b; c = c * a; c = c - b; c = c + a  # fmt: skip

    def number(turns):
        for _ in range(turns):
            a * 2.0; a * 2.0; a * 2.0; a * 2.0; a * 2.0; a * 2.0; a * 2.0; a * 2.0; a * 2.0; a * 2.0  # fmt: skip

    def in_place(turns):
        for _ in range(turns):
            c = a; c += b; c += b; c += b; c += b; c += b; c += b; c += b; c += b; c += b; c += b  # fmt: skip

    def product(turns):
        for _ in range(turns):
            a @ b; a @ b; a @ b; a @ b; a @ b; a @ b; a @ b; a @ b; a @ b; a @ b  # fmt: skip

    def turned(turns):
        at = a.T
        for _ in range(turns):
            at + b; at + b; at + b; at + b; at + b; at + b; at + b; at + b; at + b; at + b  # fmt: skip

    def choice(turns):
        m, where = a < b, np.where
        for _ in range(turns):
            where(m, a, b); where(m, a, b); where(m, a, b); where(m, a, b); where(m, a, b)  # fmt: skip
            where(m, a, b); where(m, a, b); where(m, a, b); where(m, a, b); where(m, a, b)  # fmt: skip

    kinds = {"a + b": add, "c = c * a, …": chain, "a * 2.0": number, "c += b": in_place}
    if getattr(a, "ndim", 0) == 2:
        kinds |= {"a @ b": product, "a.T + b": turned, "where(m, a, b)": choice}
    return kinds


def main():
    recorded.set_at_once(0)
    scalars = calls(numpy.float64(1.0), numpy.float64(2.0))["a + b"]
    own = best(scalars)
    print(f"numbers of NumPy's, a + b   {own:6.0f} ns")
    for name, loop in calls(np.zeros((4, 4)), np.ones((4, 4))).items():
        for _ in range(8):
            loop(200)
            np.flush()
            recorded.wait_for_code()
        took = best(loop)
        print(f"recorded, {name:16}  {took:6.0f} ns, {took - own:6.0f} beyond Python's own")


main()
