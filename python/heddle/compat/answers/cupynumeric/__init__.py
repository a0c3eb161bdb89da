# mypy: ignore-errors
"""heddle.numpy by the name of cuPyNumeric."""

import sys as _sys

import heddle.numpy as _arrays

__version__ = "26.06.00"

for _name in ("random", "linalg", "fft"):
    _sys.modules[f"{__name__}.{_name}"] = globals()[_name] = getattr(_arrays, _name)


def is_supported(function):
    """Whether it is there at all; what is not recorded is NumPy's."""
    return callable(function)


def __getattr__(name):
    return getattr(_arrays, name)


def __dir__():
    return sorted({*globals(), *dir(_arrays)})
