"""Runs one file of tests on one backend, in processes of its own: a crash or a hang is the result of the
case that it happened in, and the rest goes on in another process."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEVICES = 8
CASE_SECONDS = 300  # a case that takes longer hangs
START_SECONDS = 300  # so does a file that takes longer to begin
STEP_SECONDS = 0.1
MOST_CRASHES = 30  # in one file; the rest of it counts as crashed
FINISHED = (0, 1, 5)  # of pytest: all passed, some did not, there were none
ASKS_FOR_DEVICES = re.compile(r"request_cpu_devices\(|host_platform_device_count")


@dataclass
class Case:
    outcome: str  # passed, failed, skipped, crashed or hung
    reason: str = ""


@dataclass
class Results:
    cases: dict[str, Case] = field(default_factory=dict)
    problem: str = ""  # why the file could not be run at all


@dataclass
class Choice:
    """Which of a file's cases run."""
    stride: int = 1
    offset: int = 0
    only: list[str] | None = None


def wants_devices(file):
    return bool(ASKS_FOR_DEVICES.search(file.read_text(encoding="utf-8")))


def environment(backend, file, package):
    """What a user of this backend would set, and nothing else."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "HEDDLE_", "XLA_"))}
    for passed_on in ("JAX_NUM_GENERATED_CASES", "JAX_SKIP_SLOW_TESTS", "HEDDLE_CACHE_DIR"):
        if passed_on in os.environ:
            kept[passed_on] = os.environ[passed_on]
    paths = [str(HERE)]
    if backend == "heddle":
        kept["JAX_PLATFORMS"] = "heddle,cpu"
        paths.append(str(package))
        if wants_devices(file):
            kept["HEDDLE_DEVICES"] = str(DEVICES)
    else:
        kept["JAX_PLATFORMS"] = "cpu"
        if wants_devices(file):
            kept["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
    kept["PYTHONPATH"] = os.pathsep.join(paths)
    return kept


class Process:
    """One process of pytest, and what it has said so far."""

    def __init__(self, file, variables, scratch, number):
        self.said, self.read, self.partial = scratch / f"said.{number}", 0, ""
        self.log = scratch / f"log.{number}"
        self.said.touch()
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "outcomes", "-p", "no:cacheprovider",
                   "--rootdir", str(file.parent), "--tb=short", "--capture=fd", "--assert=plain", str(file)]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, env=variables | {"SUITE_OUTCOMES": str(self.said)}, stdout=log,
                stderr=subprocess.STDOUT, cwd=scratch, start_new_session=True)

    def new_lines(self):
        with open(self.said, encoding="utf-8") as file:
            file.seek(self.read)
            text = file.read()
            self.read = file.tell()
        *whole, self.partial = (self.partial + text).split("\n")
        return [json.loads(line) for line in whole if line]

    def kill(self):
        os.killpg(self.process.pid, 9)
        self.process.wait()

    def tail(self):
        return self.log.read_text(errors="replace")[-1500:]


class Watch:
    """Follows a process to its end; `running` is the case that it ended in, if it ended badly."""

    def __init__(self, process, cases):
        self.process, self.cases = process, cases
        self.running, self.waited, self.begun = None, 0.0, False

    def take(self, line):
        if "total" in line:
            self.begun = True
            return
        case, outcome = line["case"], line["outcome"]
        if outcome == "begun":
            self.running, self.waited = case, 0.0
        elif outcome == "ended":
            self.running = None
        elif outcome != "passed" or case not in self.cases:
            self.cases[case] = Case(outcome, line.get("reason", ""))

    def follow(self):
        """Nothing, or how the process ended before its time: crashed or hung."""
        while True:
            status = self.process.process.poll()
            for line in self.process.new_lines():
                self.take(line)
            if status is not None:
                well = self.begun and self.running is None and status in FINISHED
                return None if well else "crashed"
            if self.waited > (CASE_SECONDS if self.begun else START_SECONDS):
                self.process.kill()
                return "hung"
            time.sleep(STEP_SECONDS)
            self.waited += STEP_SECONDS  # not by the clock: both may have been stopped meanwhile


def run_file(file, backend, package, choice=Choice()):
    results = Results()
    with tempfile.TemporaryDirectory(prefix="heddle-jax-suite-") as folder:
        scratch = Path(folder)
        done, only = scratch / "done", scratch / "only"
        variables = environment(backend, file, package) | {
            "SUITE_STRIDE": str(choice.stride), "SUITE_OFFSET": str(choice.offset)}
        if choice.only is not None:
            only.write_text("\n".join(choice.only))
            variables["SUITE_ONLY"] = str(only)
        for number in range(MOST_CRASHES):
            done.write_text("\n".join(results.cases))
            process = Process(file, variables | {"SUITE_DONE": str(done)}, scratch, number)
            watch = Watch(process, results.cases)
            ending = watch.follow()
            if ending is None:
                return results
            if watch.running is None:
                results.problem = f"{ending} outside of any case: {process.tail()}"
                return results
            results.cases[watch.running] = Case(ending, process.tail())
        results.problem = f"{MOST_CRASHES} crashes or hangs: the rest was not run"
    return results


def run_parts(file, backend, package, parts, pool, stride=1):
    """Every `stride`th case of a file, dealt out to so many runs of it."""
    choices = [Choice(stride * parts, stride * k) for k in range(parts)]
    runs = [pool.submit(run_file, file, backend, package, choice) for choice in choices]
    whole = Results()
    for run in runs:
        part = run.result()
        whole.cases |= part.cases
        whole.problem = whole.problem or part.problem
    return whole
