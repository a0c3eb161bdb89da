#!/usr/bin/env python3
"""The programs of bench/h200 without a GPU: suite.py HEDDLE HEDDLE_TEST_DEVICE

Each is compiled for an H200 as large as it is: no kernel may spill registers or have more shared memory than
there is, and its machine code loads and stores 16 bytes at a time, or copies in bulk. Each is planned for an H200 in a small form, run on the CPU and compared with JAX in float64.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/h200"))
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("VIRTUAL_ENV", str(ROOT / "build/venv"))  # where NVIDIA's packages are, if anywhere
try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import programs
    from accesses import accesses
    from results import furthest, read_tensors, write_tensors
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SMALL = 16  # times smaller along most dimensions
MOST_SHARED = 227 << 10
# What has no access of 16 bytes, and why: rows that many threads share for their arithmetic; results of 8 bits; stores
# that the assembler takes apart.
NARROW_LOADS = {"recurrence, 64 steps"}
NARROW_STORES = {"recurrence, 64 steps", "rmsnorm+fp8 in blocks", "masked softmax", "jacobi 16384^2 x8"}
NO_NVRTC = "NVRTC was not found"
FIGURES = re.compile(r"(\S+): (\d+) registers, (\d+) bytes of shared memory, (\d+) bytes spilled")


def run(*words, **environment):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0 and NO_NVRTC not in done.stderr:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()[-500:]}")
    return done


def check_code(program, heddle, folder):
    """What NVRTC makes of its kernels."""
    file = folder / "program.mlir"
    file.write_text(program.text(), encoding="utf-8")
    done = run(heddle, "compile", file, "--device", "cuda:h200", "--explain",
               HEDDLE_LOG="1", HEDDLE_CACHE_DIR=str(folder / "cache"))
    if NO_NVRTC in done.stderr:
        print(f"no code is made: {NO_NVRTC}")
        return 0
    kernels = FIGURES.findall(done.stderr)
    assert kernels, f"no kernel was compiled: {done.stderr.strip()[-300:]}"
    for name, registers, shared, spilled in kernels:
        assert int(spilled) == 0, f"{name} spills {spilled} bytes"
        assert int(registers) <= 255 and int(shared) <= MOST_SHARED, f"{name}: {registers} registers, {shared} bytes"
    found = sum((accesses(file.read_bytes()) for file in (folder / "cache").glob("*.o")), Counter())
    assert program.name in NARROW_LOADS or found["load", 128] + found["bulk copy", 0] > 0, f"loads are narrow: {found}"
    assert program.name in NARROW_STORES or found["store", 128] > 0, f"stores are narrow: {found}"
    on_host = re.findall(r"^ *not run +(?!kernel)(\S+)", done.stdout, re.MULTILINE)
    assert not on_host, f"not only kernels: {on_host}"
    return max(int(k[1]) for k in kernels)


def in_float64(program, arguments):
    narrow = programs.F32, programs.BF16, programs.F8
    programs.F32 = programs.BF16 = programs.F8 = jnp.float64
    try:
        with jax.enable_x64(True):
            widened = [a.astype(jnp.float64) if a.dtype == np.float32 else a for a in arguments]
            nested = jax.tree.unflatten(jax.tree.structure(program.arguments), widened)
            return [np.asarray(r, np.float64) for r in jax.tree.leaves(jax.jit(lambda *a: program.function(*a))(*nested))]
    finally:
        programs.F32, programs.BF16, programs.F8 = narrow


def check_results(program, heddle_test_device, folder):
    generator = np.random.default_rng(1)
    arguments = [a.numbers(generator, 1 << 30).reshape(a.shape) for a in program.leaves()]
    file, given, made = (folder / name for name in ("small.mlir", "in.safetensors", "out.safetensors"))
    file.write_text(program.text(), encoding="utf-8")
    write_tensors(given, {f"in.{i}": a for i, a in enumerate(arguments)})
    run(heddle_test_device, "run", file, "--input", given, "--output", made, HEDDLE_TEST_PLANNED_FOR="cuda:h200")
    results = read_tensors(made)
    wanted = in_float64(program, arguments)
    assert len(results) == len(wanted), f"{len(results)} results, not {len(wanted)}"
    worst = max(furthest(np.asarray(results[f"out.{i}"], np.float64), right, str(results[f"out.{i}"].dtype))
                for i, right in enumerate(wanted))
    assert worst <= 1, f"off by {worst:.2f} of what is allowed"
    return worst


def main():
    heddle, heddle_test_device = sys.argv[1:3]
    failed = 0
    for check, tool, scale in ((check_code, heddle, 1), (check_results, heddle_test_device, SMALL)):
        programs.add_all(scale)
        for program in programs.PROGRAMS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    print(f"{check.__name__} {program.name}: {check(program, tool, Path(folder)):.3g}", flush=True)
                except (AssertionError, RuntimeError) as error:
                    failed += 1
                    print(f"{check.__name__} {program.name}: FAILED: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
