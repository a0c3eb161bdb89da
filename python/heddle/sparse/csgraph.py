# mypy: ignore-errors
"""SciPy's algorithms on graphs, for matrices of ours."""

from __future__ import annotations

import scipy.sparse.csgraph as _scipy

from heddle.sparse import _bridge

__getattr__ = _bridge.rest_of(_scipy, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_scipy)})
