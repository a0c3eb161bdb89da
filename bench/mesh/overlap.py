#!/usr/bin/env python3
"""Times work beside a collective: as scheduled, against the same program in sequence (`--sequence`).

    bench/mesh/overlap.py [--rounds N] [--repeat N] [--turns N]

Two cases on two ranks, each for threads, `heddle launch` and the MPIs that are there:

    uneven    one rank has work that an all-reduce of 1 MB does not need; the other one has half as much
              before it and half behind it, and both meet at the end. In sequence one of them waits half
              of the time, whichever comes first on the one: the work or the sum. Two cores are enough
    balanced  both ranks have the same work beside an all-reduce of 16 MB. Where every core computes
              anyway there is nothing to gain, and nothing may be lost

A trace of each run says in which part of the all-reduce's time the first rank has computed. Rounds
take turns; the median counts. The tool is $HEDDLE, or build/release/heddle.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from partition import tool

RANKS = 2
MATRIX = "tensor<512x512xf32>"
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def loop(name, value, turns):
    """A matrix that is multiplied so many times."""
    return f"""
      %{name}:2 = stablehlo.while(%t = %zero, %s = {value}) : tensor<i32>, {MATRIX}
      cond {{
        %p = stablehlo.compare LT, %t, {turns} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %d = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : ({MATRIX}, {MATRIX}) -> {MATRIX}
        %u = stablehlo.add %t, %one : tensor<i32>
        stablehlo.return %u, %d : tensor<i32>, {MATRIX}
      }}"""


def all_reduce(name, value, kind, channel):
    return f"""
      %{name} = "stablehlo.all_reduce"({value}) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
          channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 1>, use_global_device_ids}}> ({{
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }}) : ({kind}) -> {kind}"""


def program(case, turns):
    """One device's part stands inside of a manual computation."""
    big = "tensor<2048x2048xf32>"
    mine = MATRIX if case == "uneven" else big
    whole = {MATRIX: "tensor<1024x512xf32>", big: "tensor<4096x2048xf32>"}
    rows = '<@mesh, [{"x"}, {}]>'
    body = f"""
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %turns = stablehlo.constant dense<{turns}> : tensor<i32>"""
    if case == "uneven":
        body += """
      %id = stablehlo.partition_id : tensor<ui32>
      %rank = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %other = stablehlo.subtract %one, %rank : tensor<i32>
      %beside = stablehlo.multiply %other, %turns : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %all = stablehlo.multiply %rank, %turns : tensor<i32>
      %half = stablehlo.divide %all, %two : tensor<i32>"""
        body += loop("first", "%a", "%half") + all_reduce("c", "%first#1", MATRIX, 1)
        body += loop("work", "%b", "%beside") + loop("last", "%c", "%half")
        body += all_reduce("end", "%last#1", MATRIX, 2)
    else:
        body += all_reduce("c", "%a", big, 1) + loop("work", "%b", "%turns")
    given = "%end" if case == "uneven" else "%c"
    body += f"\n      sdy.return {given}, %work#1 : {mine}, {MATRIX}"
    results = f"{whole[mine]}, {whole[MATRIX]}"
    return f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: {whole[mine]}, %y: {whole[MATRIX]}, %v: {MATRIX}) -> ({results}) {{
  %out:2 = sdy.manual_computation(%x, %y, %v) in_shardings=[{rows}, {rows}, <@mesh, [{{}}, {{}}]>]
      out_shardings=[{rows}, {rows}] manual_axes={{"x"}} (%a: {mine}, %b: {MATRIX}, %w: {MATRIX}) {{{body}
  }} : ({whole[mine]}, {whole[MATRIX]}, {MATRIX}) -> ({results})
  return %out#0, %out#1 : {results}
}}
"""


def launchers():
    """What starts two ranks, by name."""
    found = {"threads": [], "launch": [tool(), "launch", "-n", str(RANKS), "--"]}
    for kind in ("openmpi", "mpich"):
        if shutil.which(f"mpirun.{kind}") and Path(tool()).with_name(f"heddle_mpi_{kind}.so").exists():
            found[kind] = [f"mpirun.{kind}", "-n", str(RANKS)]
    return found


def run(start, file, words):
    command = [*start, tool(), "run", str(file), "--input", "random:1", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **MPI_ENVIRONMENT})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    # The launcher puts the rank before each line.
    text = "\n".join(line.removeprefix("[0] ") for line in done.stdout.splitlines())
    return text[text.index("{"):] if "--json" in words else text


def seconds(start, file, words, repeat):
    report = json.loads(run(start, file, [*words, "--json", "--repeat", str(repeat)]))
    return report["functions"][0]["seconds"]


def share_beside(start, file, words, folder):
    """The part of the first rank's all-reduce in which it computed."""
    trace = Path(folder) / "trace.json"
    run(start, file, [*words, "--trace", str(trace)])
    events = json.loads(trace.read_text())["traceEvents"]
    first = next(e["pid"] for e in events if e.get("args", {}).get("name") == "rank 0")
    spans = [e for e in events if e.get("ph") == "X"]
    spans = [(e["cat"], e["ts"], e["ts"] + e["dur"], e["name"]) for e in spans if e["pid"] == first]
    _, begin, end, _ = next(s for s in spans if s[0] == "collective" and "all_reduce" in s[3])
    inside = sum(max(0, min(end, e) - max(begin, b)) for cat, b, e, _ in spans if cat == "library")
    return inside / max(end - begin, 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    print(f"{'case':10}{'ranks':10}{'scheduled':>12}{'in sequence':>14}{'ratio':>8}"
          f"{'computed in the all-reduce':>30}")
    with tempfile.TemporaryDirectory() as folder:
        for case in ("uneven", "balanced"):
            file = Path(folder) / f"{case}.mlir"
            file.write_text(program(case, options.turns))
            for name, start in launchers().items():
                times = {"scheduled": [], "sequence": []}
                for _ in range(options.rounds):
                    times["scheduled"].append(seconds(start, file, [], options.repeat))
                    times["sequence"].append(seconds(start, file, ["--sequence"], options.repeat))
                a, b = (statistics.median(times[way]) * 1e3 for way in ("scheduled", "sequence"))
                shares = [share_beside(start, file, words, folder) for words in ([], ["--sequence"])]
                print(f"{case:10}{name:10}{a:9.1f} ms{b:11.1f} ms{b / a:8.2f}"
                      f"{shares[0]:18.0%} and {shares[1]:.0%}", flush=True)


if __name__ == "__main__":
    main()
