"""Arrays in safetensors files, and how far they are from what they should be. Needs neither JAX nor torch."""

import json

import ml_dtypes
import numpy as np

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
          "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2, "I64": np.int64, "I32": np.int32,
          "I8": np.int8, "U8": np.uint8, "BOOL": np.bool_}
# What a result may be off, as a part of its size.
STEPS = {"bfloat16": 2.0**-8, "float8_e4m3fn": 2.0**-3, "float32": 2.0**-14}


def write_tensors(file, arrays):
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            out.write(array.tobytes())


def read_tensors(file):
    content = np.memmap(file, np.uint8, "c")
    length = int(content[:8].view(np.uint64)[0])
    header = json.loads(bytes(content[8:8 + length]))
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + at for at in entry["data_offsets"])
        arrays[name] = content[begin:end].view(DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def furthest(made, wanted, dtype):
    """How far the worst element is from `wanted`, both in float64 (NumPy's or torch's), as a part of what its
    type allows: one step of its own size or of the typical size. More than 1 is wrong; so is what is not a number."""
    if made.shape != wanted.shape:
        raise ValueError(f"a result of {tuple(made.shape)}, not {tuple(wanted.shape)}")
    off = abs(made - wanted)
    if dtype not in STEPS:
        return float(off.max())  # rounding to a neighbour is fine
    typical = (wanted * wanted).mean() ** 0.5
    worst = float((off / (STEPS[dtype] * (abs(wanted) + typical))).max())
    return worst if worst == worst else float("inf")
