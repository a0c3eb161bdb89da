#!/usr/bin/env python3
"""Many random programs beside NumPy, in every way that windows run: of views, writes, reductions and loops over
whole numbers, and every third one of all element types, masks, casts and methods of ufuncs.

    PYTHONPATH=build/release/python build/venv/bin/python tests/python/random_arrays.py --cases 20000 [--first 0] [--devices 10] [--compiled 20]

Every --devices'th case runs on 1 to 16 devices, every --compiled'th compiled, the others at once, call by call, and mixed.
A difference is printed with its seed and mode, and the exit status is 1.
"""

import argparse
import collections
import sys
import time
import warnings

import heddle.numpy as hn
import test_arrays_mixed as of_all_types
import test_arrays_views as views
from heddle.numpy._core import recorded

# Calls on at most so many elements at once, and which windows run call by call.
MODES = {"at once": (10**9, ""), "call by call": (0, "always"), "mixed": (12, "always"), "compiled": (0, "never")}
CHEAP = list(MODES)[:3]


def run(seed, options):
    """The mode of a case, after it has agreed with NumPy."""
    mode = CHEAP[seed % len(CHEAP)]
    devices = 1
    if options.compiled and seed % options.compiled == 0:
        mode = "compiled"
    if options.devices and seed % options.devices == options.devices - 1:
        mode, devices = "compiled", 1 + seed // options.devices % 16
    at_once, direct = MODES[mode]
    recorded.set_at_once(at_once)
    recorded.set_direct(direct)
    recorded.set_devices(devices, 0)
    label = mode if devices == 1 else "on 2 to 16 devices"
    try:
        (of_all_types if seed // len(CHEAP) % 3 == 0 else views).compare(seed)
    except Exception as error:
        print(f"seed {seed}, {label} ({devices}): {type(error).__name__}: {error}", flush=True)
        return label, 1
    return label, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--devices", type=int, default=10, help="every so many'th case on several devices; 0: none")
    parser.add_argument("--compiled", type=int, default=20, help="every so many'th case compiled; 0: none")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    done, wrong, began = collections.Counter(), 0, time.monotonic()
    for seed in range(options.first, options.first + options.cases):
        label, differs = run(seed, options)
        done[label] += 1
        wrong += differs
        if sum(done.values()) % 1000 == 0:
            print(f"{sum(done.values())} cases, {wrong} differ, {time.monotonic() - began:.0f} s", flush=True)
    hn.flush()
    print(", ".join(f"{count} {label}" for label, count in done.items()) + f"; {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
