#!/usr/bin/env python3
"""Runs the commands of a .test file and compares what they print.

A test file is a list of commands with the output that each must give:

    # a comment
    $ heddle doctor --plain        runs in a shell, in an empty folder; $EXAMPLES is examples/
    cores    {{[0-9]+}} usable     {{...}} is a regular expression inside a line
    ...                            any lines, up to the first that matches the next one
    ? 1                            the exit status, where it is not 0

Standard output and standard error are compared together. Blank lines at the end do not count.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT = 150  # seconds per command, on a machine that is slow and busy
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def read_cases(path):
    """The (line number, command, expected lines, status) of each command in the file."""
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("$ "):
            cases.append([number, line[2:], [], 0])
        elif line.startswith("#") or not cases:
            continue
        elif re.fullmatch(r"\? \d+", line):
            cases[-1][3] = int(line[2:])
        else:
            cases[-1][2].append(line)
    return cases


def strip_blank_end(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def matches_line(expected, actual):
    parts = re.split(r"\{\{(.*?)\}\}", expected)
    pattern = "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))
    return re.fullmatch(pattern, actual) is not None


def first_difference(expected, actual):
    """None where all agrees, else (place in expected, place in actual) of the first mismatch."""
    place, anywhere = 0, False
    for i, want in enumerate(expected):
        if want == "...":
            anywhere = True
            continue
        start = place
        while place < len(actual) and not matches_line(want, actual[place]):
            if not anywhere:
                return i, place
            place += 1
        if place == len(actual):
            return i, start
        place, anywhere = place + 1, False
    # A last `...` takes the rest.
    return None if anywhere or place == len(actual) else (len(expected), place)


def kill_session(leader):
    """Ends a command and all that it has left in the background."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            session = int(stat.read_text(errors="replace").rpartition(")")[2].split()[3])
            if session == leader:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except OSError:
            continue


def run(command, tool, folder):
    # `heddle` is a shell function, so that it can stand anywhere in a command.
    script = f'heddle() {{ {shlex.quote(tool)} "$@"; }}\n{command}'
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEDDLE_")}
    # Plans depend on the workers: two, on every machine.
    environment.update(LC_ALL="C.UTF-8", NO_COLOR="1", EXAMPLES=str(EXAMPLES), HEDDLE_THREADS="2")
    process = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        kill_session(process.pid)
        process.communicate()
        raise
    return process.returncode, output.decode("utf-8", "backslashreplace")


def check(path, case, tool, folder):
    """Runs one command; prints and returns False where it differs."""
    number, command, expected, wanted_status = case
    where = f"{path.name}:{number}"
    try:
        status, output = run(command, tool, folder)
    except subprocess.TimeoutExpired:
        print(f"{where}: {command}\n  did not end within {TIMEOUT} s")
        return False
    expected, actual = strip_blank_end(expected), strip_blank_end(output.splitlines())
    difference = first_difference(expected, actual)
    if status == wanted_status and difference is None:
        return True
    print(f"{where}: {command}")
    if status != wanted_status:
        print(f"  exit status {status}, expected {wanted_status}")
    if difference is not None:
        i, place = difference
        print("  expected:  " + (expected[i] if i < len(expected) else "(no more output)"))
        print("  found:     " + (actual[place] if place < len(actual) else "(no more output)"))
    print("  whole output:\n" + "".join(f"    {line}\n" for line in actual))
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="the heddle to test")
    parser.add_argument("tests", nargs="+", type=Path)
    options = parser.parse_args()
    tool, failed, count = str(Path(options.tool).resolve()), 0, 0
    for path in options.tests:
        cases = read_cases(path)
        if not cases:
            print(f"{path.name}: there is no command in it")
            failed += 1
        with tempfile.TemporaryDirectory() as folder:
            for case in cases:
                count += 1
                failed += not check(path, case, tool, folder)
    print(f"{count} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
