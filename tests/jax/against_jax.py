"""What run.py and alone.py share: programs of JAX run by the tool and compared with JAX's results.

Imported before JAX, which then has its own CPU backend; the process ends with status 77 where there is none.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
# JAX's own code is to be right and soon there, not fast.
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") +
                           " --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench" / "cpu")]
try:
    import jax
    import numpy as np
except ImportError:
    print("JAX is not installed")
    sys.exit(77)
from tensors import write  # noqa: E402


def write_values(file, arguments, results):
    """Arguments and results as the tool's --io takes them."""
    values = {f"in.{i}": np.asarray(a) for i, a in enumerate(arguments)}
    values |= {f"out.{i}": np.asarray(a) for i, a in enumerate(jax.tree.leaves(results))}
    write(str(file), values)


def main(programs, record, *options):
    """record(name, text, values) writes both files; the tool gets these options. Gives the status."""
    tool, names = sys.argv[1], sys.argv[2:] or list(programs)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        text, values = Path(folder) / "program.mlir", Path(folder) / "values.safetensors"
        for name in names:
            record(name, text, values)
            done = subprocess.run(
                [tool, "run", "--plain", "--io", str(values), "--check", "--rtol", "2e-4", *options, str(text)],
                capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0:
                failed += 1
                print(f"FAIL {name}: {done.stderr.strip()}", flush=True)
    print(f"{len(names) - failed} of {len(names)} programs agree with JAX {jax.__version__}")
    return 1 if failed else 0
