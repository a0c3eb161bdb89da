#!/usr/bin/env python3
"""Arrays beside NumPy, cuPyNumeric, JAX and PETSc: times, ratios, and the floor that memory sets.

    make bench-arrays ARGS="--largest 1e7"      # needs build/release, build/venv

cuPyNumeric runs on the CPU, with a stand-in for NVIDIA's driver; PETSc is Debian's (python3-petsc4py-real, mpirun).
`--device cuda` compares with JAX and CuPy on a GPU instead, by the Python that runs this script where there is no
build/venv. What is not installed is left out, and said so.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
HERE = ROOT / "bench" / "arrays"
PETSC = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib/python3/dist-packages"
SECONDS = 3000  # that a process may take
APPS = ["Black-Scholes", "Jacobi", "CG", "BiCGSTAB", "GMG", "CFD", "shallow water"]


def driver():
    """The stand-in, built where it is missing."""
    library = ROOT / "build" / "no_driver" / "libcuda.so.1"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "no_driver.c"], check=True)
    return str(library.parent)


def lines(command, environment):
    try:
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(f"left out: {' '.join(map(str, command[3:]))}: nothing after {SECONDS} s", file=sys.stderr)
        return []
    if done.returncode != 0:
        print(f"left out: {' '.join(map(str, command[:4]))} …: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def run(framework, kind, *rest):
    python, environment = ROOT / "build/venv/bin/python", {}
    if not python.exists():
        python = pathlib.Path(sys.executable)
    if framework == "heddle":
        environment = {"PYTHONPATH": str(ROOT / "build/release/python")}
    if framework == "jax":
        environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    if framework == "cupynumeric":
        python = ROOT / "build/arrays-venv/bin/python"
        environment = {"LD_LIBRARY_PATH": driver(), "LEGATE_AUTO_CONFIG": "0",
                       "LEGATE_CONFIG": "--cpus 2 --sysmem 6000"}  # fmt: skip
        rest = [one for one in rest if one not in ("CG", "BiCGSTAB", "GMG")]
    if framework == "petsc":
        if not os.path.isdir(PETSC) or not shutil.which("mpirun"):
            print("left out: PETSc is not installed", file=sys.stderr)
            return []
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "/usr/bin/python3", HERE / "petsc.py", *rest]
        return lines(command, {"PYTHONPATH": PETSC, "OMP_NUM_THREADS": "1"})
    if not python.exists():
        print(f"left out: {framework}, there is no {python}", file=sys.stderr)
        return []
    return lines([python, "-W", "ignore", HERE / "worker.py", framework, kind, *rest], environment)


def geomean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def table(kind, frameworks, *rest):
    found = {}
    for framework in frameworks:
        for line in run(framework, kind, *rest):
            found.setdefault((line["name"], line["size"]), {})[framework] = line
    ours = [row for row in found.values() if "heddle" in row]
    # The best rate of all programs stands for what memory gives: all that they need is read and written once.
    rate = max((r["heddle"]["bytes"] / r["heddle"]["seconds"] for r in ours if r["heddle"].get("bytes", 0) > 1e7), default=0)
    print(f"{'':16}{'size':>10}" + "".join(f"{one:>14}" for one in frameworks) + f"{'floor':>10}   times Heddle's")
    ratios = {one: [] for one in frameworks[1:]}
    for (name, size), row in found.items():
        if "heddle" not in row:
            continue
        mine = row["heddle"]["seconds"]
        shown = "".join(f"{row[one]['seconds'] * 1e6:11.2f} µs" if one in row else f"{'–':>14}" for one in frameworks)
        needs = row["heddle"].get("bytes", 0)
        floor = f"{mine / (needs / rate):9.2f}x" if rate and needs > 1e6 else f"{'':10}"
        over = []
        for one in ratios:
            if one in row:
                ratios[one].append(row[one]["seconds"] / mine)
                over.append(f"{one} {ratios[one][-1]:.2f}")
        print(f"{name:18}{size:9}{shown}{floor}   {', '.join(over)}", flush=True)
    for one, all_of in ratios.items():
        if all_of:
            print(f"  {one}: geometric mean {geomean(all_of):.2f}, least {min(all_of):.2f}, of {len(all_of)}")
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=float, default=1e8, help="elements")
    parser.add_argument("--grids", nargs="*", default=["500", "1000", "2000"], help="of solvers")
    parser.add_argument("--only", choices=("elementwise", "apps", "solvers"))
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="that one process may take")
    args = parser.parse_args()
    SECONDS = args.seconds
    on_gpu = args.device != "cpu"
    os.environ["HEDDLE_DEVICE"] = args.device
    sizes = [str(10**power) for power in range(4 if on_gpu else 0, 9) if 10**power <= args.largest]
    if args.only in (None, "elementwise"):
        table("elementwise", ["heddle", "jax", "cupy"] if on_gpu else ["heddle", "numpy", "cupynumeric", "jax"], *sizes)
    if args.only in (None, "apps") and on_gpu:
        for app in APPS:  # one that takes long must not lose the others
            table("apps", ["heddle", "cupy"], app)
    elif args.only in (None, "apps"):
        table("apps", ["heddle", "numpy", "cupynumeric"], *APPS)
    if args.only in (None, "solvers") and not on_gpu:
        table("solvers", ["heddle", "numpy", "petsc"], *args.grids)
