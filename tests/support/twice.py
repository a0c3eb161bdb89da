#!/usr/bin/env python3
"""Runs a test that races real processes against the clock: where it fails, once more.

    tests/support/twice.py SECONDS COMMAND...

A try that takes longer than SECONDS has failed. The second try decides; that there was one is said,
with all that the first has printed. Signals are as on a terminal, whoever has started the tests.
"""

import os
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77


def attempt(limit, command):
    """(status, output) of one try; a file takes the output, which what it leaves behind may hold."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = f"none after {limit:g} s"
        output.seek(0)
        return status, output.read().decode(errors="replace")


def main():
    limit, command = float(sys.argv[1]), sys.argv[2:]
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    status, output = attempt(limit, command)
    if status not in (0, SKIPPED):
        print(f"A SECOND TRY WAS NEEDED: the first one ended with status {status} and printed\n{output}"
              "---- the second try", flush=True)
        status, output = attempt(limit, command)
    print(output, end="")
    if isinstance(status, int) and status >= 0:
        return status
    print(f"ended with status {status}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
