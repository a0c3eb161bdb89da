"""Windows on several devices, threads and ranks: what NumPy gives, whatever their number."""

import os
import subprocess
import sys
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
import test_arrays_views as views
from heddle.numpy._core import recorded

HEDDLE = os.environ.get("HEDDLE", "heddle")


@pytest.fixture(autouse=True)
def one_device_again():
    before = recorded.at_once()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hn.FallbackWarning)
        yield
    recorded.set_devices(1)
    recorded.set_at_once(before)
    recorded.set_direct("")


def stencil(np, size, turns):
    u = np.zeros((size, size - 3))
    u[0] = 1
    for _ in range(turns):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
    return u


def test_random_programs_on_1_to_16_devices():
    recorded.set_at_once(0)
    for seed in range(96):
        recorded.set_devices(1 + seed % 16, 0)
        views.compare(seed)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_stencil(count):
    recorded.set_devices(count, 0)
    assert hn.devices() == count
    got = stencil(hn, 150, 12)
    np.testing.assert_allclose(np.asarray(got), stencil(np, 150, 12), rtol=1e-12)


def test_arrays_stay_in_parts():
    recorded.set_devices(4, 0)
    x = hn.arange(40_000.0) * 2
    hn.flush()
    before = x._store_is_spread()
    y = x + 1
    hn.flush()
    assert before and x._store_is_spread() and y._store_is_spread()
    assert y.sum() == (np.arange(40_000.0) * 2 + 1).sum()
    recorded.set_devices(3, 0)  # what lies on others comes back whole
    assert (x + y).sum() == (np.arange(40_000.0) * 4 + 1).sum()


def test_wrong_numbers():
    with pytest.raises(Exception, match="0 devices are asked for"):
        hn.devices(0)
    done = subprocess.run([sys.executable, "-c", "import heddle.numpy as np; np.ones(3) + 1"], text=True,
                          capture_output=True, env={**os.environ, "HEDDLE_DEVICES": "many"})  # fmt: skip
    assert "HEDDLE_DEVICES=many: a number of devices" in done.stderr
    done = subprocess.run([sys.executable, "-c", "import heddle.numpy as np; np.ones(3) + 1"], text=True,
                          capture_output=True, env={**os.environ, "HEDDLE_DEVICE": "abacus"})  # fmt: skip
    assert 'HEDDLE_DEVICE=abacus: there is no device "abacus"' in done.stderr
    with pytest.raises(Exception, match='there is no device "abacus"'):
        hn.device("abacus")
    with pytest.raises(TypeError, match="a device is a text"):
        hn.device(3)
    assert hn.device("cpu") == "cpu"


PROGRAM = """
import os, sys
import heddle.numpy as np
x = np.arange(200_000.0).reshape(400, 500)
for turn in range(6):
    x[1:-1] = (x[:-2] + x[2:]) * 0.5 + turn
    total = float(x.sum())
    if turn == 3 and len(sys.argv) > 1 and int(os.environ["HEDDLE_RANK"]) == 1:
        os._exit(7)
print(np.devices(), total, float(np.random.rand(2)[0]) + np.random.default_rng().random())
"""


def launch(tmp_path, *args):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [HEDDLE, "launch", "-n", "3", sys.executable, str(tmp_path / "program.py"), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_ranks(tmp_path):
    done = launch(tmp_path)
    x = np.arange(200_000.0).reshape(400, 500)
    for turn in range(6):
        x[1:-1] = (x[:-2] + x[2:]) * 0.5 + turn
    lines = done.stdout.split("\n")[:-1]
    assert done.returncode == 0 and len(lines) == 3, done.stderr
    assert len({line.split()[3] for line in lines}) == 1  # they draw the same without a seed
    for line in lines:
        rank, count, total, _ = line.split()
        assert count == "3" and float(total) == pytest.approx(x.sum(), rel=1e-12)


def test_a_rank_that_dies_is_named(tmp_path):
    done = launch(tmp_path, "die")
    assert done.returncode != 0 and "rank 1 of 3" in done.stderr
