"""heddle.jit where each device is a process."""

import os
import shutil
import subprocess
import sys

import pytest

HEDDLE = os.environ.get("HEDDLE", "")

PROGRAM = """
import heddle, numpy as np
x = np.arange(32, dtype=np.float32).reshape(4, 8)
f = heddle.jit(lambda x: (x * 2, x.sum()), mesh={"dp": 2}, layouts={"x": "dp,_"}, ranks=True)
doubled, total = f(x)
assert len(doubled.parts) == 1 and doubled.parts[0].shape == (2, 8), doubled
again, _ = f(doubled)
np.testing.assert_array_equal(np.asarray(again), 4 * x)
heddle.save("saved", {"x": again})
assert float(total) == x.sum()
print("agrees")
"""


def check(tmp_path, launcher):
    done = subprocess.run(
        [*launcher, sys.executable, "-c", PROGRAM],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("agrees") == 2
    import heddle
    import numpy as np

    whole = heddle.restore(tmp_path / "saved")["['x']"]
    np.testing.assert_array_equal(whole, 4 * np.arange(32, dtype=np.float32).reshape(4, 8))


@pytest.mark.skipif(not os.path.exists(HEDDLE), reason="the tool that starts ranks is not built")
def test_two_processes(tmp_path):
    check(tmp_path, [HEDDLE, "launch", "-n", "2", "--"])


@pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Open MPI is not installed")
def test_two_ranks_of_mpi(tmp_path):
    check(tmp_path, ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2"])
