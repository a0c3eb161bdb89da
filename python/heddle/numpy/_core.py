# mypy: ignore-errors
"""What the extension module has for recorded arrays. Its names are nobody else's, and have no stubs."""

from heddle._core import _adopt as adopt
from heddle._core import _ndarray as ndarray
from heddle._core import _recorded as recorded
from heddle._core import _wrap_numpy as wrap_numpy

# People know it by this name.
ndarray.__name__ = ndarray.__qualname__ = "ndarray"
ndarray.__module__ = "heddle.numpy"

__all__ = ["adopt", "ndarray", "recorded", "wrap_numpy"]
