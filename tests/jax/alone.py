#!/usr/bin/env python3
"""Programs for one device as JAX sends them to a plugin, run by Heddle and compared with JAX's results.

    PYTHON tests/jax/alone.py HEDDLE [NAME...]

The text has been through the portable artifact that a plugin gets. The status is 77 without JAX.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench" / "cpu")]
try:
    import jax
    import numpy as np
    from jax._src.interpreters import mlir
    from jaxlib._jax import mlir as portable
except ImportError:
    print("JAX is not installed, or is another one")
    sys.exit(77)
from alone_programs import PROGRAMS  # noqa: E402
from tensors import write  # noqa: E402

VERSION = "1.13.0"  # of StableHLO: the one that the reader is held to


def sent(lowered):
    """The program as a plugin gets it, as text."""
    module = mlir.module_to_bytecode(lowered.compiler_ir("stablehlo"))
    artifact = portable.serialize_portable_artifact(module, VERSION)
    with mlir.make_ir_context():
        return str(portable.deserialize_portable_artifact(artifact))


def main():
    tool, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        text, tensors = Path(folder) / "program.mlir", Path(folder) / "values.safetensors"
        for name in names:
            function, arguments = PROGRAMS[name]
            lowered = jax.jit(function, keep_unused=True).lower(*arguments)
            text.write_text(sent(lowered), encoding="utf-8")
            results = jax.tree.leaves(lowered.compile()(*arguments))
            values = {f"in.{i}": np.asarray(a) for i, a in enumerate(arguments)}
            values |= {f"out.{i}": np.asarray(a) for i, a in enumerate(results)}
            write(str(tensors), values)
            done = subprocess.run(
                [tool, "run", "--plain", "--io", str(tensors), "--check", "--rtol", "2e-4",
                 "--atol", "1e-4", str(text)],
                capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0:
                failed += 1
                print(f"FAIL {name}: {done.stderr.strip()}", flush=True)
    print(f"{len(names) - failed} of {len(names)} programs agree with JAX {jax.__version__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
