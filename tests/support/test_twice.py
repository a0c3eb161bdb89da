#!/usr/bin/env python3
"""Tests twice.py itself."""

import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TWICE = Path(__file__).with_name("twice.py")


def twice(script, limit=60):
    """(status, output) of a shell script in a folder of its own, run through twice.py."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-B", TWICE, str(limit), "sh", "-c", script], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Tries(unittest.TestCase):
    def test_one_where_it_passes_or_is_skipped(self):
        for status in (0, 77):
            self.assertEqual(twice(f"echo once; exit {status}"), (status, "once\n"))

    def test_a_second_one_is_told_of(self):
        status, output = twice("echo try; test -e here || { touch here; exit 3; }")
        self.assertEqual(status, 0)
        self.assertEqual(output.count("try\n"), 3)  # once in the words about it
        self.assertIn("A SECOND TRY WAS NEEDED: the first one ended with status 3", output)

    def test_no_third_one(self):
        status, output = twice("echo x >> tries; wc -l < tries; exit 4")
        self.assertEqual((status, output.splitlines()[-1].strip()), (4, "2"))

    def test_what_hangs_or_crashes_has_failed(self):
        status, output = twice("test -e here || { touch here; sleep 1000; }", limit=1)
        self.assertEqual(status, 0)
        self.assertIn("ended with status none after 1 s", output)
        self.assertEqual(twice("kill -SEGV $$")[0], 1)

    def test_signals_work_where_they_were_ignored(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            self.assertEqual(twice("kill -HUP $$; echo ignored")[0], 1)
        finally:
            signal.signal(signal.SIGHUP, before)


if __name__ == "__main__":
    unittest.main()
