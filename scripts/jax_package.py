"""Which environment runs JAX's tests and bench/python, and where the package for its Python was built; what
scripts/jax_env.sh makes."""

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "build/jax-venv/bin/python"


def enter_environment():
    """Goes on in build/jax-venv, where there is one; the program starts anew there."""
    if PYTHON.exists() and Path(sys.prefix) != PYTHON.parents[1]:
        os.execv(PYTHON, [str(PYTHON), "-B", *sys.argv])


def folder(given=None):
    """Where `heddle` lies that this Python can import; nothing where it is not built."""
    for path in [given] if given else [ROOT / "build/jax-package/python", ROOT / "build/release/python"]:
        if any((path / f"heddle/_core{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
            return path
    return None
