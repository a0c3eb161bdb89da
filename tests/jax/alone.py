#!/usr/bin/env python3
"""Programs for one device as JAX sends them to a plugin, run by Heddle and compared with JAX's results.

    PYTHON tests/jax/alone.py HEDDLE [NAME...]

The text has been through the portable artifact that a plugin gets. The status is 77 without JAX.
"""

import sys

import against_jax  # first: it chooses JAX's backend
import jax

try:
    from jax._src.interpreters import mlir
    from jaxlib._jax import mlir as portable
except ImportError:
    print(f"JAX {jax.__version__} is another one")
    sys.exit(77)
from alone_programs import PROGRAMS

VERSION = "1.13.0"  # of StableHLO: the one that the reader is held to


def sent(lowered):
    """The program as a plugin gets it, as text."""
    module = mlir.module_to_bytecode(lowered.compiler_ir("stablehlo"))
    artifact = portable.serialize_portable_artifact(module, VERSION)
    with mlir.make_ir_context():
        return str(portable.deserialize_portable_artifact(artifact))


def record(name, text, values):
    function, arguments = PROGRAMS[name]
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    text.write_text(sent(lowered), encoding="utf-8")
    against_jax.write_values(values, arguments, lowered.compile()(*arguments))


if __name__ == "__main__":
    sys.exit(against_jax.main(PROGRAMS, record, "--atol", "1e-4"))
