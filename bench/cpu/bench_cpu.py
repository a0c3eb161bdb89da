#!/usr/bin/env python3
"""Heddle beside NumPy, JAX and torch.compile on all cores of this machine, in one run.

    bench/cpu/bench_cpu.py                     all programs
    bench/cpu/bench_cpu.py softmax "tiny "     those with one of these words in their names
    bench/cpu/bench_cpu.py --quick --no-torch  shorter, without torch
    bench/cpu/bench_cpu.py --no-heddle --json peers.json
    bench/cpu/bench_cpu.py --peers-from peers.json
                                               peers once, then Heddle alone as often as needed

Results are compared before anything is measured: floats with a relative tolerance of 1e-4 of the
value plus 1e-4 of the result's root mean square (recorded programs bring tolerances of their own),
integers exactly, those of a program that quantises within one in all but a thousandth.

Times are medians of calls, in milliseconds; the libraries take turns, several rounds per program.
floor: fewest bytes over the best rate at which all cores copied, measured in turn with them.
share: floor over Heddle's time. donated: Heddle with inputs that the program may overwrite.
x best: fastest peer over Heddle. compile: from StableHLO to something that runs, with empty caches;
torch's is its first call.

The last line is JSON: over memory-bound programs the geometric mean of `x best`, that of the share,
and the least `x best`; over programs with matrix products the geometric mean of `x best`; over tiny
ones (in a core's cache) that of JAX's time over Heddle's; the median of Heddle's compile time over
JAX's. The exit status is 1 where a program failed or gave a wrong result.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit("bench_cpu: this Python has no NumPy; `make bench-cpu` makes one with all it needs")

import cases
import report
from clock import CORES, CopyRate
from heddle_side import Failed, Heddle
from peers import Jax, NumPy, Refused, Torch
from programs import MEMORY

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    first, rest = __doc__.split("\n", 1)
    parser = argparse.ArgumentParser(
        description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="words of the programs' names; without any, all")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each library (3)")
    parser.add_argument("--seconds", type=float, default=0.4, help="of one turn (0.4)")
    parser.add_argument("--json", metavar="FILE", help="write all rows there")
    parser.add_argument(
        "--heddle", type=Path, default=ROOT / "build/release/heddle", metavar="TOOL"
    )
    parser.add_argument(
        "--calibrated", type=Path, metavar="DIR", help="cache folder of an earlier `heddle calibrate`"
    )
    parser.add_argument("--no-heddle", action="store_true", help="peers alone")
    for peer in ("numpy", "jax", "torch"):
        parser.add_argument(f"--no-{peer}", action="store_true")
    parser.add_argument("--peers-from", metavar="FILE", help="peers' times, of an earlier --json")
    parser.add_argument("--exported", type=Path, metavar="DIR", help="keep exported programs there")
    parser.add_argument(
        "--programs",
        type=Path,
        default=ROOT.parent / "shared/programs",
        metavar="DIR",
        help="recorded programs, with an index.json; left out where there is no such folder",
    )
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rounds, chosen.seconds = 1, min(chosen.seconds, 0.2)
    return chosen


def wanted_peers(chosen, scratch):
    if chosen.peers_from:
        return []
    makers = {"jax": Jax, "torch": lambda: Torch(scratch / "inductor"), "numpy": NumPy}
    return [make() for name, make in makers.items() if not getattr(chosen, f"no_{name}")]


class Bench:
    def __init__(self, chosen, scratch):
        self.chosen = chosen
        self.rate = CopyRate()
        self.rate.measure(1)
        self.peers = wanted_peers(chosen, scratch)
        self.heddle = None if chosen.no_heddle else Heddle(chosen.heddle.resolve(), scratch, chosen.calibrated)
        self.before = {}
        if chosen.peers_from:
            earlier = json.loads(Path(chosen.peers_from).read_text())
            self.before = {row["name"]: row for row in earlier["rows"]}
        self.rows = []

    def header(self):
        sides = [f"{peer.name} {peer.version}" for peer in self.peers]
        if self.heddle:
            sides.insert(0, self.heddle.version)
        copy = self.rate.best() / 1e9
        text = f"{CORES} cores, copy {copy:.1f} GB/s, {', '.join(sides)}; times in ms"
        return f"{text}\n{self.heddle.note}" if self.heddle and self.heddle.note else text

    def measure(self, case):
        row = {"name": case.name, "kind": case.kind, "bytes": case.bytes, "notes": []}
        expected = case.expected()
        ours = self.prepare_heddle(case, expected, row)
        ready = {peer.name: self.prepare_peer(peer, case, expected, row) for peer in self.peers}
        ready = {name: prepared for name, prepared in ready.items() if prepared}
        del expected
        self.take_turns(ours, ready, row)
        self.fill(row, ready)
        self.rows.append(row)
        return row

    def prepare_heddle(self, case, expected, row):
        if self.heddle is None:
            return None
        try:
            ours = self.heddle.prepare(case)
        except Failed as failure:
            row["failure"] = str(failure)
            return None
        wrong = case.complaint(ours.results, expected)
        ours.results = None
        if wrong:
            row["failure"] = f"wrong results: {wrong}"
        row["heddle_compile"], row["kernels"] = ours.compile_seconds, ours.kernels
        row["notes"] += [ours.note] if ours.note else []
        return ours

    def prepare_peer(self, peer, case, expected, row):
        try:
            prepared = peer.prepare(case)
        except Refused as refusal:
            if peer.name == "jax" or (case.program is not None and not case.program.for_jax):
                row["notes"].append(f"{peer.name}: {refusal}")
            return None
        wrong = case.complaint(prepared.results(), expected)
        if wrong:
            row["notes"].append(f"{peer.name} gives other results: {wrong}")
        return prepared

    def take_turns(self, ours, ready, row):
        for _ in range(self.chosen.rounds):
            self.rate.measure()
            if ours is not None:
                try:
                    ours.measure(self.chosen.seconds)
                except Failed as failure:
                    row["failure"], ours = str(failure), None
            for prepared in ready.values():
                prepared.measure(self.chosen.seconds)
        if ours is not None:
            row["heddle"], row["donated"] = report.middle(ours.fresh), report.middle(ours.donated)

    def fill(self, row, ready):
        for name, prepared in ready.items():
            row[name], row[f"{name}_compile"] = prepared.median(), prepared.compile_seconds
        for key, value in self.before.get(row["name"], {}).items():
            if key.split("_")[0] in report.PEERS:
                row[key] = value
        self.set_floor(row)

    def set_floor(self, row):
        row["floor"] = row["bytes"] / self.rate.best()
        if row["kind"] == MEMORY and row.get("heddle"):
            row["share"] = row["floor"] / row["heddle"]


def run(chosen, scratch):
    folder = chosen.exported or scratch / "exported"
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(chosen, scratch)
    print(bench.header(), report.heading(), sep="\n", flush=True)
    for case in cases.all_cases(folder, chosen.programs, chosen.names):
        print(report.text_of(bench.measure(case)), flush=True)
        if not chosen.exported and case.program is not None:
            case.io.unlink()  # some hold hundreds of megabytes
    if not bench.rows:
        sys.exit(f"bench_cpu: no program has {' or '.join(chosen.names)} in its name")
    for row in bench.rows:
        bench.set_floor(row)  # by the rate of the whole run
    rate = bench.rate.best()
    print(f"\ncopy {rate / 1e9:.1f} GB/s in the whole run", report.summary(bench.rows), sep="\n")
    if chosen.json:
        contents = {"copy_bytes_per_second": rate, "cores": CORES, "rows": bench.rows}
        Path(chosen.json).write_text(json.dumps(contents, indent=1) + "\n")
    print(report.figures(bench.rows), flush=True)
    return 1 if any(row.get("failure") for row in bench.rows) else 0


def main():
    chosen = arguments()
    if not chosen.no_heddle and not chosen.heddle.exists():
        sys.exit(f"bench_cpu: there is no {chosen.heddle}: build it with `make`, or use --heddle")
    with tempfile.TemporaryDirectory(prefix="heddle-bench-") as scratch:
        try:
            return run(chosen, Path(scratch))
        except Failed as failure:
            sys.exit(f"bench_cpu: {failure}")


if __name__ == "__main__":
    sys.exit(main())
