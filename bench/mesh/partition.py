#!/usr/bin/env python3
"""Times how a program is dealt out over a mesh: propagation and partitioning, by `heddle plan --json`.

    bench/mesh/partition.py [--repeat N]

First layers of matrix products on meshes of 2 to 65,536 devices, which is due to be flat within a
factor of two; then gpt3_175b_train of ../shared/programs on 8x8x8 with Megatron's layouts of the
weights and the optimiser's states split over the replicas (due: at most 5 s), where it is there. The
smallest time of all repetitions counts. The tool is $HEDDLE, or build/release/heddle.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = 48
ROWS = 4 * 65536


def tool():
    path = Path(os.environ.get("HEDDLE", ROOT / "build/release/heddle"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: build it with `make`, or set HEDDLE")
    return str(path)


def layers():
    """A chain of layers with their gradients of the weights, as StableHLO text."""
    x, w = f"tensor<{ROWS}x64xf32>", "tensor<64x64xf32>"
    args = ", ".join(f"%w{i}: {w}" for i in range(LAYERS))
    lines, last = [], "%x"
    for i in range(LAYERS):
        lines.append(f"    %d{i} = stablehlo.dot_general {last}, %w{i}, contracting_dims = [1] x [0] : "
                     f"({x}, {w}) -> {x}")
        lines.append(f"    %h{i} = stablehlo.tanh %d{i} : {x}")
        lines.append(f"    %g{i} = stablehlo.dot_general {last}, %h{i}, contracting_dims = [0] x [0] : "
                     f"({x}, {x}) -> {w}")
        lines.append(f"    %n{i} = stablehlo.subtract %w{i}, %g{i} : {w}")
        last = f"%h{i}"
    results = ", ".join(f"%n{i}" for i in range(LAYERS))
    types = ", ".join([w] * LAYERS)
    return (f"func.func @main(%x: {x}, {args}) -> ({types}) {{\n" + "\n".join(lines) +
            f"\n    return {results} : {types}\n}}\n")


def megatron(file):
    """Layouts for arguments and results of a GPT training step: parameters, then two states each."""
    head = next(line for line in file.open(encoding="utf-8") if "func.func public @main" in line)
    args = re.findall(r"%arg\d+: tensor<([^>]*)>", head.partition(") -> ")[0])
    results = re.findall(r"tensor<([^>]*)>", head.partition(") -> ")[2])
    first = results.index(args[0])  # a loss may stand before them
    weights = (len(args) - 2) // 3
    shard = {}
    for i, kind in enumerate(args):
        dims = [int(d) for d in kind.split("x")[:-1]]
        if kind.endswith("i32"):
            if dims:
                shard[f"arg{i}"] = "dp+fs,_"
            continue
        split = ["_"] * len(dims)
        wide = dims.index(max(dims)) if len(set(dims)) > 1 else 0
        is_weight = len(dims) == 2 and min(dims) > 4096  # no table of positions
        if is_weight or (len(dims) == 1 and dims[0] > 12288):
            split[wide] = "tp"
        if i >= weights and (is_weight or dims == [12288]):
            split[1 - wide if is_weight else 0] = "dp+fs"
        shard[f"arg{i}"] = shard[f"result{i + first}"] = ",".join(split)
    return {"mesh": "dp=8,fs=8,tp=8", "shard": shard}


def measure(file, options, repeat):
    best = None
    for _ in range(repeat):
        done = subprocess.run([tool(), "plan", str(file), "--json", *options], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr.strip())
        report = json.loads(done.stdout)
        seconds = sum(report[f"{stage}_seconds"] for stage in ("propagate", "decide", "partition"))
        if best is None or seconds < best[0]:
            best = (seconds, report)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "layers.mlir"
        file.write_text(layers(), encoding="utf-8")
        times = []
        for power in range(1, 17):
            mesh = f"dp={2 ** power}"
            seconds, report = measure(file, ["--mesh", mesh, "--shard", "arg0=dp,_"],
                                      arguments.repeat)
            times.append(seconds)
            print(f"{2 ** power:>6} devices  {seconds * 1e3:8.2f} ms  {report['ops']} ops  "
                  f"{len(report['functions'][0]['communications'])} communications", flush=True)
        print(f"largest over smallest: {max(times) / min(times):.2f} (due: at most 2)")
        gpt3 = ROOT.parent / "shared/programs/gpt3_175b_train.mlir"
        if not gpt3.exists():
            print(f"skipped, {gpt3.name} is not there")
            return
        plan = Path(folder) / "plan.json"
        plan.write_text(json.dumps(megatron(gpt3)), encoding="utf-8")
        seconds, report = measure(gpt3, ["--plan", str(plan)], arguments.repeat)
        kinds = {}
        for c in report["functions"][0]["communications"]:
            kinds[c["kind"]] = kinds.get(c["kind"], 0) + 1
        print(f"gpt3_175b_train on 8x8x8: {report['propagate_seconds']:.2f} s propagation, "
              f"{report['decide_seconds']:.2f} s deciding, "
              f"{report['partition_seconds']:.2f} s writing (due: at most 5 s together); "
              f"{report['ops']} ops, {kinds}")


if __name__ == "__main__":
    main()
