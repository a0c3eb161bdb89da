#!/usr/bin/env python3
"""Predicted against measured step times of several plans of several programs, on devices of this machine.

    bench/mesh/predicted.py [--transport threads|mpi] [--devices 1,2,4] [--rounds N] [--json FILE]

For each number of devices, `heddle calibrate` measures the machine as so many devices share it. Each
program is then planned as the search has it and with things fixed that make other plans of it, and
every plan is run: a line has the predicted and the measured seconds and their ratio. Rounds take
turns between all plans; the shortest run counts, because other work on the machine only makes it
longer. At the end stand the share of plans within 25 %, and how well the order of each
program's plans is kept (Spearman; only pairs that differ by more than 10 % when measured count as
swapped). The tool is $HEDDLE, or build/release/heddle.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from partition import ROOT, tool

SHARED = ROOT.parent / "shared/programs"
NEAR = 1.25
CLEARLY = 1.10


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


def programs(folder):
    """Name, file, options of its inputs, and what is fixed in its plans."""
    free, rows, weights = [], ["--fix", "arg0=x,_"], ["--fix", "arg1=_,x"]
    made = {"mlp_wide": (mlp(64, 256, 4), [free, rows, weights]),
            "mlp_long": (mlp(512, 128, 4), [free, rows, weights]),
            "mlp_large": (mlp(256, 384, 3), [free, rows, weights])}
    for name, (text, fixes) in made.items():
        file = Path(folder) / f"{name}.mlir"
        file.write_text(text, encoding="utf-8")
        yield name, file, ["--input", "random:1"], fixes
    for name in ["gpt_tiny_train", "vgg_tiny_train", "llama_tiny_train_bf16", "shallow_water", "black_scholes"]:
        file = SHARED / f"{name}.mlir"
        if file.exists():
            yield name, file, ["--io", str(file.with_suffix(".safetensors"))], [free]


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


def launcher(transport, devices):
    if transport != "mpi" or devices == 1:
        return []
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(devices)]


def plans(devices, options, folder):
    """A function for each plan that runs it once: (predicted, measured) in seconds."""
    cluster = Path(folder) / f"{options.transport}-{devices}.json"
    call([*launcher(options.transport, devices), tool(), "calibrate", "-o", str(cluster),
          *(["--devices", str(devices)] if options.transport == "threads" or devices == 1 else [])])
    for name, file, inputs, fixes in programs(folder):
        for fix in fixes if devices > 1 else fixes[:1]:
            command = [*launcher(options.transport, devices), tool(), "run", str(file), *inputs, "--json", "--repeat",
                       str(options.repeat), "--mesh", f"x={devices}", "--cluster", str(cluster), "--plan", "auto", *fix]

            def run(command=command):
                done = json.loads(call(command))["functions"][0]
                return done["predicted_ms"] / 1e3, min(done["runs_ms"]) / 1e3
            yield name, " ".join(fix[1:]) or "found", run


def kept_order(pairs):
    """Spearman's rank correlation, and which clearly different pairs are swapped."""
    swapped = sum(1 for a, b in itertools.combinations(pairs, 2)
                  if max(a[1], b[1]) > CLEARLY * min(a[1], b[1]) and (a[0] - b[0]) * (a[1] - b[1]) < 0)
    if len(pairs) < 2:
        return None, swapped
    def ranks(column):  # equal ones share theirs
        order = sorted(column)
        return [order.index(v) + (order.count(v) - 1) / 2 for v in column]
    columns = [ranks(column) for column in zip(*pairs)]
    middle = (len(pairs) - 1) / 2
    products = [sum((a - middle) * (b - middle) for a, b in zip(x, y))
                for x, y in itertools.product(columns, columns)]
    return products[1] / max(1e-9, (products[0] * products[3]) ** 0.5), swapped


def measure(devices, options, folder):
    all_plans = list(plans(devices, options, folder))
    seen = {}
    for _ in range(options.rounds):
        for name, fix, run in all_plans:
            seen.setdefault((name, fix), []).append(run())
    rows = []
    for (name, fix), times in seen.items():
        predicted, measured = times[0][0], min(t for _, t in times)
        rows.append({"devices": devices, "transport": options.transport, "program": name, "plan": fix,
                     "predicted": predicted, "measured": measured, "ratio": predicted / measured})
        print(f"{options.transport:<8} {devices}  {name:<22} {fix:<10} {predicted * 1e3:9.3f} ms {measured * 1e3:9.3f} ms "
              f"{predicted / measured:6.2f}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transport", default="threads", choices=["threads", "mpi"])
    parser.add_argument("--devices", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--json", help="write all figures there")
    options = parser.parse_args()
    print(f"{'':8} {'':2} {'program':<22} {'plan':<10} {'predicted':>12} {'measured':>12}  ratio")
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for n in options.devices.split(",") for row in measure(int(n), options, folder)]
    near = sum(1 / NEAR <= row["ratio"] <= NEAR for row in rows)
    print(f"within 25 %: {near} of {len(rows)}")
    for name in dict.fromkeys(row["program"] for row in rows):
        pairs = [(row["predicted"], row["measured"]) for row in rows if row["program"] == name]
        order, swapped = kept_order(pairs)
        if order is not None:
            print(f"order of {name}: {order:.2f}, {swapped} clearly different pairs swapped")
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
