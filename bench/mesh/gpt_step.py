#!/usr/bin/env python3
"""Times a GPT training step on two devices that are threads, against one device with the same cores.

    bench/mesh/gpt_step.py [--rounds N] [--repeat N]

The program is gpt_tiny_train of ../shared/programs, or examples/gpt/train.mlir (eight steps) where that
is not there; its batch is split over the devices. Rounds take turns between the two, each giving the
median of its runs; the median over all rounds counts. Due: at most 1.1 times the time of one device.
The tool is $HEDDLE, or build/release/heddle.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys

from partition import ROOT, tool


def program():
    """The file, and the layout that splits its batch."""
    step = ROOT.parent / "shared/programs/gpt_tiny_train.mlir"
    if not step.exists():
        return ROOT / "examples/gpt/train.mlir", ["--shard", "value:tensor<4x16xi32>=dp,_"]
    head = next(line for line in step.open(encoding="utf-8") if "func.func public @main" in line)
    batch = re.findall(r"%(arg\d+): tensor<\d+x\d+xi32>", head)
    return step, [word for name in batch for word in ("--shard", f"{name}=dp,_")]


def seconds(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)["functions"][0]["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--repeat", type=int, default=200)
    options = parser.parse_args()
    file, layout = program()
    base = [tool(), "run", str(file), "--io", str(file.with_suffix(".safetensors")), "--json", "--repeat",
            str(options.repeat)]
    one, two = [], []
    for _ in range(options.rounds):
        one.append(seconds(base))
        two.append(seconds([*base, "--mesh", "dp=2", *layout]))
    ratios = [b / a for a, b in zip(one, two)]
    print(f"{file.name}: one device {statistics.median(one) * 1e3:.2f} ms "
          f"({min(one) * 1e3:.2f} to {max(one) * 1e3:.2f}), two devices {statistics.median(two) * 1e3:.2f} ms "
          f"({min(two) * 1e3:.2f} to {max(two) * 1e3:.2f})")
    print(f"two over one: {statistics.median(two) / statistics.median(one):.2f}, by rounds "
          f"{min(ratios):.2f} to {max(ratios):.2f} (due: at most 1.1)")


if __name__ == "__main__":
    main()
