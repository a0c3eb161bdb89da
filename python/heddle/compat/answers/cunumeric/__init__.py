# mypy: ignore-errors
"""The name that cuPyNumeric had before."""

import sys as _sys

import cupynumeric as _cupynumeric

for _name in ("random", "linalg", "fft"):
    _sys.modules[f"{__name__}.{_name}"] = globals()[_name] = getattr(_cupynumeric, _name)


def __getattr__(name):
    return getattr(_cupynumeric, name)


def __dir__():
    return dir(_cupynumeric)
