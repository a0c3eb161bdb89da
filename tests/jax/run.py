#!/usr/bin/env python3
"""Programs that JAX shards, run by Heddle on as many devices and compared with JAX's results.

    PYTHON tests/jax/run.py HEDDLE [NAME...]

PYTHON has JAX with Shardy on, as scripts/python_env.sh makes it for the CPU benchmark. The status
is 77 where it has none.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench" / "cpu")]
try:
    import jax
    import numpy as np
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P
except ImportError:
    print("JAX is not installed")
    sys.exit(77)
if not hasattr(jax, "shard_map"):
    print(f"JAX {jax.__version__} is too old: jax.shard_map is not there")
    sys.exit(77)
import mapped_programs  # noqa: E402, F401
import whole_programs  # noqa: E402, F401
from meshes import PROGRAMS  # noqa: E402
from tensors import write  # noqa: E402


def recorded(name, folder):
    """The program's text and a file with its arguments and JAX's results."""
    where, function, takes, gives, arguments = PROGRAMS[name]

    def on(specs):
        return jax.tree.map(lambda s: NamedSharding(where, s), specs,
                            is_leaf=lambda s: isinstance(s, P))

    jitted = jax.jit(function, in_shardings=on(takes), out_shardings=on(gives), keep_unused=True)
    text, tensors = Path(folder) / f"{name}.mlir", Path(folder) / f"{name}.safetensors"
    text.write_text(jitted.lower(*arguments).as_text(), encoding="utf-8")
    placed = [jax.device_put(a, s) for a, s in zip(arguments, on(takes))]
    values = {f"in.{i}": np.asarray(a) for i, a in enumerate(arguments)}
    for i, result in enumerate(jax.tree.leaves(jitted(*placed))):
        values[f"out.{i}"] = np.asarray(result)
    write(str(tensors), values)
    return text, tensors


def main():
    tool, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            text, tensors = recorded(name, folder)
            done = subprocess.run(
                [tool, "run", "--plain", "--mesh", "@mesh", "--io", str(tensors), "--check",
                 "--rtol", "2e-4", "--atol", "2e-5", str(text)],
                capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0:
                failed += 1
                print(f"FAIL {name}: {done.stderr.strip()}", flush=True)
    print(f"{len(names) - failed} of {len(names)} programs agree with JAX {jax.__version__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
