"""Memory of GPUs that other packages have, which Heddle borrows by DLPack."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from heddle.errors import Error

# DLPack's numbers for kinds of memory; the first ones the host can read.
_HOST = (1, 3)  # kDLCPU, kDLCUDAHost
_KINDS = {1: "cpu", 2: "cuda", 3: "pinned memory", 4: "opencl", 10: "rocm", 13: "managed memory"}


def device_words(device: Any) -> str:
    """A device as Heddle calls it: ``"cpu"``, ``"cuda"``, ``"cuda:1"``."""
    if not isinstance(device, str):
        raise Error(f'device={device!r}: it is a text, as "cpu", "cuda" or "cuda:1"')
    return device


def borrowed(
    value: Any, device: tuple[int, int], name: str, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> Any:
    """The value dense and in this type, on the device: as something whose memory DLPack gives out, or as a capsule
    of DLPack's with the stream on which its owner works; nothing where it lies in host memory."""
    if type(value).__module__ == "torch" and value.is_cuda:
        _want_here((2, value.get_device()), device, name)
        _want_shape(tuple(value.shape), shape)
        return _of_torch(value, dtype)
    where = _place(value)
    if where is None or where[0] in _HOST:
        return None
    _want_here(where, device, name)
    _want_shape(tuple(value.shape), shape)
    if hasattr(value, "dtype") and value.dtype != dtype:
        value = value.astype(dtype)
    return value, None


def _want_here(where: tuple[int, int], device: tuple[int, int], name: str) -> None:
    if where == device:
        return
    came = f"{_KINDS.get(where[0], f'memory of kind {where[0]}')}:{where[1]}"
    raise Error(f"an array on {came} came in, and the function runs on {name}: bring it there, or to the host")


def _want_shape(came: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if came != shape:
        raise Error(f"an array of shape {shape} was expected, and {came} came in")


def _place(value: Any) -> tuple[int, int] | None:
    ask = getattr(value, "__dlpack_device__", None)
    if ask is None:
        return None
    try:
        kind, number = ask()
    except (BufferError, RuntimeError):  # several devices: its whole is in host memory
        return None
    return int(kind), int(number)


def _of_torch(tensor: Any, dtype: np.dtype[Any]) -> tuple[Any, int]:
    torch: Any = importlib.import_module("torch")
    if tensor.requires_grad:
        tensor = tensor.detach()
    wanted = getattr(torch, dtype.name)
    if tensor.dtype != wanted:
        tensor = tensor.to(wanted)
    tensor = tensor.contiguous()
    # DLPack has no name for these; their bytes are what is borrowed.
    if dtype.name.startswith("float8"):
        tensor = tensor.view(torch.uint8)
    # Without torch's own waiting: whoever takes it waits for the stream.
    stream: int = torch.cuda.current_stream(tensor.get_device()).cuda_stream
    return torch.utils.dlpack.to_dlpack(tensor), stream or 1  # 0 and 1 are both the default one


def as_jax(array: Any) -> Any:
    """A result as JAX's: without a copy where JAX has the device."""
    import jax

    if array.__dlpack_device__()[0] in _HOST or _jax_has_gpus():
        return jax.numpy.from_dlpack(array)
    return jax.numpy.asarray(np.asarray(array))


def _jax_has_gpus() -> bool:
    import jax

    try:
        return bool(jax.devices("gpu"))
    except RuntimeError:
        return False
