#!/usr/bin/env python3
"""Whole training steps by Heddle, JAX and torch.compile on all cores of this machine.

    bench/cpu/steps.py                    all steps
    bench/cpu/steps.py gpt2 resnet        those with one of these words in their names
    bench/cpu/steps.py --no-torch --rounds 3 --json FILE

Parameters and the optimiser's state are donated, as users do, and results of one step go into JAX's and torch's next one;
Heddle runs the text that JAX lowers the step to, always on the same arguments. Results of the first step are compared:
all of them with a tolerance of their root mean square that the step has (steps_jax.py), the loss within a thousandth (a
fiftieth in bf16); torch's loss likewise. Times are medians, in milliseconds, of turns of Heddle and JAX; torch comes when all others are
done, in a process of its own for each step, with a limit; several may compile at the same time, and whoever is timed is alone. Memory is what a step needs at its peak, arguments and results
included: JAX's by its `memory_analysis`. The last line is JSON.
"""
import argparse
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import cases
import clock
import report
import tensors
from heddle_side import Failed, Heddle
from steps_jax import STEPS, function_of

ROOT = Path(__file__).resolve().parents[2]


def arguments():
    first, rest = __doc__.split("\n", 1)
    parser = argparse.ArgumentParser(
        description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="words of the steps' names; without any, all")
    parser.add_argument("--rounds", type=int, default=2, help="turns of Heddle and JAX (2)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of one turn (2)")
    parser.add_argument("--limit", type=float, default=1e9, help="after so many seconds none is begun")
    parser.add_argument("--torch-limit", type=float, default=300, help="seconds torch has for a step (300)")
    parser.add_argument("--torch-at-once", type=int, default=1, help="steps that torch compiles at a time (1)")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--no-heddle", action="store_true")
    parser.add_argument("--no-jax", action="store_true", help="torch alone: Heddle runs JAX's text")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep texts and their arrays")
    parser.add_argument("--json", metavar="FILE", help="write all rows there")
    parser.add_argument("--heddle", type=Path, default=ROOT / "build/release/heddle", metavar="TOOL")
    parser.add_argument("--calibrated", type=Path, metavar="DIR", help="cache folder of an earlier `heddle calibrate`")
    parser.add_argument("--torch-alone", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("--turn", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- JAX


class JaxStep:
    def __init__(self, step):
        import jax

        self.jax, self.step = jax, step
        self.kept = len(step.shapes) * (1 + step.state_count())
        inputs = step.inputs()
        self.batch = [jax.device_put(a) for a in inputs[self.kept :]]
        self.state = tuple(jax.device_put(a) for a in inputs[: self.kept])
        donated = tuple(range(self.kept))
        self.jitted = jax.jit(function_of(step), donate_argnums=donated, keep_unused=True)
        self.lowered = self.jitted.lower(*self.state, *self.batch)
        begin = time.perf_counter()
        self.compiled = self.lowered.compile()
        self.compile_seconds = time.perf_counter() - begin
        self.times, self.first = [], None

    def export(self, text, io):
        """The text, and arguments with the results of a first step."""
        inputs = self.step.inputs()
        self.first = [np.asarray(a) for a in self.run()]
        named = {f"in.{i}": a for i, a in enumerate(inputs)}
        named |= {f"out.{i}": a for i, a in enumerate(self.first)}
        tensors.write(io, named)
        text.write_text(re.sub(r"tf.aliasing_output = \d+ : i32", "", self.lowered.as_text()))

    def run(self):
        results = self.jax.block_until_ready(self.compiled(*self.state, *self.batch))
        self.state = results[: self.kept]
        return results

    def measure(self, seconds):
        self.times += clock.call_times(self.run, seconds)

    def memory(self):
        said = self.compiled.memory_analysis()
        together = said.argument_size_in_bytes + said.output_size_in_bytes + said.temp_size_in_bytes
        return together - said.alias_size_in_bytes


# ---- Heddle


class HeddleStep:
    def __init__(self, heddle, case):
        self.heddle, self.case, self.cache = heddle, case, heddle.fresh_cache(case)
        output = heddle.scratch / "results.safetensors"
        first = heddle.run(case, self.cache, 2, donate=True, output=output)
        self.results = tensors.numbered(tensors.read(output), "out")
        output.unlink()
        self.compile_seconds, self.launches = first["compile_ms"] / 1e3, first["launches"]
        self.kernel_bytes, self.peak = first["kernel_bytes"], first["peak_bytes"]
        self.estimate, self.times = min(first["runs_ms"]) / 1e3, []
        self.by_reference = first["reference_ops"]

    def measure(self, seconds):
        calls = min(max(int(seconds / self.estimate), 3), clock.MOST_CALLS)
        said = self.heddle.run(self.case, self.cache, calls + 1, donate=True)
        self.times += [ms / 1e3 for ms in said["runs_ms"][1:]]  # the first call warms up


def complaint(step, results, expected):
    """What differs by more than the step's tolerance; empty where nothing does."""
    worst, where = 0.0, 0
    for i, (got, want) in enumerate(zip(results, expected)):
        if got.shape != want.shape:
            return f"result {i} is {got.shape} instead of {want.shape}"
        a, b = got.astype(np.float32), want.astype(np.float32)
        if not np.isfinite(b).all():
            return f"result {i} of JAX is not finite"
        scale = float(np.sqrt(np.mean(np.square(b, dtype=np.float64)))) + 1e-30
        off = float(np.abs(a - b).max()) / scale
        limit = step.tolerance if b.ndim else (1e-3 if step.dtype == "float32" else 2e-2)
        if not off / limit <= worst:
            worst, where = off / limit, i
    return f"result {where} differs by {worst:.1f} times the tolerance" if not worst <= 1 else ""


# ---- torch, in a process of its own


def torch_alone(name, seconds, turn):
    """`turn`: a file that who compiles has locked with others, and who is timed for itself."""
    from steps_torch import TorchStep

    with open(turn, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        step = TorchStep(STEPS[name], clock.CORES)
        compiled, loss = step.compile()
        fcntl.flock(lock, fcntl.LOCK_EX)
        step.run()
        times = clock.call_times(step.run, seconds)
    print(json.dumps({"ms": float(np.median(times)) * 1e3, "compile": compiled, "loss": loss}))


def torch_row(name, chosen, turn):
    with tempfile.TemporaryDirectory(prefix="heddle-inductor-") as cache:
        command = [sys.executable, __file__, "--torch-alone", name, "--seconds", str(chosen.seconds)]
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=cache)
        try:
            done = subprocess.run(
                [*command, "--turn", str(turn)],
                capture_output=True,
                text=True,
                timeout=chosen.torch_limit,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"more than {chosen.torch_limit:.0f} s"}
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:160]}
    return json.loads(done.stdout.splitlines()[-1])


# ---- all of them


def measure(step, heddle, folder, chosen):
    row = {"name": step.name}
    peer = JaxStep(step)
    row["jax_compile"], row["jax_memory"] = peer.compile_seconds, peer.memory()
    stem = folder / cases.file_name(step.name)
    text, io = stem.with_name(stem.name + ".mlir"), stem.with_name(stem.name + ".safetensors")
    peer.export(text, io)
    ours, first, peer.first = None, peer.first, None
    row["argument_bytes"] = sum(a.nbytes for a in step.inputs())
    if step.loss is not None:
        row["loss"] = float(first[-1])
    if heddle is not None:
        case = cases.Case(step.name, text, io, "step", 0)
        try:
            ours = HeddleStep(heddle, case)
            row["failure"] = complaint(step, ours.results, first)
            ours.results = None
            row |= {"heddle_compile": ours.compile_seconds, "launches": ours.launches}
            row |= {"kernel_bytes": ours.kernel_bytes, "by_reference": ours.by_reference}
            row["heddle_memory"] = ours.peak + row["argument_bytes"]
        except Failed as failure:
            row["failure"] = str(failure)
    first = None
    for _ in range(chosen.rounds):
        if ours is not None:
            ours.measure(chosen.seconds)
        peer.measure(chosen.seconds)
    row["jax"] = report.middle(peer.times)
    if ours is not None:
        row["heddle"] = report.middle(ours.times)
    if not chosen.keep:
        io.unlink()
    return row


def plain(value, scale, digits):
    return "-" if value is None else f"{value * scale:.{digits}f}"


COLUMNS = "{:32} {:>9} {:>9} {:>9} {:>6} {:>6} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8}"
HEADING = COLUMNS.format(
    "step", "heddle", "jax", "torch", "x jax", "x best", "launches", "GB", "MB", "jax MB", "compile", "jax"
)


def line_of(row):
    ours, peers = row.get("heddle"), [row[p] for p in ("jax", "torch") if row.get(p)]
    vs_jax = row["jax"] / ours if ours and row.get("jax") else None
    vs_best = min(peers) / ours if ours and peers else None
    text = COLUMNS.format(
        row["name"],
        *(plain(row.get(who), 1e3, 2) for who in ("heddle", "jax", "torch")),
        plain(vs_jax, 1, 2),
        plain(vs_best, 1, 2),
        row.get("launches", "-"),
        plain(row.get("kernel_bytes"), 1e-9, 2),
        plain(row.get("heddle_memory"), 1e-6, 1),
        plain(row.get("jax_memory"), 1e-6, 1),
        plain(row.get("heddle_compile"), 1, 2),
        plain(row.get("jax_compile"), 1, 2),
    )
    for note in ("failure", "torch_error"):
        text += f"\n    {note}: {row[note]}" if row.get(note) else ""
    return text


def figures(rows):
    good = [row for row in rows if row.get("heddle") and not row.get("failure")]
    vs_jax = [row["jax"] / row["heddle"] for row in good if row.get("jax")]
    best = [min(row[p] for p in ("jax", "torch") if row.get(p)) / row["heddle"] for row in good if row.get("jax")]
    values = {"steps_vs_jax": report.geomean(vs_jax), "steps_vs_best": report.geomean(best)}
    values |= {"worst": min(best, default=None), "failed": sum(bool(row.get("failure")) for row in rows)}
    values["memory_vs_jax"] = max((row["heddle_memory"] / row["jax_memory"] for row in good), default=None)
    return json.dumps({key: value and float(f"{value:.3g}") for key, value in values.items()})


def add_torch(row, chosen, turn):
    found = torch_row(row["name"], chosen, turn)
    if "error" in found:
        row["torch_error"] = found["error"]
        return
    row["torch"], row["torch_compile"] = found["ms"] / 1e3, found["compile"]
    far = 5e-3 if STEPS[row["name"]].dtype == "float32" else 2e-2
    if row.get("loss") and abs(found["loss"] - row["loss"]) > far * abs(row["loss"]):
        row["torch_error"] = f"its loss is {found['loss']} instead of {row['loss']}"


def run(chosen, scratch):
    begin = time.monotonic()
    heddle = None if chosen.no_heddle or chosen.no_jax else Heddle(chosen.heddle.resolve(), scratch, chosen.calibrated)
    folder = chosen.keep or scratch
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    print(f"{clock.CORES} cores{', ' + heddle.version if heddle else ''}", HEADING, sep="\n", flush=True)
    for step in STEPS.values():
        if not cases.chosen(step.name, chosen.names) or time.monotonic() - begin > chosen.limit:
            continue
        rows.append({"name": step.name} if chosen.no_jax else measure(step, heddle, folder, chosen))
        if chosen.no_jax:
            continue
        print(line_of(rows[-1]), flush=True)
        write(rows, chosen)
    def with_torch(row):
        if time.monotonic() - begin > chosen.limit:
            return
        add_torch(row, chosen, scratch / "turn")
        print(line_of(row), flush=True)

    if not chosen.no_torch:
        with ThreadPoolExecutor(chosen.torch_at_once) as threads:
            list(threads.map(with_torch, rows))
        write(rows, chosen)
    print(figures(rows), flush=True)
    return 1 if any(row.get("failure") for row in rows) else 0


def write(rows, chosen):
    if chosen.json:
        Path(chosen.json).write_text(json.dumps({"cores": clock.CORES, "rows": rows}, indent=1) + "\n")


def main():
    chosen = arguments()
    if chosen.torch_alone:
        torch_alone(chosen.torch_alone, chosen.seconds, chosen.turn)
        return 0
    if not (chosen.no_heddle or chosen.no_jax) and not chosen.heddle.exists():
        sys.exit(f"steps: there is no {chosen.heddle}: build it with `make`, or use --heddle")
    with tempfile.TemporaryDirectory(prefix="heddle-steps-") as scratch:
        return run(chosen, Path(scratch))


if __name__ == "__main__":
    sys.exit(main())
