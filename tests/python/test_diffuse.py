"""The seven applications of the Diffuse paper: results of NumPy and SciPy, and at most the paper's launches a turn."""

import pathlib
import sys

import numpy as np
import pytest
import scipy.sparse

import heddle.numpy as hnp
import heddle.sparse as sparse

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "diffuse"))
from apps import APPS  # noqa: E402

SIZES = {"Black-Scholes": 20000, "Jacobi": 150, "CFD": 40, "shallow water": 24}


pytestmark = pytest.mark.usefixtures("all_recorded")


@pytest.mark.parametrize("name", APPS)
def test_application(name):
    make, paper, _ = APPS[name]
    size = SIZES.get(name, 96)
    ours, theirs = make(hnp, sparse, size), make(np, scipy.sparse, size)
    turns = 4
    hnp.flush()
    hnp.fallbacks.clear()
    before = hnp.counts()
    for _ in range(turns):
        ours.turn()
        # What one turn computes is seen: otherwise turns that overwrite it would be free.
        seen = ours.result()
        hnp.flush()
    after = hnp.counts()
    for _ in range(turns):
        theirs.turn()
    for a, b in zip(seen, theirs.result()):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9, atol=1e-11 * np.abs(b).max())
    assert (after["launches"] - before["launches"]) / turns <= paper
    assert not hnp.fallbacks  # all of it is recorded
