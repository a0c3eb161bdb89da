"""Runs cases with the heddle tool, in a process of its own."""
import json
import os
import shutil
import subprocess

import clock
import tensors
from peers import first_line

TIMEOUT = 600  # seconds a run may take


class Failed(Exception):
    pass


class Heddle:
    def __init__(self, tool, scratch, calibrated=None):
        """`calibrated`: a cache folder in which nothing is but what the machine was measured at."""
        self.tool, self.scratch = tool, scratch
        self.calibrated = calibrated or scratch / "calibrated"
        self.calibrated.mkdir(exist_ok=True, parents=True)
        self.version = self._text(["--version"], self.calibrated).strip()
        self.note = "" if any(self.calibrated.iterdir()) else self._calibrate()

    def _calibrate(self):
        try:
            self._text(["calibrate"], self.calibrated)
        except Failed as failure:
            return f"not calibrated: {failure}"
        return ""

    def fresh_cache(self, case):
        """An empty cache folder, but for what the machine was measured at."""
        cache = self.scratch / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        shutil.copytree(self.calibrated, cache)
        return cache

    def _text(self, arguments, cache):
        environment = dict(os.environ, HEDDLE_CACHE_DIR=str(cache))
        try:
            done = subprocess.run(
                [str(self.tool), *map(str, arguments)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"heddle {arguments[0]} takes longer than {TIMEOUT} s") from error
        if done.returncode != 0:
            problem = done.stderr.strip() or f"exit status {done.returncode}"
            raise Failed(f"heddle {arguments[0]}: {first_line(problem)}")
        return done.stdout

    def run(self, case, cache, calls, donate=False, output=None):
        """What `heddle run --json` says of the function."""
        arguments = ["run", case.text, "--io", case.io, "--json", "--repeat", calls]
        arguments += ["--donate"] if donate else []
        arguments += ["--output", output] if output else []
        return json.loads(self._text(arguments, cache))["functions"][0]

    def prepare(self, case):
        return PreparedRun(self, case)


class PreparedRun:
    """A case compiled from nothing; its results are at hand, and its calls can be measured. Times
    are in seconds; the tool gives milliseconds."""

    def __init__(self, heddle, case):
        self.heddle, self.case, self.cache = heddle, case, heddle.fresh_cache(case)
        output = heddle.scratch / "results.safetensors"
        first = heddle.run(case, self.cache, 2, output=output)
        self.results = tensors.numbered(tensors.read(output), "out")
        output.unlink()
        self.compile_seconds, self.kernels = first["compile_ms"] / 1e3, first["kernels"]
        self.note = not_compiled(first)
        self._estimate = min(first["runs_ms"]) / 1e3
        self.fresh, self.donated = [], []

    def measure(self, seconds):
        fewest = clock.FEWEST_CALLS if self._estimate < 2 else 1
        calls = int(seconds / max(self._estimate, 1e-9))
        calls = min(max(calls, fewest), clock.MOST_CALLS)
        for donate, times in ((False, self.fresh), (True, self.donated)):
            said = self.heddle.run(self.case, self.cache, calls + 1, donate)
            times += [ms / 1e3 for ms in said["runs_ms"][1:]]  # the first call warms up


def not_compiled(function):
    """What of a program the interpreter did; empty where it did nothing."""
    if function.get("interpreted_because"):
        return f"heddle: interpreted, {function['interpreted_because']}"
    count = function["reference_ops"]
    return f"heddle: {count} op{'s' if count > 1 else ''} by reference" if count else ""
