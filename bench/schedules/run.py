#!/usr/bin/env python3
"""Schedules on two ranks of this machine: how much communication work hides over a link that is emulated
by a rate limit, and optimisers inside of the collective against separate kernels.

    bench/schedules/run.py [--rounds N] [--chunks 2,4,8] [--only hidden|optimisers] [--json FILE]

Hidden communication: a product whose sums are scattered, and a product with what was gathered. `alone` is the
time without the link, `sequence` with it and nothing beside it, `chunks` by the schedule (`overlap`: chunks that are
collectives of their own, `fuse`: one chunk program) in each of the ways of --chunks, the best of which counts. Hidden = 1 - (chunks - alone) / (sequence - alone). With n chunks the first
product or the last message has nothing to hide behind, so that 1 - 1 / n can be hidden where the work takes at
least as long; `of what can be` is the share of that.

Optimisers: a step of Adam and of SGD with momentum over two processes that share memory, no link emulated; results
become the arguments of the next step, in place. `kernels`
sums the gradients and then runs the optimiser's kernel on all of them; `slices` is reduce-scatter, kernel and
all-gather, one after the other; `fused` the same as one chunk program. Bytes are what the steps of a device read and
write.

Cases take turns, each time in new processes, whose pages lie elsewhere; medians count. The tools are in build/release, or $HEDDLE's folder.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("HEDDLE", ROOT / "build/release/heddle")).resolve().parent
RANKS = 2

PRODUCT_SCATTER = """
sdy.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<MxKxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>},
                %w: tensor<KxNxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>})
    -> (tensor<MxNxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<MxKxf32>, tensor<KxNxf32>) -> tensor<MxNxf32>
  return %y : tensor<MxNxf32>
}
"""
GATHER_PRODUCT = """
sdy.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<MxKxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>},
                %w: tensor<KxNxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>})
    -> (tensor<MxNxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<MxKxf32>, tensor<KxNxf32>) -> tensor<MxNxf32>
  return %y : tensor<MxNxf32>
}
"""
# name, text, sizes, the ops of the schedule's line
PRODUCTS = [
    ("product -> reduce_scatter", PRODUCT_SCATTER, {"M": 1536, "K": 3072, "N": 1536},
     "dot_general.0 reduce_scatter.0"),
    ("all_gather -> product", GATHER_PRODUCT, {"M": 3072, "K": 1536, "N": 1536},
     "all_gather.0 dot_general.0"),
]

HEAD = """
sdy.mesh @mesh = <["dp"=2]>
func.func @main(%g: tensor<2xRxCxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>},
                ARGUMENTS) -> (RESULTS) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<2xRxCxf32>, tensor<f32>) -> tensor<RxCxf32>
"""
ADAM = """
  %rate = stablehlo.constant dense<0.001> : tensor<RxCxf32>
  %b1 = stablehlo.constant dense<0.9> : tensor<RxCxf32>
  %c1 = stablehlo.constant dense<0.1> : tensor<RxCxf32>
  %b2 = stablehlo.constant dense<0.999> : tensor<RxCxf32>
  %c2 = stablehlo.constant dense<0.001> : tensor<RxCxf32>
  %tiny = stablehlo.constant dense<0.00000001> : tensor<RxCxf32>
  %0 = stablehlo.multiply %b1, %m : tensor<RxCxf32>
  %1 = stablehlo.multiply %c1, %sum : tensor<RxCxf32>
  %m1 = stablehlo.add %0, %1 : tensor<RxCxf32>
  %2 = stablehlo.multiply %sum, %sum : tensor<RxCxf32>
  %3 = stablehlo.multiply %b2, %v : tensor<RxCxf32>
  %4 = stablehlo.multiply %c2, %2 : tensor<RxCxf32>
  %v1 = stablehlo.add %3, %4 : tensor<RxCxf32>
  %5 = stablehlo.sqrt %v1 : tensor<RxCxf32>
  %6 = stablehlo.add %5, %tiny : tensor<RxCxf32>
  %7 = stablehlo.divide %m1, %6 : tensor<RxCxf32>
  %8 = stablehlo.multiply %rate, %7 : tensor<RxCxf32>
  %p1 = stablehlo.subtract %p, %8 : tensor<RxCxf32>
"""
MOMENTUM = """
  %rate = stablehlo.constant dense<0.001> : tensor<RxCxf32>
  %b1 = stablehlo.constant dense<0.9> : tensor<RxCxf32>
  %0 = stablehlo.multiply %b1, %m : tensor<RxCxf32>
  %m1 = stablehlo.add %0, %sum : tensor<RxCxf32>
  %1 = stablehlo.multiply %rate, %m1 : tensor<RxCxf32>
  %p1 = stablehlo.subtract %p, %1 : tensor<RxCxf32>
"""
OPTIMISERS = [("Adam", ADAM, "pmv"), ("momentum", MOMENTUM, "pm")]
SIZES = [(256, 256), (512, 512), (1024, 1024), (2048, 2048), (8192, 2048)]


def optimiser(text, state, rows, columns):
    """The program of a step, whose gradients lie over dp and whose state all devices have."""
    whole = "{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}"
    head = HEAD.replace("ARGUMENTS", ", ".join(f"%{s}: tensor<RxCxf32> {whole}" for s in state))
    head = head.replace("RESULTS", ", ".join(f"tensor<RxCxf32> {whole}" for _ in state))
    types = ", ".join("tensor<RxCxf32>" for _ in state)
    end = f"  return {', '.join(f'%{s}1' for s in state)} : {types}\n}}\n"
    return (head + text + end).replace("RxC", f"{rows}x{columns}")


def schedules_of(state):
    places = range(1, len(state))
    slices = "rs, ag = split all_reduce.0 along 0\nnew = reorder * under ag\nas_slice "
    slices += " ".join(f"arg{i + 1} result{i}" for i in places) + "\n"
    return {"kernels": "", "slices": slices, "fused": slices + "fuse rs result0\n"}


class Bench:
    def __init__(self, folder, rounds):
        self.folder, self.rounds, self.files = Path(folder), rounds, 0

    def file(self, text):
        self.files += 1
        path = self.folder / f"{self.files}.txt"
        path.write_text(text)
        return path

    def run(self, program, schedule="", rate=0.0, way="overlap", rounds=None):
        """What rank 0 measures: seconds of each round, bytes and steps."""
        command = [FOLDER / "heddle", "launch", "-n", str(RANKS), "--", FOLDER / "heddle_time_schedule",
                   self.file(program), self.file(schedule) if schedule else "-", str(rate), way,
                   str(rounds or self.rounds)]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                              env={**os.environ, "HEDDLE_THREADS": "1"})
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout[done.stdout.index("{"):])

    def in_turns(self, cases, turns, pick):
        """The cases one after the other, several times; what `pick` makes of all rounds of each."""
        seconds, last = {name: [] for name in cases}, {}
        for _ in range(turns):
            for name, words in cases.items():
                last[name] = self.run(rounds=max(1, self.rounds // turns), **words)
                seconds[name] += last[name]["seconds"]
        return {name: {**last[name], "seconds": pick(seconds[name])} for name in cases}


def hidden(bench, chunks):
    """Rows of the first table; the link is as slow as to take 0.6 of the work's time."""
    rows = []
    for name, text, sizes, line in PRODUCTS:
        for letter, size in sizes.items():
            text = text.replace(f"{letter}x", f"{size}x").replace(f"x{letter}x", f"x{size}x")
        moved = 4 * sizes["M"] * sizes["N" if "scatter" in name else "K"] / RANKS
        alone = statistics.median(bench.run(text, way="sequence")["seconds"])
        rate = moved / (0.6 * alone)
        cases = {"alone": {"program": text, "way": "sequence"},
                 "sequence": {"program": text, "way": "sequence", "rate": rate}}
        for step in ("overlap", "fuse"):
            for n in chunks:
                cases[step, n] = {"program": text, "schedule": f"{step} {line} in {n}\n", "rate": rate}
        times = {case: found["seconds"] for case, found in bench.in_turns(cases, 6, statistics.median).items()}
        exposed = times["sequence"] - times["alone"]
        for step in ("overlap", "fuse"):
            best = min(chunks, key=lambda n, step=step: times[step, n])
            share = 1 - (times[step, best] - times["alone"]) / exposed
            rows.append({"case": f"{name}, {step}", "link": rate, "alone": times["alone"],
                         "sequence": times["sequence"], "best": times[step, best], "chunks": best, "hidden": share,
                         "of_possible": share / (1 - 1 / best), "all": {str(n): times[step, n] for n in chunks}})
    return rows


def optimisers(bench):
    rows = []
    for name, text, state in OPTIMISERS:
        for size in SIZES:
            program = optimiser(text, state, *size)
            cases = {way: {"program": program, "schedule": schedule, "way": "steps"}
                     for way, schedule in schedules_of(state).items()}
            found = bench.in_turns(cases, 6, statistics.median)
            rows.append({"case": f"{name} {size[0]}x{size[1]}",
                         **{f"{way} s": found[way]["seconds"] for way in cases},
                         **{f"{way} bytes": found[way]["bytes"] for way in cases}})
    return rows


def ms(seconds):
    return f"{1e3 * seconds:.2f}"


def print_hidden(rows):
    print("| two ranks, emulated link | link | alone ms | sequence ms | in chunks ms | hidden | of what can be |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row['case']} | {row['link'] / 1e6:.0f} MB/s | {ms(row['alone'])} | {ms(row['sequence'])} | "
              f"{ms(row['best'])} (in {row['chunks']}) | {row['hidden']:.2f} | {row['of_possible']:.2f} |")


def print_optimisers(rows):
    print("| two processes | kernels ms | slices ms | fused ms | kernels / fused | slices / fused "
          "| MB kernels, slices, fused |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        megabytes = ", ".join(f"{row[f'{way} bytes'] / 1e6:.0f}" for way in ("kernels", "slices", "fused"))
        print(f"| {row['case']} | {ms(row['kernels s'])} | {ms(row['slices s'])} | {ms(row['fused s'])} | "
              f"{row['kernels s'] / row['fused s']:.2f} | {row['slices s'] / row['fused s']:.2f} | {megabytes} |")


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--rounds", type=int, default=15)
    words.add_argument("--chunks", default="4,8,16")
    words.add_argument("--only", choices=("hidden", "optimisers"))
    words.add_argument("--json", type=Path)
    given = words.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, given.rounds)
        if given.only != "optimisers":
            found["hidden"] = hidden(bench, [int(n) for n in given.chunks.split(",")])
            print_hidden(found["hidden"])
        if given.only != "hidden":
            found["optimisers"] = optimisers(bench)
            print_optimisers(found["optimisers"])
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
