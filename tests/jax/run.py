#!/usr/bin/env python3
"""Programs that JAX shards, run by Heddle on as many devices and compared with JAX's results.

    PYTHON tests/jax/run.py HEDDLE [NAME...]

PYTHON has JAX with Shardy on, as scripts/python_env.sh makes it for the CPU benchmark. The status
is 77 where it has none.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import against_jax  # noqa: E402 - before JAX: it chooses JAX's backend
import jax  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

if not hasattr(jax, "shard_map"):
    print(f"JAX {jax.__version__} is too old: jax.shard_map is not there")
    sys.exit(77)
import mapped_programs  # noqa: E402, F401
import whole_programs  # noqa: E402, F401
from meshes import PROGRAMS  # noqa: E402


def record(name, text, values):
    where, function, takes, gives, arguments = PROGRAMS[name]

    def on(specs):
        return jax.tree.map(lambda s: NamedSharding(where, s), specs,
                            is_leaf=lambda s: isinstance(s, P))

    jitted = jax.jit(function, in_shardings=on(takes), out_shardings=on(gives), keep_unused=True)
    text.write_text(jitted.lower(*arguments).as_text(), encoding="utf-8")
    placed = [jax.device_put(a, s) for a, s in zip(arguments, on(takes), strict=True)]
    against_jax.write_values(values, arguments, jitted(*placed))


if __name__ == "__main__":
    sys.exit(against_jax.main(PROGRAMS, record, "--mesh", "@mesh", "--atol", "2e-5"))
