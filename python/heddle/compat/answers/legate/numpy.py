# mypy: ignore-errors
"""The first name of cuPyNumeric."""

import cupynumeric as _cupynumeric


def __getattr__(name):
    return getattr(_cupynumeric, name)
