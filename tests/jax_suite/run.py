#!/usr/bin/env python3
"""JAX's own tests on Heddle's backend, against the same run on JAX's CPU backend.

    tests/jax_suite/run.py                        all files of ../shared/conformance/jax_tests
    tests/jax_suite/run.py lax_test.py nn_test.py
    tests/jax_suite/run.py --sample               what `make test` runs

It runs in build/jax-venv; `make jax-tests ARGS="..."` makes that first. Cases are those that JAX generates by default. Files
that ask for devices see eight. What passes on JAX's CPU backend is to pass here; results of the former are
kept in build/jax-suite. `known.txt` lists cases that do not pass, each with the reason.

--sample takes every Nth case of each file and runs on JAX's CPU backend only what fails here.
The status is 1 where less than 97 % pass, something crashes or hangs, or a case fails that is not listed;
77 where there is nothing to run.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import jax_package  # noqa: E402
import side  # noqa: E402

DUE = 0.97
SAMPLE_STRIDE = 144
BAD = ("crashed", "hung")
PART_BYTES = 16_000  # of a file that a process of its own pays for


def arguments():
    first, rest = __doc__.split("\n", 1)
    parser = argparse.ArgumentParser(
        description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files of tests, or names in the suite's folder")
    parser.add_argument("--suite", type=Path, metavar="DIR",
                        default=ROOT.parent / "shared/conformance/jax_tests")
    parser.add_argument("--package", type=Path, metavar="DIR", help="where the package heddle lies")
    parser.add_argument("--results", type=Path, metavar="DIR", default=ROOT / "build/jax-suite")
    parser.add_argument("--jobs", type=int, default=1, help="processes at the same time (1)")
    parser.add_argument("--sample", action="store_true", help="some cases of each file")
    parser.add_argument("--stride", type=int, default=SAMPLE_STRIDE, help="of the sample (%(default)s)")
    parser.add_argument("--cpu-only", action="store_true", help="only the results to compare with")
    parser.add_argument("--last", action="store_true", help="show the last results, run nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="with what each failure said")
    return parser.parse_args()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def files_of(chosen):
    if not chosen.files:
        files = sorted(chosen.suite.glob("*_test.py"))
        if not files:
            skip(f"there are no tests in {chosen.suite}")
        return files
    files = [Path(f) if Path(f).exists() else chosen.suite / f for f in chosen.files]
    for file in files:
        if not file.exists():
            sys.exit(f"run.py: there is no {file}")
    return [file.resolve() for file in files]


# ---- results that are kept

def key_of(file):
    """Changes with all that the results on JAX's CPU backend depend on."""
    import jaxlib

    said = [file.read_bytes(), jaxlib.__version__, sys.version, os.environ.get("JAX_NUM_GENERATED_CASES"),
            os.environ.get("JAX_SKIP_SLOW_TESTS")]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def save(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dataclasses.asdict(results), indent=1))


def load(path):
    kept = json.loads(path.read_text())
    cases = {name: side.Case(**case) for name, case in kept["cases"].items()}
    return side.Results(cases, kept["problem"])


def run_all(chosen, file, backend, stride=1):
    parts = min(chosen.jobs, 1 + file.stat().st_size // PART_BYTES // stride)
    return side.run_parts(file, backend, chosen.package, parts, chosen.processes, stride)


def cpu_results(chosen, file):
    path = chosen.results / f"cpu-{file.stem}-{key_of(file)}.json"
    if not path.exists():
        save(path, run_all(chosen, file, "cpu"))
    return load(path)


def our_results(chosen, file):
    path = chosen.results / f"heddle-{file.stem}.json"
    if not chosen.last:
        save(path, run_all(chosen, file, "heddle"))
    if not path.exists():
        sys.exit(f"run.py: {file.name} has not been run; leave out --last")
    return load(path)


# ---- comparing

class Known:
    """Cases that do not pass, with reasons: `file::Class::case | reason` a line; * stands for anything."""

    def __init__(self, path):
        self.rules = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            case, bar, reason = line.partition(" | ")
            if not bar or not reason.strip():
                sys.exit(f"{path.name}:{number}: expected `file::Class::case | reason`, found: {line}")
            pattern = ".*".join(re.escape(part) for part in case.strip().split("*"))
            self.rules.append((re.compile(pattern + r"\Z"), reason.strip()))

    def reason(self, file, case):
        name = f"{file.name}::{case}"
        return next((reason for pattern, reason in self.rules if pattern.match(name)), None)


@dataclasses.dataclass
class Compared:
    file: Path
    due: list[str]  # passed on JAX's CPU backend
    missed: dict[str, side.Case]  # of these, what does not pass here
    bad: dict[str, side.Case]  # crashed or hung, wherever
    problem: str = ""

    def passed(self):
        return len(self.due) - len(self.missed)


def compare(file, cpu, ours):
    due = [name for name, case in cpu.cases.items() if case.outcome == "passed"]
    absent = side.Case("not run", ours.problem)
    missed = {n: ours.cases.get(n, absent) for n in due}
    missed = {n: case for n, case in missed.items() if case.outcome != "passed"}
    bad = {n: case for n, case in ours.cases.items() if case.outcome in BAD}
    return Compared(file, due, missed, bad, ours.problem)


def whole(chosen, file):
    cpu = cpu_results(chosen, file)
    if cpu.problem:
        return Compared(file, [], {}, {}, f"JAX's CPU backend: {cpu.problem}")
    if chosen.cpu_only:
        return compare(file, cpu, cpu)
    return compare(file, cpu, our_results(chosen, file))


def sample(chosen, file):
    """Only what fails here is run on JAX's CPU backend; what is skipped here is not looked at."""
    ours = run_all(chosen, file, "heddle", chosen.stride)
    others = side.Choice(only=[n for n, case in ours.cases.items() if case.outcome not in ("passed", "skipped")])
    cpu = side.Results()
    if others.only:
        cpu = chosen.processes.submit(side.run_file, file, "cpu", chosen.package, others).result()
    for name, case in ours.cases.items():
        if case.outcome == "passed":
            cpu.cases[name] = case
    return compare(file, cpu, ours)


# ---- telling

def show_row(compared):
    rate = 100 * compared.passed() / len(compared.due) if compared.due else 0
    print(f"{compared.file.stem:32}{len(compared.due):8}{compared.passed():8}{rate:8.1f} %"
          f"{len(compared.bad):8}", flush=True)


def first_line(text):
    return next((line for line in text.splitlines() if line.strip()), "")[:200]


def show_case(file, name, case, reason, verbose):
    print(f"  {case.outcome:8} {file.name}::{name}")
    print(f"           {reason or 'NOT LISTED: ' + first_line(case.reason)}")
    if verbose and case.reason:
        print("           " + case.reason.replace("\n", "\n           "))


def report(all_compared, known, verbose):
    """Lists what does not pass; gives the number of cases that nobody knows of."""
    unknown = 0
    for compared in all_compared:
        if compared.problem:
            print(f"{compared.file.name}: {compared.problem}")
        for name, case in (compared.missed | compared.bad).items():
            reason = known.reason(compared.file, name)
            unknown += reason is None
            show_case(compared.file, name, case, reason, verbose)
    return unknown


def verdict(all_compared, unknown):
    due = sum(len(c.due) for c in all_compared)
    passed = sum(c.passed() for c in all_compared)
    bad = sum(len(c.bad) for c in all_compared) + sum(bool(c.problem) for c in all_compared)
    rate = passed / due if due else 0
    print(f"{passed} of {due} cases that pass on JAX's CPU backend pass here: {100 * rate:.2f} %; "
          f"{bad} crashes or hangs; {unknown} not listed in known.txt")
    return 1 if rate < DUE or bad or unknown else 0


def main():
    chosen = arguments()
    if chosen.package is None:
        jax_package.enter_environment()
    try:
        import absl  # noqa: F401
        import jax
        import pytest  # noqa: F401
    except ImportError as missing:
        skip(f"{missing}; scripts/jax_env.sh makes an environment that has it")
    chosen.package = jax_package.folder(chosen.package and chosen.package.resolve())
    if chosen.package is None:
        skip("the Python package is not built for this Python: scripts/jax_env.sh builds it")
    files, known = files_of(chosen), Known(HERE / "known.txt")
    print(f"jax {jax.__version__}, Python {sys.version.split()[0]}")
    print(f"{'file':32}{'on CPU':>8}{'here':>8}{'':>10}{'crashed':>8}", flush=True)
    measured = sample if chosen.sample else whole
    all_compared = []
    chosen.jobs = max(1, chosen.jobs)
    with (concurrent.futures.ThreadPoolExecutor(chosen.jobs) as chosen.processes,
          concurrent.futures.ThreadPoolExecutor(len(files)) as pool):
        for compared in pool.map(lambda file: measured(chosen, file), files):
            show_row(compared)
            all_compared.append(compared)
    return verdict(all_compared, report(all_compared, known, chosen.verbose))


if __name__ == "__main__":
    sys.exit(main())
