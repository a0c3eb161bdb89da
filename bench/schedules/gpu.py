#!/usr/bin/env python3
"""Optimisers inside of collectives, and products in chunks, on devices that share one GPU.

    bench/schedules/gpu.py [--devices 2,4,8] [--sizes 2048x2048,8192x2048] [--names Adam,LAMB]
                           [--only optimisers|products] [--rounds N] [--seconds S] [--json FILE]

Optimisers: a step of momentum, Adam and LAMB; results become the arguments of the next step, in place. `kernels` sums
the gradients and then runs the optimiser on all of them; `slices` is reduce-scatter, optimiser and all-gather, one
after the other (state in slices); `fused` the same as one launch for all devices. Bytes are what the steps of a
device read and write. Products: one of M x N x K in bf16 by cuBLASLt, whole, and the same in chunks of rows, one
after the other; then product and reduce_scatter on two devices, in sequence and in chunks (`overlap`).

Each case is a process of its own with a limit; a line is printed as soon as it is there. The shortest round counts.
Tools are in build/release, or $HEDDLE's folder.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from run import ADAM, MOMENTUM, PRODUCT_SCATTER, ROOT, optimiser, schedules_of

FOLDER = Path(os.environ.get("HEDDLE", ROOT / "build/release/heddle")).resolve().parent
LAMB = ADAM[:ADAM.index("  %8 =")] + """
  %n = stablehlo.multiply %7, %7 : tensor<RxCxf32>
  %un = stablehlo.reduce(%n init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<RxCxf32>, tensor<f32>) -> tensor<f32>
  %q = stablehlo.multiply %p, %p : tensor<RxCxf32>
  %pn = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<RxCxf32>, tensor<f32>) -> tensor<f32>
  %u = stablehlo.sqrt %un : tensor<f32>
  %w = stablehlo.sqrt %pn : tensor<f32>
  %r = stablehlo.divide %w, %u : tensor<f32>
  %rs = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<RxCxf32>
  %8 = stablehlo.multiply %rate, %7 : tensor<RxCxf32>
  %9 = stablehlo.multiply %rs, %8 : tensor<RxCxf32>
  %p1 = stablehlo.subtract %p, %9 : tensor<RxCxf32>
"""
OPTIMISERS = [("momentum", MOMENTUM, "pm"), ("Adam", ADAM, "pmv"), ("LAMB", LAMB, "pmv")]


def on_devices(text, devices):
    return text.replace('"dp"=2', f'"dp"={devices}').replace('"tp"=2', f'"tp"={devices}').replace(
        "tensor<2x", f"tensor<{devices}x")


class Bench:
    def __init__(self, folder, rounds, limit):
        self.folder, self.rounds, self.limit, self.files = Path(folder), rounds, limit, 0

    def file(self, text):
        self.files += 1
        path = self.folder / f"{self.files}.txt"
        path.write_text(text)
        return path

    def run(self, program, schedules, carried=0):
        """What was measured, by name of schedule; or why nothing was."""
        files = ",".join(str(self.file(s)) if s else "-" for s in schedules.values())
        command = [FOLDER / "heddle_time_on_device", self.file(program), files, "--rounds", self.rounds]
        if carried:
            command += ["--carried", carried]
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                                  timeout=self.limit, env={**os.environ, "HEDDLE_CUDA_CHUNKS": "1", "HEDDLE_LOG": "1"})
        except subprocess.TimeoutExpired:
            return {"why": f"nothing after {self.limit} s"}
        if done.returncode != 0:
            return {"why": done.stderr.strip()[-300:]}
        notes = [line for line in done.stderr.splitlines() if "one by one" in line]
        found = json.loads(done.stdout[done.stdout.index("["):])
        return {**dict(zip(schedules, found)), "notes": notes[:1]}


def milliseconds(found):
    return min(found["seconds"]) * 1e3


def optimisers(bench, names, devices, sizes, keep):
    print("| devices on one GPU | kernels ms | slices ms | fused ms | kernels / fused | slices / fused "
          "| MB kernels, slices, fused | off |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name, text, state in OPTIMISERS:
        if name not in names:
            continue
        for size in sizes:
            for count in devices:
                case = f"{name} {size[0]}x{size[1]} on {count}"
                program = on_devices(optimiser(text, state, *size), count)
                found = bench.run(program, schedules_of(state), len(state))
                keep({"case": case, **found})
                if "why" in found:
                    print(f"| {case} | {found['why']} |", flush=True)
                    continue
                times = {way: milliseconds(found[way]) for way in schedules_of(state)}
                megabytes = ", ".join(f"{found[way]['bytes'] / 1e6:.0f}" for way in times)
                note = "" if found["fused"]["fused"] and not found["notes"] else f" not fused {found['notes']}"
                print(f"| {case} | {times['kernels']:.3f} | {times['slices']:.3f} | {times['fused']:.3f} | "
                      f"{times['kernels'] / times['fused']:.2f} | {times['slices'] / times['fused']:.2f} | {megabytes} | "
                      f"{max(found[way]['off'] for way in times):.1e}{note} |", flush=True)


def products_text(m, n, k, chunks):
    """The rows of a product, so many at a time."""
    rows = m // chunks
    names = range(chunks)
    arguments = ", ".join(f"%x{i}: tensor<{rows}x{k}xbf16>" for i in names)
    results = ", ".join(f"tensor<{rows}x{n}xbf16>" for _ in names)
    body = "".join(f"  %y{i} = stablehlo.dot_general %x{i}, %w, contracting_dims = [1] x [0]\n"
                   f"      : (tensor<{rows}x{k}xbf16>, tensor<{k}x{n}xbf16>) -> tensor<{rows}x{n}xbf16>\n" for i in names)
    values = ", ".join(f"%y{i}" for i in names)
    return (f"func.func @main({arguments}, %w: tensor<{k}x{n}xbf16>) -> ({results}) {{\n{body}"
            f"  return {values} : {results}\n}}\n")


def products(bench, keep):
    print("\n| product in bf16 by cuBLASLt | whole ms (TFLOP/s) | in 2 | in 4 | in 8 | rate in 8 of whole |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for m, n, k in ((8192, 8192, 8192), (16384, 4096, 4096)):
        times = {}
        for chunks in (1, 2, 4, 8):
            command = [FOLDER / "heddle_time_program", bench.file(products_text(m, n, k, chunks)), "--runs", "40"]
            done = subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False,
                                  timeout=bench.limit)
            times[chunks] = json.loads(done.stdout)["ms"] if done.returncode == 0 else float("nan")
        keep({"case": f"product {m}x{n}x{k}", "ms": times})
        print(f"| {m}x{n}x{k} | {times[1]:.3f} ({2e-9 * m * n * k / times[1]:.0f}) | {times[2]:.3f} | {times[4]:.3f} | "
              f"{times[8]:.3f} | {times[1] / times[8]:.3f} |", flush=True)
    print("\n| product, reduce_scatter; devices on one GPU | in sequence ms | in 2 | in 4 | in 8 | best of sequence |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for count in (2, 4):
        text = PRODUCT_SCATTER
        for letter, size in {"M": 8192, "K": 8192 * count, "N": 4096}.items():
            text = text.replace(f"{letter}x", f"{size}x").replace(f"x{letter}x", f"x{size}x")
        text = on_devices(text.replace("xf32", "xbf16"), count)
        schedules = {"sequence": "", **{str(n): f"overlap dot_general.0 reduce_scatter.0 in {n}\n" for n in (2, 4, 8)}}
        found = bench.run(text, schedules)
        keep({"case": f"product, reduce_scatter on {count}", **found})
        if "why" in found:
            print(f"| 8192x4096x8192 on {count} | {found['why']} |", flush=True)
            continue
        times = [milliseconds(found[way]) for way in schedules]
        print(f"| 8192x4096x8192 on {count} | " + " | ".join(f"{t:.3f}" for t in times) +
              f" | {times[0] / min(times[1:]):.3f} |", flush=True)


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--devices", default="2,4,8")
    words.add_argument("--sizes", default="2048x2048,8192x2048")
    words.add_argument("--names", default="momentum,Adam,LAMB")
    words.add_argument("--only", choices=("optimisers", "products"))
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--seconds", type=int, default=60, help="that a case may take")
    words.add_argument("--json", type=Path)
    given = words.parse_args()
    rows, begin = [], time.monotonic()

    def keep(row):
        rows.append(row)
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1))

    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, given.rounds, given.seconds)
        if given.only != "products":
            optimisers(bench, given.names.split(","), [int(n) for n in given.devices.split(",")],
                       [tuple(map(int, size.split("x"))) for size in given.sizes.split(",")], keep)
        if given.only != "optimisers":
            products(bench, keep)
    print(f"\n{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
