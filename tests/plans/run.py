#!/usr/bin/env python3
"""Compares plans that level 2 finds with those that are written down in plans.txt.

    tests/plans/run.py build/release/heddle [--update]

A line of plans.txt that begins with "plan" names a program of ../shared/programs and how it is searched; below it
stand the plan's cost and how many arguments of a type lie how. Clusters are files beside it or come along. A change of the search or of costs shows there as a
change of plans: look at it, and write it down with --update. Status 77 where the programs are not at hand.
"""

import argparse
import collections
import difflib
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = HERE / "plans.txt"
PROGRAMS = HERE.parents[2] / "shared/programs"
TIMEOUT = 150  # seconds per program, on a machine that is slow and busy


def plan_lines(heddle, case):
    """What stands below a case: cost and layouts, equal arguments in a row once."""
    name, *how = case.split()[1:]
    command = [heddle, "plan", str(PROGRAMS / f"{name}.mlir"), "--json", *how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, cwd=HERE)
    if done.returncode != 0:
        return [f"  {done.stderr.strip()}"]
    plan = json.loads(done.stdout)
    [function] = plan["functions"]
    lines = [f"  {function['mesh']}: cost {plan['cost']:.9g}, bound {plan['bound']:.9g}"]
    rows = collections.Counter(
        f"{a['type']} {a.get('sharding', '')}" for a in function["arguments"])
    return lines + [f"  {count} x {row}" for row, count in sorted(rows.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("heddle", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--update", action="store_true", help="write down what is found")
    args = parser.parse_args()
    if not PROGRAMS.is_dir():
        return 77
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    found = []
    for line in recorded:
        if line.startswith("#"):
            found.append(line)
        elif line.startswith("plan "):
            found += [line, *plan_lines(args.heddle, line)]
    if args.update:
        RECORD.write_text("\n".join(found) + "\n", encoding="utf-8")
    elif found != recorded:
        print("\n".join(difflib.unified_diff(recorded, found, "recorded", "found", lineterm="")))
        print(f"plans are others than those of {RECORD.name}: where that is meant, --update writes them down")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
