"""Safetensors files: eight bytes with the length of a JSON header, the header, then the data."""
import json
import struct

import numpy as np

try:
    from ml_dtypes import bfloat16, float8_e4m3fn
except ImportError:  # JAX brings it along
    bfloat16 = float8_e4m3fn = None

_DTYPES = {
    "BOOL": np.bool_,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "C64": np.complex64,
}
if bfloat16 is not None:
    _DTYPES["BF16"], _DTYPES["F8_E4M3"] = bfloat16, float8_e4m3fn
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


def write(path, arrays):
    """`arrays`: name to NumPy array."""
    arrays = {name: np.asarray(a, order="C") for name, a in arrays.items()}
    header, end = {}, 0
    for name, a in arrays.items():
        start, end = end, end + a.nbytes
        entry = {"dtype": _NAMES[a.dtype], "shape": a.shape, "data_offsets": [start, end]}
        header[name] = entry
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for a in arrays.values():
            plain = a.ndim and a.size and a.dtype.kind in "biufc"
            file.write(a.data if plain else a.tobytes())


def _header(file):
    length = struct.unpack("<Q", file.read(8))[0]
    header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return header


def size(path):
    """The bytes of all arrays together."""
    with open(path, "rb") as file:
        spans = [entry["data_offsets"] for entry in _header(file).values()]
    return sum(end - start for start, end in spans)


def read(path):
    """Name to NumPy array."""
    with open(path, "rb") as file:
        header = _header(file)
        body = np.fromfile(file, np.uint8)
    arrays = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        values = body[start:end].view(_DTYPES[entry["dtype"]])
        arrays[name] = values.reshape(entry["shape"])
    return arrays


def numbered(arrays, prefix):
    """The arrays called `prefix`.0, `prefix`.1, ... in order."""
    found = []
    while f"{prefix}.{len(found)}" in arrays:
        found.append(arrays[f"{prefix}.{len(found)}"])
    return found
