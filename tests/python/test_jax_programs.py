"""The sources of the recorded programs on Heddle's backend and through heddle.jit, against what JAX's CPU backend gave."""

import sys
from pathlib import Path

import jax_backend  # first: it chooses the backend

jax_backend.show_devices(8)
import heddle  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import safetensors.numpy  # noqa: E402

SOURCES = Path(__file__).resolve().parents[3] / "shared/programs"
if not (SOURCES / "export.py").exists():
    pytest.skip("the programs are not beside this checkout", allow_module_level=True)
sys.path.insert(0, str(SOURCES))
export = pytest.importorskip("export")

NAMES = [name for name, (_, _, recorded, _) in export.PROGRAMS.items() if recorded]


def of_backend(function, arguments, options):
    return jax.jit(function, keep_unused=True, **options)(*arguments)


def of_heddle_jit(function, arguments, options):
    return heddle.jit(function)(*arguments)


def results(name, device, run):
    """The arguments of the program and what it gives where this device, or as many of its kind as the program wants, is JAX's."""
    _, build, _, options = export.PROGRAMS[name]
    with jax.enable_x64(options.get("x64", False)), jax.default_device(device):
        export.jax.devices = lambda *which: REAL_DEVICES(*which) if which else device.client.devices()
        try:
            function, arguments, *rest = build()
            given = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
            leaves = jax.tree.leaves(run(function, arguments, rest[0] if rest else {}))
        finally:
            export.jax.devices = REAL_DEVICES
    if run is of_backend:
        assert all({d.client for d in leaf.devices()} == {device.client} for leaf in leaves)
    return given, [np.asarray(leaf) for leaf in leaves]


REAL_DEVICES = jax.devices


def close(got, wanted, options):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, wanted)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), wanted.astype(wide), rtol=options.get("rtol", 1e-4),
                               atol=options.get("atol", 1e-4))


def recorded(name):
    """The inputs and outputs of the program on JAX's CPU backend, which takes longer to compile it than Heddle."""
    arrays = safetensors.numpy.load_file(SOURCES / f"{name}.safetensors")
    return [[arrays[f"{kind}.{i}"] for i in range(sum(key.startswith(kind + ".") for key in arrays))] for kind in ("in", "out")]


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_jax(name):
    cpu = jax.devices("cpu")[0]
    inputs, wanted = recorded(name)
    arguments, got = results(name, jax.devices()[0], of_backend)
    ways = [got]
    for one, other in zip(arguments, inputs, strict=True):
        close(one, other, {"rtol": 1e-6, "atol": 1e-6})
    # Every second one. Those for a mesh of JAX's own say so in options of jax.jit.
    if NAMES.index(name) % 2 == 0 and not name.endswith("_sharded"):
        ways.append(results(name, cpu, of_heddle_jit)[1])
    for got in ways:
        for one, other in zip(got, wanted, strict=True):
            close(one, other, export.PROGRAMS[name][3])
