# mypy: ignore-errors
"""What the extension module has for recorded arrays. Its names are nobody else's, and have no stubs."""

from heddle._core import _add_quick_method as add_quick_method
from heddle._core import _adopt as adopt
from heddle._core import _call_aligned as call_aligned
from heddle._core import _ndarray as ndarray
from heddle._core import _quick_call as quick_call
from heddle._core import _QuickFunction as QuickFunction
from heddle._core import _QuickMaker as QuickMaker
from heddle._core import _recorded as recorded
from heddle._core import _Ufunc as UfuncCall
from heddle._core import _wrap_numpy as wrap_numpy
from heddle._core import _wrap_shared as wrap_shared

# People know it by this name.
ndarray.__name__ = ndarray.__qualname__ = "ndarray"
ndarray.__module__ = "heddle.numpy"

__all__ = ["QuickFunction", "QuickMaker", "UfuncCall", "add_quick_method", "adopt", "call_aligned", "ndarray", "quick_call",
           "recorded", "wrap_numpy", "wrap_shared"]  # fmt: skip
