"""Arrays in host memory: what other packages have, as NumPy arrays that Heddle reads in place."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from heddle.errors import Error

_NUMPY = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64",
    "complex<f32>": "complex64", "complex<f64>": "complex128",
}  # fmt: skip
_ML_DTYPES = {
    "bf16": "bfloat16", "i2": "int2", "i4": "int4", "ui2": "uint2", "ui4": "uint4",
    "f4E2M1FN": "float4_e2m1fn", "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn",
    "f8E3M4": "float8_e3m4", "f8E4M3": "float8_e4m3", "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2", "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu",
}  # fmt: skip


def dtypes() -> dict[str, np.dtype[Any]]:
    """NumPy's element types by Heddle's names for them."""
    import ml_dtypes

    table = {name: np.dtype(numpy) for name, numpy in _NUMPY.items()}
    for name, attribute in _ML_DTYPES.items():
        if hasattr(ml_dtypes, attribute):
            table[name] = np.dtype(getattr(ml_dtypes, attribute))
    return table


def as_numpy(value: Any) -> np.ndarray[Any, Any]:
    """An array of NumPy over the same memory, where that can be."""
    if isinstance(value, np.ndarray):
        return value
    if type(value).__module__.split(".")[0] == "torch":
        return _of_torch(value)
    if type(value).__name__ == "PRNGKeyArray":
        return np.asarray(importlib.import_module("jax").random.key_data(value))
    if hasattr(value, "__array__") or np.isscalar(value):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _of_torch(tensor: Any) -> np.ndarray[Any, Any]:
    # NumPy has no bfloat16 of its own, so its bits travel as integers.
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        raise Error(f"a tensor on {tensor.device} came in: bring it to the CPU with .cpu() first")
    name = str(tensor.dtype).removeprefix("torch.")
    if name == "bfloat16" or name.startswith("float8"):
        import ml_dtypes

        torch: Any = importlib.import_module("torch")
        bits = torch.int16 if name == "bfloat16" else torch.uint8
        return np.asarray(tensor.view(bits).numpy()).view(getattr(ml_dtypes, name))
    return np.asarray(tensor.numpy())


def described(value: Any) -> tuple[np.ndarray[Any, Any], list[int], np.dtype[Any]]:
    """A NumPy array, its shape and its element type."""
    array = as_numpy(value)
    return array, list(array.shape), array.dtype


def as_host(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The value, dense and in this type, as an array whose memory can be asked for."""
    if isinstance(value, (bool, int, float, complex)):
        array = np.asarray(value, dtype)
    else:
        array = as_numpy(value)
    if array.shape != shape:
        raise Error(f"an array of shape {shape} was expected, and {array.shape} came in")
    if array.dtype != dtype:
        array = array.astype(dtype)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array).reshape(shape)
    if array.dtype.kind == "V" or array.dtype.type.__module__ == "ml_dtypes":
        # These have no letter in Python's buffer protocol.
        array = array.view(np.dtype(f"u{array.dtype.itemsize}"))
    return array
