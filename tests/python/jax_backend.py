"""What tests of the JAX backend share. Imported before JAX, it chooses the backend."""

import contextlib
import os
import subprocess
import sys
import textwrap
import threading

os.environ["JAX_PLATFORMS"] = "heddle,cpu"


def show_devices(count):
    """How many devices JAX is to see; to be called before JAX is asked for any."""
    os.environ["HEDDLE_DEVICES"] = str(count)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={count}"


def command(*codes):
    """A Python of its own that runs these texts, one after the other."""
    return [sys.executable, "-B", "-c", "\n".join(textwrap.dedent(code) for code in codes)]


def child(*codes, timeout=120, **variables):
    """Runs them; gives what subprocess.run does."""
    return subprocess.run(
        command(*codes), capture_output=True, text=True, timeout=timeout, env=os.environ | variables,
        check=False)


@contextlib.contextmanager
def started(*codes, timeout=120, **variables):
    """Such a process while it runs; it is ended where it does not end by itself."""
    process = subprocess.Popen(
        command(*codes), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ | variables)
    ending = threading.Timer(timeout, process.kill)
    ending.start()
    try:
        yield process
    finally:
        ending.cancel()
        process.kill()
        process.wait()


def said_by(*codes, **variables):
    """The words that the code prints; it has to succeed."""
    done = child(*codes, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()

