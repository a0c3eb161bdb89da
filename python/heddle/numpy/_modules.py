# mypy: ignore-errors
"""Modules of NumPy's that have no file here, as np.testing: its functions for arrays of ours, however they are imported."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any

from heddle.numpy import _fallback, _memory

_OURS = "heddle.numpy."
#: What such a module has beside NumPy's.
_OWN = {"heddle.numpy.lib.stride_tricks": {"as_strided": _memory.as_strided}}


def ours_of(module: types.ModuleType) -> types.ModuleType:
    """What stands for one of NumPy's modules; others stay what they are."""
    outer, _, rest = module.__name__.partition(".")
    return importlib.import_module(_OURS + rest) if outer == "numpy" and rest else module


class _Finder:
    """Finds NumPy's public modules under our name, behind what lies in files."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(_OURS) or "._" in name:
            return None
        try:
            theirs = importlib.util.find_spec("numpy." + name[len(_OURS) :])
        except ImportError:
            return None
        return theirs and importlib.machinery.ModuleSpec(name, _Finder, is_package=True)

    @staticmethod
    def create_module(spec: Any) -> types.ModuleType:
        made = _fallback.Module(spec.name, importlib.import_module("numpy." + spec.name[len(_OURS) :]))
        vars(made).update(_OWN.get(spec.name, {}))
        return made

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        pass


def add_finder() -> None:
    sys.meta_path.append(_Finder)
