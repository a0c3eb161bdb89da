#!/usr/bin/env python3
"""JAX programs on Heddle's backend beside JAX's CPU backend, both called from Python, in one run.

    make bench-python                        all
    make bench-python ARGS="softmax --quick" those with one of these words in their names, shorter

The two are processes of their own and take turns, several rounds per program. A tiny jitted function is
called as often as it goes; the programs are those of bench/cpu; a GPT of GPT-2 small's width with two layers
is trained with optax. Programs of bench/cpu also run by the tool, `heddle run`.

Times are medians of calls that wait for their results, in milliseconds. x jax: JAX's time over Heddle's.
/ tool: Heddle's time from Python over the tool's.

The last line is JSON: `dispatch` and `dispatch_wait` (Heddle's time over JAX's; due: at most 1), the geometric
mean of x jax over bench/cpu's programs, that of / tool and the greatest (due: at most 1.1) without the tiny
ones, for which Python itself takes longest, and x jax of the training step. The exit status is 1 where
results differ.
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
sys.path[:0] = [str(ROOT / "bench/cpu"), str(ROOT / "scripts")]
import jax_package  # noqa: E402

if __name__ == "__main__" and "--package" not in sys.argv:
    jax_package.enter_environment()
os.environ["JAX_PLATFORMS"] = "cpu"  # of this process, which exports programs for the tool
import cases  # noqa: E402
from heddle_side import Failed, Heddle  # noqa: E402
from programs import PROGRAMS, TINY  # noqa: E402
from report import geomean, milliseconds, plain  # noqa: E402
from worker import DISPATCH, TRAINING, WAIT  # noqa: E402

RTOL = 1e-3  # of sums; bench/cpu compares the elements


def arguments():
    first, rest = __doc__.split("\n", 1)
    parser = argparse.ArgumentParser(
        description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="words of the programs' names; without any, all")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side (3)")
    parser.add_argument("--seconds", type=float, default=0.4, help="of one turn (0.4)")
    parser.add_argument("--no-tool", action="store_true", help="without `heddle run`")
    parser.add_argument("--package", type=Path, metavar="DIR", help="where the package heddle lies")
    parser.add_argument("--heddle", type=Path, default=ROOT / "build/release/heddle", metavar="TOOL")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rounds, chosen.seconds = 1, 0.2
    return chosen


class Side:
    """A process with one of the backends."""

    def __init__(self, variables):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "HEDDLE_DEVICES", "XLA_"))}
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(Path(__file__).with_name("worker.py"))], env=kept | variables,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"a worker ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self._answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def differ(ours, theirs):
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    far = [i for i, (a, b) in enumerate(zip(ours, theirs)) if abs(a - b) > RTOL * abs(b) + RTOL]
    return f"result {far[0]} sums up to {ours[far[0]]} instead of {theirs[far[0]]}" if far else ""


class Bench:
    def __init__(self, chosen, scratch):
        self.chosen, self.scratch = chosen, scratch
        self.tool = None if chosen.no_tool else Heddle(chosen.heddle.resolve(), scratch)
        ours = {"JAX_PLATFORMS": "heddle,cpu", "PYTHONPATH": str(chosen.package)}
        if self.tool is not None:  # what the tool measured of the machine holds for both
            ours["HEDDLE_CACHE_DIR"] = str(self.tool.calibrated)
        self.heddle, self.jax = Side(ours), Side({"JAX_PLATFORMS": "cpu"})
        self.rows = []

    def tool_run(self, name):
        program = next((p for p in PROGRAMS if p.name == name), None)
        if self.tool is None or program is None:
            return None
        case = cases.export(program, self.scratch)
        run = self.tool.prepare(case)
        run.results = None
        return run

    def measure(self, name):
        ours, theirs = self.heddle.ask(prepare=name), self.jax.ask(prepare=name)
        row = {"name": name, "wrong": differ(ours["sums"], theirs["sums"])}
        tool, times = self.tool_run(name), {"heddle": [], "jax": []}
        for _ in range(self.chosen.rounds):
            for side, found in times.items():
                found += getattr(self, side).ask(measure=self.chosen.seconds)["times"]
            if tool is not None:
                tool.measure(self.chosen.seconds)
        row |= {side: statistics.median(found) for side, found in times.items()}
        if tool is not None:
            row["tool"] = statistics.median(tool.fresh)
            tool.case.io.unlink()  # some hold hundreds of megabytes
        self.rows.append(row)
        return row


def show(row):
    tool = plain(row["heddle"] / row["tool"]) if row.get("tool") else "-"
    print(f"{row['name']:36}{milliseconds(row['heddle']):>10}{milliseconds(row['jax']):>10}"
          f"{plain(row['jax'] / row['heddle']):>8}{milliseconds(row.get('tool')):>10}{tool:>8}", flush=True)
    if row["wrong"]:
        print(f"    WRONG: {row['wrong']}")


def figures(rows):
    named = {row["name"]: row for row in rows}

    def over_jax(name):
        return named[name]["heddle"] / named[name]["jax"] if name in named else None

    others = [r for r in rows if r["name"] not in (DISPATCH, WAIT, TRAINING)]
    tiny = {p.name for p in PROGRAMS if p.kind == TINY}
    against_tool = [r["heddle"] / r["tool"] for r in others if r.get("tool") and r["name"] not in tiny]
    values = {
        "dispatch": over_jax(DISPATCH),
        "dispatch_wait": over_jax(WAIT),
        "geomean_vs_jax": geomean(r["jax"] / r["heddle"] for r in others),
        "vs_tool": geomean(against_tool),
        "vs_tool_worst": max(against_tool, default=None),
        "train_vs_jax": 1 / over_jax(TRAINING) if TRAINING in named else None,
    }
    return json.dumps({k: None if v is None else float(f"{v:.3g}") for k, v in values.items()})


def run(chosen, scratch):
    bench = Bench(chosen, scratch)
    print(f"{bench.heddle.about['platform']}; JAX {bench.jax.about['jax']}, Python {sys.version.split()[0]}; "
          f"times in ms")
    print(f"{'program':36}{'heddle':>10}{'jax':>10}{'x jax':>8}{'tool':>10}{'/ tool':>8}", flush=True)
    names = [DISPATCH, WAIT, *(p.name for p in PROGRAMS), TRAINING]
    for name in names:
        if cases.chosen(name, chosen.names):
            show(bench.measure(name))
    bench.heddle.end()
    bench.jax.end()
    print(figures(bench.rows), flush=True)
    return 1 if any(row["wrong"] for row in bench.rows) else 0


def main():
    chosen = arguments()
    if not chosen.no_tool and not chosen.heddle.exists():
        sys.exit(f"bench_python: there is no {chosen.heddle}: build it with `make`, or use --no-tool")
    chosen.package = jax_package.folder(chosen.package)
    if chosen.package is None:
        sys.exit("bench_python: the Python package is not built for this Python; `make bench-python` builds it")
    with tempfile.TemporaryDirectory(prefix="heddle-bench-") as scratch:
        try:
            return run(chosen, Path(scratch))
        except Failed as failure:
            sys.exit(f"bench_python: {failure}")


if __name__ == "__main__":
    sys.exit(main())
