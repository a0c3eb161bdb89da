#!/usr/bin/env python3
"""Predicted against measured step times of several plans of several programs, on devices of this machine.

    bench/mesh/predicted.py [--transport threads|mpi] [--devices 1,2,4] [--programs A,B] [--rounds N] [--json FILE]

For each number of devices, `heddle calibrate` measures the machine as so many devices share it. Each
program is then planned as the search has it and with things fixed that make other plans of it, and
every plan is run: a line has the predicted and the measured seconds and their ratio. Rounds take
turns between all plans; the shortest run counts, because other work on the machine only makes it
longer (of more devices than cores the shortest stretch of runs: one alone may begin late). Ranks are
bound to cores where there is one for each, as mpirun does by itself. `spread` is what the middle one
of all rounds has beside the shortest: where it is above 1.25, the measurement itself is not that good.

At the end stand the share of plans within 25 %, and how well the order of each program's plans is
kept (Spearman, of programs with three plans or more that differ by more than 10 % or by their spread
when measured; only such pairs count as swapped). The tool is $HEDDLE, or build/release/heddle.
"""

import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from partition import ROOT, tool

SHARED = ROOT.parent / "shared/programs"
NEAR = 1.25
CLEARLY = 1.10
STRETCH, STRETCH_MS = 5, 20  # runs that count together where devices take turns
# How often the loops of these run is decided by data, or their text has a mesh of its own.
UNKNOWN = {"cg_poisson", "cg_sparse", "bicgstab_poisson", "float64_newton", "medley",
           "gpt_tiny_fsdp_sharded", "manual_collectives_sharded", "megatron_layer_sharded"}


def mlp(batch, width, layers):
    """A step of plain layers: products, tanh, and the gradient of the last weight."""
    kind, weight = f"tensor<{batch}x{width}xf32>", f"tensor<{width}x{width}xf32>"
    head = ", ".join(f"%w{i}: {weight}" for i in range(layers))
    lines = []
    for i in range(layers):
        lines += [f"%h{i} = stablehlo.dot_general %x{i}, %w{i}, contracting_dims = [1] x [0] : ({kind}, {weight}) -> {kind}",
                  f"%x{i + 1} = stablehlo.tanh %h{i} : {kind}"]
    lines.append(f"%g = stablehlo.dot_general %x0, %x{layers}, contracting_dims = [0] x [0] : ({kind}, {kind}) -> {weight}")
    lines.append(f"%n = stablehlo.add %w0, %g : {weight}")
    body = "\n".join(lines)
    return f"func.func @main(%x0: {kind}, {head}) -> {weight} {{\n{body}\nreturn %n : {weight}\n}}\n"


def largest_argument(file, devices):
    """`--fix` of the largest argument along its first dimension that devices can share evenly."""
    head = re.search(r"func\.func public @main\((.*?)\) ->", file.read_text(encoding="utf-8"), re.DOTALL)
    best = (0, "")
    for number, sizes in re.findall(r"%arg(\d+): tensor<((?:\d+x)+)", head[1] if head else ""):
        shape = [int(size) for size in sizes.split("x") if size]
        count = 1
        for size in shape:
            count *= size
        split = next((d for d, size in enumerate(shape) if size % devices == 0 and size > 1), None)
        if split is not None and len(shape) > 1 and count > best[0]:
            best = (count, f"arg{number}=" + ",".join("x" if d == split else "_" for d in range(len(shape))))
    return ["--fix", best[1]] if best[0] else None


def programs(folder, devices):
    """Name, file, options of its inputs, and what is fixed in its plans."""
    free, rows, weights, batch = [], ["--fix", "arg0=x,_"], ["--fix", "arg1=_,x"], ["--fix", "batch=x"]
    made = {"mlp_wide": mlp(64, 256, 4), "mlp_long": mlp(512, 128, 4), "mlp_large": mlp(256, 384, 3)}
    for name, text in made.items():
        file = Path(folder) / f"{name}.mlir"
        file.write_text(text, encoding="utf-8")
        yield name, file, ["--input", "random:1"], [free, rows, weights]
    for io in sorted(SHARED.glob("*.safetensors")):
        file = io.with_suffix(".mlir")
        if io.stem in UNKNOWN or not file.exists():
            continue
        fixes = [free, batch, largest_argument(file, devices)]
        yield io.stem, file, ["--io", str(io)], [fix for fix in fixes if fix is not None]


def call(command, may_fail=False):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    if may_fail:  # no such plan: a batch that cannot be shared, say
        return None
    sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")


def shortest(runs, devices):
    """Of devices with a core each the shortest run, of others the least mean of a stretch of runs, in ms."""
    runs = runs[1:]
    if devices <= os.cpu_count():
        return min(runs)
    count = min(len(runs), max(STRETCH, int(STRETCH_MS / (sum(runs) / len(runs)))))
    return min(sum(runs[i:i + count]) / count for i in range(len(runs) - count + 1))


def launcher(transport, devices):
    if transport != "mpi":
        return []
    bound = "core" if devices <= os.cpu_count() else "none"
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", bound, "-n", str(devices)]


def plans(devices, options, folder):
    """A function for each plan that runs it once: (predicted, measured) in seconds."""
    cluster = Path(folder) / f"{options.transport}-{devices}.json"
    call([*launcher(options.transport, devices), tool(), "calibrate", "-o", str(cluster),
          *(["--devices", str(devices)] if options.transport == "threads" else [])])
    wanted = set(options.programs.split(",")) if options.programs else None
    for name, file, inputs, fixes in programs(folder, devices):
        if wanted and name not in wanted:
            continue
        for fix in fixes if devices > 1 else fixes[:1]:
            command = [*launcher(options.transport, devices), tool(), "run", str(file), *inputs, "--json", "--repeat",
                       str(options.repeat * (2 if devices > os.cpu_count() else 1)), "--mesh", f"x={devices}", "--cluster", str(cluster), "--plan", "auto", *fix]

            def run(command=command):
                said = call(command, may_fail=True)
                if said is None:
                    return None
                done = json.loads(said)["functions"][0]
                return done["predicted_ms"] / 1e3, shortest(done["runs_ms"], devices) / 1e3
            yield name, " ".join(fix[1:]) or "found", run


def clearly(a, b):
    """Whether two plans differ by more than noise when measured."""
    return max(a[1], b[1]) > max(CLEARLY, a[2], b[2]) * min(a[1], b[1])


def kept_order(rows):
    """Spearman's rank correlation, how many pairs clearly differ, and how many of these are swapped."""
    different = [(a, b) for a, b in itertools.combinations(rows, 2) if clearly(a, b)]
    swapped = sum(1 for a, b in different if (a[0] - b[0]) * (a[1] - b[1]) < 0)
    if len(rows) < 2:
        return None, len(different), swapped
    pairs = [row[:2] for row in rows]
    def ranks(column):  # equal ones share theirs
        order = sorted(column)
        return [order.index(v) + (order.count(v) - 1) / 2 for v in column]
    columns = [ranks(column) for column in zip(*pairs)]
    middle = (len(pairs) - 1) / 2
    products = [sum((a - middle) * (b - middle) for a, b in zip(x, y))
                for x, y in itertools.product(columns, columns)]
    return products[1] / max(1e-9, (products[0] * products[3]) ** 0.5), len(different), swapped


def measure(devices, options, folder):
    all_plans = list(plans(devices, options, folder))
    seen = {}
    for _ in range(options.rounds):
        for name, fix, run in all_plans:
            if (times := run()) is not None:
                seen.setdefault((name, fix), []).append(times)
    rows = []
    for (name, fix), times in seen.items():
        measured = [t for _, t in times]
        predicted, least = times[0][0], min(measured)
        spread = statistics.median(measured) / least
        rows.append({"devices": devices, "transport": options.transport, "program": name, "plan": fix,
                     "predicted": predicted, "measured": least, "ratio": predicted / least, "spread": spread})
        print(f"{options.transport:<8} {devices}  {name:<22} {fix:<16} {predicted * 1e3:9.3f} ms {least * 1e3:9.3f} ms "
              f"{predicted / least:6.2f} {spread:7.2f}", flush=True)
    return rows


def summary(rows):
    near = [row for row in rows if 1 / NEAR <= row["ratio"] <= NEAR]
    noisy = sum(row["spread"] > NEAR for row in rows)
    print(f"within 25 %: {len(near)} of {len(rows)}; rounds of {noisy} differ by more than that among themselves")
    figures = lambda row: (row["predicted"], row["measured"], row["spread"])
    swaps = pairs = 0
    for name, devices in dict.fromkeys((row["program"], row["devices"]) for row in rows):
        of_one = [figures(row) for row in rows if row["program"] == name and row["devices"] == devices]
        order, different, swapped = kept_order(of_one)
        swaps += swapped
        pairs += different
        if swapped or (different and len(of_one) > 2):
            print(f"order of {name} on {devices}: {order:.2f}, {swapped} of {different} clearly different pairs swapped")
    for devices in dict.fromkeys(row["devices"] for row in rows):
        order, _, _ = kept_order([figures(row) for row in rows if row["devices"] == devices])
        print(f"order of all on {devices}: {order:.3f}")
    print(f"of {pairs} pairs of plans of one program that clearly differ, {swaps} are swapped")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transport", default="threads", choices=["threads", "mpi"])
    parser.add_argument("--devices", default="1,2,4")
    parser.add_argument("--programs", help="only these, with commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=40)
    parser.add_argument("--json", help="write all figures there")
    options = parser.parse_args()
    print(f"{'':8} {'':2} {'program':<22} {'plan':<16} {'predicted':>12} {'measured':>12}  ratio  spread")
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for n in options.devices.split(",") for row in measure(int(n), options, folder)]
    summary(rows)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
