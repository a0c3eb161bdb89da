"""What tests of the JAX backend share. Imported before JAX, it chooses the backend."""

import os
import subprocess
import sys
import textwrap

os.environ["JAX_PLATFORMS"] = "heddle,cpu"


def show_devices(count):
    """How many devices JAX is to see; to be called before JAX is asked for any."""
    os.environ["HEDDLE_DEVICES"] = str(count)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={count}"


def child(code, timeout=120, **variables):
    """A Python of its own that runs the code; gives what subprocess.run does."""
    return subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(code)], capture_output=True, text=True,
        timeout=timeout, env=os.environ | variables, check=False)


def said_by(code, **variables):
    """The words that the code prints; it has to succeed."""
    done = child(code, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def resident():
    """Bytes of this process that lie in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
