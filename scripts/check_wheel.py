#!/usr/bin/env python3
"""Whether a wheel runs where nothing but Python is installed.

    scripts/check_wheel.py build/wheels/heddle-*.whl

In a fresh environment it computes a matrix product, an exponential and a transform, and then looks at
what the process has loaded: glibc, the compiler's own libraries, and what lies in the environment.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

# Those of glibc, and what g++ brings.
ALLOWED = re.compile(
    r"(ld-linux[-\w]*|libc|libm|libdl|libpthread|librt|libutil|libmvec|libstdc\+\+|libgcc_s)\.so"
)

# What Python and its packages load by themselves.
ALONE = """
import numpy.fft, numpy.random, numpy.testing, ml_dtypes
numpy.random.default_rng(0)
for line in open('/proc/self/maps'):
    print(line.split()[-1])
"""

PROGRAM = """
import numpy as np, heddle
from heddle import _core
text = '''func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xcomplex<f32>>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.exponential %0 : tensor<64x64xf32>
  %2 = stablehlo.slice %a [0:1, 0:64] : (tensor<64x64xf32>) -> tensor<1x64xf32>
  %3 = stablehlo.reshape %2 : (tensor<1x64xf32>) -> tensor<64xf32>
  %4 = stablehlo.convert %3 : (tensor<64xf32>) -> tensor<64xcomplex<f32>>
  %5 = stablehlo.fft %4, type = FFT, length = [64] : (tensor<64xcomplex<f32>>) -> tensor<64xcomplex<f32>>
  return %1, %5 : tensor<64x64xf32>, tensor<64xcomplex<f32>>
}'''
a = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
product, transform = _core.compile(_core.read_program(text))([a, a / 64])
np.testing.assert_allclose(product, np.exp(a @ (a / 64)), rtol=1e-4)
np.testing.assert_allclose(transform, np.fft.fft(a[0]), rtol=1e-3, atol=1e-3)
print(heddle.__file__)
for line in open('/proc/self/maps'):
    print(line.split()[-1])
"""


def complaints(loaded: set[str], folder: str) -> list[str]:
    return sorted(
        path
        for path in loaded
        if ".so" in path
        and not ALLOWED.match(os.path.basename(path))
        and not Path(path).resolve().is_relative_to(Path(folder).resolve())
    )


def needed(module: Path) -> list[str]:
    listed = subprocess.run(["ldd", str(module)], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [row[2] if len(row) > 2 else row[0] for row in rows if "vdso" not in row[0]]


def main() -> int:
    wheel = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = f"{folder}/bin/python"
        subprocess.run([python, "-I", "-m", "pip", "install", "-q", str(wheel)], check=True)
        done = subprocess.run(
            [python, "-I", "-c", PROGRAM],
            capture_output=True,
            text=True,
            cwd=folder,
            env=dict(os.environ, HEDDLE_CACHE_DIR=""),  # nothing that was measured on this machine
        )
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            return 1
        where, *loaded = done.stdout.split("\n")
        module = next(Path(where).parent.glob("_core*.so"))
        names = {os.path.basename(path) for path in loaded}
        missing = [name for name in ("libopenblas.so.0", "libsleef.so.3") if name not in names]
        alone = subprocess.run([python, "-I", "-c", ALONE], capture_output=True, text=True)
        ours = set(loaded) - set(alone.stdout.split("\n"))
        foreign = complaints(ours | set(needed(module)), folder)
        for name in missing:
            print(f"{wheel.name}: {name} is not in the wheel, or was not opened")
        for path in foreign:
            print(f"{wheel.name}: {path} comes from this machine, not from the wheel")
    with zipfile.ZipFile(wheel) as files:
        if "heddle/py.typed" not in files.namelist():
            print(f"{wheel.name}: py.typed is missing")
            return 1
    return 1 if missing or foreign else 0


if __name__ == "__main__":
    sys.exit(main())
