# mypy: ignore-errors
"""What cuPyNumeric has and NumPy has not."""

import numpy as np

import heddle.numpy as hnp
from heddle.numpy import _fallback


def convolve(a, v, mode="full", method="auto"):
    """Of arrays of any one number of dimensions; SciPy does it where there are several."""
    a, v = hnp.asarray(a), hnp.asarray(v)
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"mode is full, valid or same, not {mode!r}")
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"method is auto, direct or fft, not {method!r}")
    if a.ndim != v.ndim:
        raise RuntimeError("Arrays should have the same dimensions")
    if a.ndim == 1 and method != "fft":
        return _fallback.call("convolve", np.convolve, (a, v, mode), {})
    from scipy import signal

    return _fallback.call("convolve", signal.convolve, (a, v, mode, method), {})


def is_supported_dtype(dtype):
    return np.dtype(dtype).kind in "biufc" and np.dtype(dtype).itemsize <= 16 and np.dtype(dtype).char not in "gG"


def add_methods():
    """Hints are taken, and nothing comes of them: Heddle finds halos by itself."""
    hnp.ndarray.stencil_hint = lambda self, low_offsets, high_offsets: None
    hnp.ndarray.offload_to = lambda self, target: None
    hnp.ndarray.flip = lambda self, axis=None: hnp.flip(self, axis)
    hnp.ndarray.unique = lambda self: hnp.unique(self)
