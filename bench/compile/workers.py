#!/usr/bin/env python3
"""Whether plans hold for machines of every size: kernels' traffic and launches by number of workers.

    bench/compile/workers.py build/release/heddle FILE.mlir|FOLDER ... [--workers 1,2,4] [--seconds 60]
                             [--json OUT] [--base IN]

A folder stands for the programs in it, smallest first. Compiles every program for 1, 2, 4, 16, 64 and 192 workers (no machine code, figures that nobody has
measured) and prints launches and bytes that kernels move for each. A program is marked where, at some
number of workers, it moves more than 1.10 times the least bytes over all of them, or takes more than
1.25 times the fewest launches. With --base, a file that --json wrote before, it is also marked where
two workers have more of either than they had then. After --seconds no other program is begun. The exit
status is 1 where a program is marked, and 77 where there is none to compile.
"""

import argparse
import json
import os
import subprocess
import sys
import time

MOST_BYTES, MOST_LAUNCHES = 1.10, 1.25


def measure(heddle, path, workers):
    env = dict(os.environ, HEDDLE_THREADS=str(workers), HEDDLE_CACHE_DIR="")
    run = subprocess.run([heddle, "compile", path, "--no-code", "--json"], env=env, capture_output=True, text=True)
    if run.returncode != 0:
        return {"error": (run.stderr.strip().splitlines() or ["no message"])[0]}
    report = json.loads(run.stdout)
    return {"bytes": report["kernel_bytes"], "launches": report["launches"], "ms": report["compile_ms"]}


def complaints(rows, before):
    """What does not hold of one program, in words; rows by number of workers."""
    failed = {w: row["error"] for w, row in rows.items() if "error" in row}
    if failed:
        return [f"{w} workers: {text}" for w, text in failed.items()]
    found = []
    for what, most in (("bytes", MOST_BYTES), ("launches", MOST_LAUNCHES)):
        least = min(row[what] for row in rows.values())
        for w, row in rows.items():
            if row[what] > most * least:
                found.append(f"{w} workers: {what} {row[what] / max(least, 1):.2f} times the least")
        if before and "2" in rows and rows["2"][what] > before.get("2", {}).get(what, rows["2"][what]):
            found.append(f"2 workers: {what} {rows['2'][what]}, {before['2'][what]} before")
    return found


def files_of(paths):
    files = []
    for path in paths:
        if os.path.isdir(path):
            inside = [os.path.join(path, f) for f in os.listdir(path) if f.endswith(".mlir")]
            files += sorted(inside, key=os.path.getsize)
        elif os.path.exists(path):
            files.append(path)
        else:
            print(f"{path} is not there")
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heddle")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--workers", default="1,2,4,16,64,192")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--base", help="figures of an earlier run to compare two workers with")
    args = parser.parse_args()
    counts = args.workers.split(",")
    base = json.load(open(args.base)) if args.base else {}
    table, marked = {}, 0
    files = files_of(args.programs)
    if not files:
        print("skipped: there are no programs to compile")
        sys.exit(77)
    start = time.monotonic()
    print(f"{'launches / MB of kernels, by workers':<36}" + "".join(f"{w:>16}" for w in counts) + "        s")
    for path in files:
        if time.monotonic() - start > args.seconds:
            print(f"{path} and larger ones are left out after {args.seconds:.0f} s")
            break
        name = os.path.splitext(os.path.basename(path))[0]
        rows = table[name] = {w: measure(args.heddle, path, w) for w in counts}
        cells = [f"{r['launches']} / {r['bytes'] / 1e6:.1f}" if "bytes" in r else "failed" for r in rows.values()]
        seconds = sum(r.get("ms", 0) for r in rows.values()) / 1e3
        print(f"{name:<36}" + "".join(f"{c:>16}" for c in cells) + f"{seconds:>9.1f}", flush=True)
        wrong = complaints(rows, base.get(name, {}))
        marked += bool(wrong)
        for line in wrong:
            print(f"    ! {line}", flush=True)
    print(f"{len(table)} programs, {marked} of them marked")
    if args.json:
        with open(args.json, "w") as out:
            json.dump(table, out, indent=1)
    sys.exit(1 if marked else 0)


if __name__ == "__main__":
    main()
