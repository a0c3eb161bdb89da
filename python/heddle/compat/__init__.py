"""Programs for cuPyNumeric, Legate and Legate Sparse, answered by Heddle.

    python -m heddle.compat program.py --its --own options      # or: python -m heddle.compat -m pytest tests

or, at the top of a program, before its own imports:

    import heddle.compat
    heddle.compat.install()

``cupynumeric`` (``cunumeric``) is then ``heddle.numpy``, ``legate_sparse`` is ``heddle.sparse`` by Legate Sparse's
rules, and ``legate`` has what such programs ask it for: the time, fences, the machine, tables of benchmarks.
"""

from __future__ import annotations

import pathlib
import sys

_NAMES = ("cupynumeric", "cunumeric", "legate", "legate_sparse")


def path() -> str:
    """The folder with modules of these names: for PYTHONPATH."""
    return str(pathlib.Path(__file__).parent / "answers")


def install() -> None:
    """Lets imports of those modules find Heddle's. One that was imported before from elsewhere is an error."""
    for name in _NAMES:
        module = sys.modules.get(name)
        where = getattr(module, "__file__", None)
        if module is not None and where and not where.startswith(path()):
            raise ImportError(
                f"{name} was imported before from {where}: call heddle.compat.install() before"
            )
    if path() not in sys.path:
        sys.path.insert(0, path())
