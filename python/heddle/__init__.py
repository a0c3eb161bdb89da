"""Heddle: a compiler and runtime for tensor programs, from one device to a mesh of them."""

from heddle._core import version as _version

__version__ = _version()
__all__ = ["__version__"]
