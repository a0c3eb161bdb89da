# mypy: ignore-errors
"""heddle.numpy by the name of cuPyNumeric, with what that has beside NumPy's names."""

import sys as _sys

import heddle.numpy as _arrays
from cupynumeric import _more
from cupynumeric import linalg as linalg, random as random

__version__ = "26.06.00"

for _name in ("fft", "ma"):
    _sys.modules[f"{__name__}.{_name}"] = globals()[_name] = getattr(_arrays, _name)
convolve = _more.convolve
is_supported_dtype = _more.is_supported_dtype
_more.add_methods()


def __getattr__(name):
    return getattr(_arrays, name)


def __dir__():
    return sorted({*globals(), *dir(_arrays)})
