# mypy: ignore-errors
"""What is to happen where a float is no number: NumPy's settings. Calls that may have to raise are NumPy's, at once."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from heddle.numpy._core import recorded

_ALL = 1 << 62
_usual: int | None = None  # calls on so many elements were at once before


def _follow() -> None:
    """Nothing is recorded while an error is to be raised, or somebody to be called: a window would say it too late."""
    global _usual
    tells = any(how in ("raise", "call", "log", "print") for how in np.geterr().values())
    if tells and _usual is None:
        recorded.flush()
        _usual = recorded.at_once()
        recorded.set_at_once(_ALL)
    elif not tells and _usual is not None:
        recorded.set_at_once(_usual)
        _usual = None


class errstate(np.errstate):
    __doc__ = np.errstate.__doc__

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._how = how

    def __enter__(self) -> None:
        super().__enter__()
        _follow()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        _follow()

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with errstate(**self._how):
                return function(*args, **kwargs)

        return inside


@functools.wraps(np.seterr)
def seterr(*args: Any, **kwargs: Any) -> Any:
    before = np.seterr(*args, **kwargs)
    _follow()
    return before
