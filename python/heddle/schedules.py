"""Schedules: steps for computation and communication, as text or written call by call."""

from __future__ import annotations

import os
from typing import Any

from heddle import _core
from heddle.errors import Error


class Schedule:
    """Steps in their order; each call adds one and gives the schedule back.

    >>> print(schedule().split("all_reduce.0", names=("rs", "ag")).reorder("*", under="ag"))
    rs, ag = split all_reduce.0
    reorder * under ag
    """

    def __init__(self, text: str = "") -> None:
        self.text = _core.schedule_text(text)

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.text == other.text

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes it, for ``heddle run --schedule``."""
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.text)

    def _add(self, words: str, names: tuple[str, ...]) -> Schedule:
        line = f"{', '.join(names)} = {words}" if names else words
        self.text = _core.schedule_text(self.text + line + "\n")
        return self

    def split(
        self,
        value: str,
        *,
        along: int | None = None,
        to_one: bool = False,
        names: tuple[str, ...] = (),
    ) -> Schedule:
        """An all_reduce becomes a reduce_scatter and an all_gather, or a reduce and a broadcast."""
        dim = "" if along is None else f" along {along}"
        return self._add(f"split {value}{' to one' if to_one else ''}{dim}", names)

    def reorder(
        self, *values: str, under: str = "", past: str = "", names: tuple[str, ...] = ()
    ) -> Schedule:
        """Ops move under an all_gather, or one of them past a reduce_scatter."""
        where = f" under {under}" * bool(under) + f" past {past}" * bool(past)
        return self._add(f"reorder {' '.join(values)}{where}", names)

    def as_slice(self, *values: str) -> Schedule:
        """Arguments and results lie in slices."""
        return self._add(f"as_slice {' '.join(values)}", ())

    def dead(self, *values: str) -> Schedule:
        """What nobody needs goes."""
        return self._add(f"dead {' '.join(values)}", ())

    def fuse(
        self,
        *values: str,
        chunks: int | None = None,
        by: str = "",
        through: str = "",
        lanes: int | None = None,
        names: tuple[str, ...] = (),
    ) -> Schedule:
        """Collectives of one kind become one; or what is before, between and behind two goes into
        the collective."""
        how = ("" if chunks is None else f" in {chunks}") + f" by {by}" * bool(by)
        how += f" through {through}" * bool(through) + ("" if lanes is None else f" lanes {lanes}")
        return self._add(f"fuse {' '.join(values)}{how}", names)

    def overlap(
        self,
        first: str,
        last: str,
        chunks: int,
        *,
        along: int | None = None,
        names: tuple[str, ...] = (),
    ) -> Schedule:
        """A line of ops is done in chunks, so that collectives travel beside work."""
        dim = "" if along is None else f" along {along}"
        return self._add(f"overlap {first} {last} in {chunks}{dim}", names)


def schedule(text: str | os.PathLike[str] = "") -> Schedule:
    """A schedule from its text, from a file of it, or an empty one to add steps to."""
    return Schedule(_text_of(text))


def _text_of(text: str | os.PathLike[str]) -> str:
    is_file = isinstance(text, os.PathLike) or (
        isinstance(text, str) and " " not in text.strip() and bool(text.strip())
    )
    if not is_file:
        return str(text)
    try:
        with open(text, encoding="utf-8") as file:
            return file.read()
    except OSError as trouble:
        raise Error(f"schedule: {trouble}") from None


def schedule_words(given: Any) -> str:
    """What a target takes: the text, or auto."""
    if given is None or given == "auto":
        return given or ""
    if isinstance(given, Schedule):
        return given.text
    if isinstance(given, (str, os.PathLike)):
        return schedule(given).text
    raise Error(f"schedule={given!r}: it is a heddle.schedule, its text or file, or auto")
