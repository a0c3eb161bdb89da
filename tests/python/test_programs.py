"""The sources of the recorded programs through heddle.jit, against JAX's CPU backend."""

import sys
from pathlib import Path

import heddle
import jax
import numpy as np
import pytest

SOURCES = Path(__file__).resolve().parents[3] / "shared/programs"
if not (SOURCES / "export.py").exists():
    pytest.skip("the programs are not beside this checkout", allow_module_level=True)
sys.path.insert(0, str(SOURCES))
export = pytest.importorskip("export")

# Those for a mesh of JAX's own say so in options of jax.jit.
NAMES = [
    name
    for name, (_, _, recorded, _) in export.PROGRAMS.items()
    if recorded and not name.endswith("_sharded")
]


def close(got, wanted, options):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, wanted)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        got.astype(wide), wanted.astype(wide),
        rtol=options.get("rtol", 1e-4), atol=options.get("atol", 1e-4),
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_jax(name):
    _, build, _, options = export.PROGRAMS[name]
    with jax.enable_x64(options.get("x64", False)):
        function, arguments = build()[:2]
        wanted = jax.tree.leaves(jax.jit(function)(*arguments))
        got = jax.tree.leaves(heddle.jit(function)(*arguments))
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            close(one, other, options)
