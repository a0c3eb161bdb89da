"""Heddle: JAX functions, fused and distributed, on the devices you have.

>>> import heddle, numpy as np
>>> @heddle.jit
... def scaled(x, by):
...     return x * by + 1
>>> np.asarray(scaled(np.arange(3.0, dtype=np.float32), 2.0))
array([1., 3., 5.], dtype=float32)

``heddle.jit`` takes a mesh and the layouts of a few values, and says what it makes of a program;
``heddle.save`` and ``heddle.restore`` keep values on the disk, for any other mesh.
"""

from __future__ import annotations

from typing import Any

from heddle._core import Array, to_device as array, version as _version
from heddle.errors import Error, InternalError

__version__: str = _version()
__all__ = ["Array", "Error", "InternalError", "__version__", "array", "explain", "jit", "profile", "restore",
           "save", "schedule"]  # fmt: skip


# These need JAX, which takes longer to import than all of Heddle, or all of heddle.numpy.
def __getattr__(name: str) -> Any:
    if name == "jit":
        from heddle.jitted import jit

        return jit
    if name in ("save", "restore"):
        from heddle import checkpoint

        return getattr(checkpoint, name)
    if name == "schedule":
        from heddle.schedules import schedule

        return schedule
    if name in ("explain", "profile"):  # of windows of array calls
        import heddle.numpy

        return getattr(heddle.numpy, name)
    raise AttributeError(f"module 'heddle' has no attribute {name!r}")
