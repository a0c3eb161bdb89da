"""Heddle as a backend of JAX: ``JAX_PLATFORMS=heddle,cpu python train.py``.

JAX finds this module by its entry point and calls :func:`initialize` before it looks for devices. The
plugin itself is C++ (``src/pjrt``, in the module ``heddle._core``); what it asks of Python is here: the
text of a program, which jaxlib's own reader gives, and calls of the user's functions.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import logging
import sys
import threading
import traceback
from typing import Any

import numpy as np

_log = logging.getLogger("heddle")

# Versions of JAX that the plugin has been tried with: at least the first, below the second.
_FITS = ((0, 10), (0, 13))

_Write = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)


class _Array(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_char_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
    ]


_Decode = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, _Write)
_Call = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Array), ctypes.c_size_t,
    ctypes.POINTER(_Array), ctypes.c_size_t, ctypes.c_void_p, _Write)


class _Hooks(ctypes.Structure):
    _fields_ = [
        ("decode", _Decode), ("only_hlo", _Decode), ("check_options", _Decode), ("call", _Call)]


# MLIR's names of element types that NumPy or ml_dtypes spell otherwise.
_SPELLED = {
    "i1": "bool", "i2": "int2", "i4": "int4", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "ui2": "uint2", "ui4": "uint4", "ui8": "uint8", "ui16": "uint16",
    "ui32": "uint32", "ui64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32",
    "f64": "float64", "complex<f32>": "complex64", "complex<f64>": "complex128",
}


def _dtype(name: str) -> np.dtype[Any]:
    if name in _SPELLED:
        name = _SPELLED[name]
    elif name.startswith("f"):
        name = "float" + name[1:].lower()
        name = name.replace("float8e", "float8_e").replace("float4e", "float4_e")
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return dtype


def _view(array: _Array, writable: bool) -> np.ndarray[Any, Any] | None:
    """The memory of an array as NumPy sees it; nothing for a token."""
    name = array.dtype.decode()
    if name == "token":
        return None
    shape = tuple(array.dims[i] for i in range(array.rank))
    dtype = _dtype(name)
    if array.bytes == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * array.bytes).from_address(array.data)
    view = np.frombuffer(memory, dtype=np.uint8).view(dtype).reshape(shape)
    view.flags.writeable = writable
    return view


def _text_of(bytecode: bytes) -> str:
    # Private, and without types of their own.
    mlir: Any = importlib.import_module("jax._src.interpreters.mlir")
    reader: Any = importlib.import_module("jaxlib._jax").mlir

    with mlir.make_ir_context():
        module = reader.deserialize_portable_artifact(bytecode)
        if isinstance(module, bytes | str):  # older readers give bytecode of the plain dialects
            from jaxlib.mlir import ir

            module = ir.Module.parse(module)
        text: str = module.operation.get_asm(enable_debug_info=True)
        return text


def _reporting(function: Any) -> Any:
    """What the function raises becomes text for the caller; C++ sees 0, 1, or 2 for Ctrl-C."""

    def wrapped(*args: Any) -> int:
        *inputs, sink, write = args
        try:
            text = function(*inputs)
        except BaseException as error:  # noqa: BLE001 - nothing may pass through C++
            message = traceback.format_exc().encode()
            write(sink, message, len(message))
            return 2 if isinstance(error, KeyboardInterrupt) and _in_main_thread() else 1
        if text is not None:
            write(sink, text, len(text))
        return 0

    return wrapped


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


# Called with the GIL: handlers of signals are looked at.
_watch: Any = None


def _decode(data: int, size: int) -> bytes:
    _watch()  # jaxlib compiles on a thread of its own, to which Ctrl-C does not come
    return _text_of(ctypes.string_at(data, size)).encode()


def _only_hlo(data: int, size: int) -> bytes:
    # There and back: what jaxlib asks for is a program in MLIR, without dialects that HLO has not.
    mlir: Any = importlib.import_module("jaxlib._jax").mlir
    computation = mlir.mlir_module_to_xla_computation(
        ctypes.string_at(data, size), use_tuple_args=False, return_tuple=False)
    code: bytes = mlir.hlo_to_stablehlo(computation.as_serialized_hlo_module_proto())
    return code


# No option is called so.
_NO_OPTION = "heddle_ends_here"


def _check_options(data: int, size: int) -> bytes | None:
    """Options of XLA change nothing here, but a slip is to be told: JAX's CPU backend looks at them in order,
    and finds the last one wrong where all others are right, so that it compiles nothing."""
    xla: Any = importlib.import_module("jaxlib._jax")
    bridge: Any = importlib.import_module("jax._src.xla_bridge")
    mlir: Any = importlib.import_module("jax._src.interpreters.mlir")
    from jaxlib.mlir import ir

    given = xla.CompileOptions.ParseFromString(ctypes.string_at(data, size))
    options = xla.CompileOptions()
    options.env_option_overrides = [*given.env_option_overrides, (_NO_OPTION, True)]
    client = bridge.backends().get("cpu") or bridge.make_cpu_client()
    devices = xla.DeviceList((client.local_devices()[0],))
    with mlir.make_ir_context():
        module = ir.Module.parse("func.func public @main() { return }")
        try:
            client.compile_and_load(module, devices, options)
        except RuntimeError as error:
            trouble = str(error).removeprefix("INVALID_ARGUMENT: ")
            return None if _NO_OPTION in trouble else trouble.encode()
    return None


def _call(callable_: int, arguments: Any, argument_count: int, results: Any, result_count: int) -> None:
    function = ctypes.cast(callable_, ctypes.py_object).value
    # The program's memory is given back when the call is over: the user's function gets copies.
    inputs = [_view(arguments[i], False) for i in range(argument_count)]
    values = function(*[None if x is None else x.copy() for x in inputs])
    outputs = [_view(results[i], True) for i in range(result_count)]
    for out, value in zip(outputs, () if values is None else values, strict=False):
        if out is not None and out.nbytes > 0:
            out[...] = np.asarray(value)


_hooks = _Hooks(
    _Decode(_reporting(_decode)), _Decode(_reporting(_only_hlo)), _Decode(_reporting(_check_options)),
    _Call(_reporting(_call)))


def _check_version() -> None:
    import jax
    import jaxlib

    installed: str = getattr(jaxlib, "__version__")  # noqa: B009 - its stubs do not have it
    version = tuple(int(part) for part in installed.split(".")[:2])
    if not _FITS[0] <= version < _FITS[1]:
        low, high = (".".join(map(str, v)) for v in _FITS)
        raise RuntimeError(
            f"this Heddle works with JAX from {low} up to, but not including, {high}; installed are "
            f"jax {jax.__version__} and jaxlib {installed}: pip install 'jax>={low},<{high}'")


def _end(library: ctypes.CDLL) -> None:
    """When Python ends, JAX waits for programs with effects; not so after Ctrl-C."""
    library.heddle_pjrt_end(isinstance(getattr(sys, "last_value", None), KeyboardInterrupt))


def connect() -> ctypes.CDLL:
    """Tells C++ how to call Python."""
    global _watch
    from heddle import _core

    library = ctypes.CDLL(_core.__file__)
    _watch = ctypes.PyDLL(_core.__file__).heddle_pjrt_watch
    library.heddle_pjrt_set_hooks(ctypes.byref(_hooks))
    return library


def initialize() -> None:
    """Registers the backend ``heddle``; JAX calls it."""
    from jax._src import xla_bridge

    from heddle import _core

    try:
        _check_version()
    except RuntimeError as error:
        _log.error("%s", error)
        raise
    atexit.register(_end, connect())
    xla_bridge.register_plugin("heddle", library_path=_core.__file__, priority=0)
