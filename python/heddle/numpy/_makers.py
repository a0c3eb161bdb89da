# mypy: ignore-errors
"""Objects of NumPy's that make arrays: what is indexed for that (r_, c_, mgrid, ogrid), and vectorize."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy import _fallback
from heddle.numpy._core import ndarray


class Grid:
    """One of r_, c_, mgrid, ogrid, whose arrays are ours."""

    def __init__(self, theirs: Any) -> None:
        self._theirs, self.__doc__ = theirs, theirs.__doc__

    def __getitem__(self, at: Any) -> Any:
        given: list[ndarray] = []
        return _fallback.raised(self._theirs[_fallback.lowered(at, given)], given)

    def __len__(self) -> int:
        return 0


class vectorize(np.vectorize):
    """NumPy's: the function gets elements, or arrays, of NumPy's."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _fallback.call("vectorize", super().__call__, args, kwargs)


NAMES = frozenset(("r_", "c_", "mgrid", "ogrid", "vectorize"))


def answer_for(name: str, theirs: Any) -> Any:
    """What heddle.numpy has by one of these names."""
    return vectorize if name == "vectorize" else Grid(theirs)
