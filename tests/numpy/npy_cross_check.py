"""Arrays go from NumPy through `heddle run` and back: every kind of element, order and version.

    npy_cross_check.py HEDDLE

Status 77 (skipped) where NumPy cannot be imported.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

ELEMENTS = {
    "?": "i1", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "ui8", "u2": "ui16",
    "u4": "ui32", "u8": "ui64", "f2": "f16", "f4": "f32", "f8": "f64", "c8": "complex<f32>",
    "c16": "complex<f64>",
}
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (0,), (2, 0, 3)]


def values(code, shape, seed):
    """Any bits; for truth values 0 and 1."""
    kind = np.dtype(code)
    count = int(np.prod(shape, dtype=np.int64))
    raw = np.random.default_rng(seed).bytes(count * kind.itemsize)
    flat = np.frombuffer(raw, np.uint8) % 2 if kind == np.bool_ else np.frombuffer(raw, kind)
    return flat.astype(kind, copy=False).reshape(shape)


def variants(array):
    """The same array as files of other orders, byte orders and versions of the format."""
    swapped = array.astype(array.dtype.newbyteorder(">"))
    yield "plain", array, (1, 0)
    yield "fortran", array.copy(order="F"), (1, 0)
    yield "big endian", swapped, (1, 0)
    yield "big endian, fortran", swapped.copy(order="F"), (1, 0)
    yield "version 2", array, (2, 0)
    yield "version 3", array, (3, 0)


def files(code, seed):
    """What is stored in how many ways: (shape, the name of the way, the array as it is stored, version), and the array itself."""
    for shape in SHAPES:
        array = values(code, shape, seed)
        for name, stored, version in variants(array):
            if name == "plain" or shape in [(), (3, 5), (2, 3, 4)]:
                yield (shape, name, stored, version), array


def through_heddle(heddle, folder, stored, element):
    """What comes back of arrays that one program takes and gives as they are, or why nothing does."""
    kinds = [f"tensor<{''.join(f'{n}x' for n in array.shape)}{element}>" for array, _ in stored]
    arguments = [f"%x{i}" for i in range(len(kinds))]
    takes = ", ".join(f"{name}: {kind}" for name, kind in zip(arguments, kinds, strict=True))
    program = folder / "same.mlir"
    program.write_text(f"func.func @main({takes}) -> ({', '.join(kinds)}) {{\n"
                       f"  return {', '.join(arguments)} : {', '.join(kinds)}\n}}\n")
    command = [heddle, "run", program, "--output", folder / "out"]
    for i, (array, version) in enumerate(stored):
        with open(folder / f"{i}.npy", "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        command += ["--input", folder / f"{i}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return [np.load(folder / "out" / f"out.{i}.npy") for i in range(len(stored))], ""


def main():
    heddle = sys.argv[1]
    checked = failed = 0
    for seed, (code, element) in enumerate(ELEMENTS.items()):
        cases = list(files(code, seed))
        with tempfile.TemporaryDirectory() as temporary:
            back, why = through_heddle(heddle, Path(temporary), [(stored, version) for (_, _, stored, version), _ in cases], element)
        for i, ((shape, name, _, _), array) in enumerate(cases):
            checked += 1
            got = None if back is None else back[i]
            if got is not None and got.dtype == array.dtype and got.shape == array.shape \
                    and got.tobytes() == array.tobytes():
                continue
            failed += 1
            print(f"{element} {shape} {name}: {why or 'other elements came back'}")
    print(f"{checked - failed} of {checked} arrays came back as they were (NumPy {np.__version__})")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
