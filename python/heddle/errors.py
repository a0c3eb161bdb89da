"""What can go wrong, as exceptions."""

from __future__ import annotations

import re

_PLACE = re.compile(r"^([^\s:][^:\n]*:\d+(?::\d+)?):? ")
_FROM = re.compile(r"from ([^\s:]+\.py:\d+)")


class Error(Exception):
    """A mistake in a program or in a call: says where, what came in and what was expected.

    ``place`` is where it stands in the program's text, ``line`` the line of Python that it came
    from; each is None where that is not known.

    >>> Error("step.mlir:3:5: [add] shapes differ").place
    'step.mlir:3:5'
    """

    def __init__(self, message: str, *, line: str | None = None) -> None:
        super().__init__(message)
        place = _PLACE.match(message)
        origin = _FROM.search(message)
        self.place: str | None = place.group(1) if place else None
        self.line: str | None = line or (origin.group(1) if origin else None)


class InternalError(RuntimeError):
    """A defect of Heddle itself, never of the program that it was given."""
