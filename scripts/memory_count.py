#!/usr/bin/env python3
"""What a search counts as a device's memory beside what the compiled program takes.

    scripts/memory_count.py build/release/heddle ../shared/programs/*_tiny_*.mlir

For each program and mesh: with all the memory it wants, then with parts of that.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

PLENTY = 10**15


def planned(heddle, program, mesh, memory):
    command = [heddle, "plan", program, "--plan", "auto", "--memory", f"{memory}B", "--json"]
    command += ["--mesh", mesh] if "=" in mesh else ["--cluster", mesh]
    done = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
    main = next((f for f in report.get("functions", []) if "search" in f), None)
    if main is None or "memory" not in main:
        return None, report.get("error", done.stderr).strip().splitlines()
    return (main["search"]["peak_bytes"], main["memory"]["bytes"], main), []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--mesh", nargs="+", default=["x=2", "x=2,y=2", "x=2,y=4"])
    parser.add_argument("--parts", nargs="*", type=float, default=[0.8, 0.6, 0.4])
    how = parser.parse_args()
    least, most = 99.0, 0.0
    for program in how.programs:
        for mesh in how.mesh:
            line, all_it_wants = f"{Path(program).stem:28} {mesh:8}", None
            for part in [None, *how.parts]:
                memory = PLENTY if part is None else int(part * all_it_wants)
                found, why = planned(how.heddle, program, mesh, memory)
                if found is None:
                    line += "        -" if part is not None else f"  {why[:1]}"
                    if part is None:
                        break
                    continue
                counted, compiled, _ = found
                all_it_wants = all_it_wants or max(counted, compiled)
                ratio = counted / compiled
                least, most = min(least, ratio), max(most, ratio)
                line += f"  {ratio:6.3f}" + (" " if compiled <= memory else "!")
            print(line, flush=True)
    print(f"counted / compiled: from {least:.3f} to {most:.3f}; ! does not fit, - nothing found")


if __name__ == "__main__":
    sys.exit(main())
