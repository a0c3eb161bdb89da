#!/usr/bin/env python3
"""Programs on one GPU: the floor, JAX and Heddle, side by side.

    bench/h200/run.py [NAME...] [--runs N] [--alone] [--json FILE]

The floor is the least that a program has to move, at the rate of a large copy on this device; a share
is the floor over the time. JAX's times and Heddle's are of many calls one after the other, arguments
on the device. The tool is $HEDDLE_TIME_PROGRAM, or build/release/heddle_time_program.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path.insert(0, str(Path(__file__).parent))
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import programs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("HEDDLE_TIME_PROGRAM", ROOT / "build/release/heddle_time_program"))


def seconds_of(call, runs):
    """Of one call, by the difference of many and few."""
    def timed(count):
        begin = time.perf_counter()
        for _ in range(count):
            last = call()
        jax.block_until_ready(last)
        return time.perf_counter() - begin
    timed(3)
    few = max(1, runs // 5)
    return sorted((timed(few + runs) - timed(few)) / runs for _ in range(5))[2]


def copy_rate():
    x = jnp.ones((1 << 29,), jnp.float32)
    return 2 * x.nbytes / seconds_of(lambda f=jax.jit(lambda x: x + 1): f(x), 20)


def jax_seconds(program, runs):
    key = jax.random.key(0)
    def random(struct):
        if struct.dtype == jnp.bool_:
            return jax.random.bernoulli(key, 0.9, struct.shape)
        if jnp.issubdtype(struct.dtype, jnp.integer):
            return jax.random.randint(key, struct.shape, 0, 8, struct.dtype)
        return jax.random.normal(key, struct.shape, struct.dtype)
    arguments = jax.tree.map(random, program.arguments)
    function = jax.jit(program.function)
    return seconds_of(lambda: function(*arguments), runs)


def heddle(program, folder, runs):
    text = jax.jit(program.function).lower(*program.arguments).as_text()
    file = Path(folder) / "program.mlir"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([str(TOOL), str(file), "--runs", str(runs)], capture_output=True,
                          text=True, check=False, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[:200]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only programs whose names have one of these")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--alone", action="store_true", help="without JAX's times")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rate = copy_rate()
    print(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}; a copy moves {rate / 1e12:.2f} TB/s; times in ms")
    print(f"{'program':32} {'floor':>8} {'jax':>8} {'share':>6} {'heddle':>8} {'share':>6} {'x jax':>6}  steps")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for program in programs.PROGRAMS:
            if options.names and not any(name in program.name for name in options.names):
                continue
            floor = program.bytes / rate * 1e3
            peer = math.nan if options.alone else jax_seconds(program, options.runs) * 1e3
            jax.clear_caches()
            mine = heddle(program, folder, options.runs)
            rows.append({"name": program.name, "floor_ms": floor, "jax_ms": peer, **mine})
            start = f"{program.name:32} {floor:8.3f} {peer:8.3f} {floor / peer:6.2f}"
            if "ms" in mine:
                print(f"{start} {mine['ms']:8.3f} {floor / mine['ms']:6.2f} {peer / mine['ms']:6.2f}  {mine['steps']},"
                      f" compiled in {mine['compile_s']:.1f} s, host {mine['host_ms']:.3f}", flush=True)
            else:
                print(f"{start} {mine['error']}", flush=True)
    good = [row for row in rows if "ms" in row]
    if good:
        mean = lambda of: math.exp(sum(math.log(of(row)) for row in good) / len(good))
        print(f"geomean: share of the floor {mean(lambda r: r['floor_ms'] / r['ms']):.2f}, of JAX's"
              f" {mean(lambda r: r['floor_ms'] / r['jax_ms']):.2f}; x JAX {mean(lambda r: r['jax_ms'] / r['ms']):.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
