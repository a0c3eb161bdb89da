# mypy: ignore-errors
"""Recorded calls as NumPy does them, for windows that run call by call."""

from __future__ import annotations

from typing import Any

import numpy as np


def dense(result: Any, order: list[int] | None, dtype: Any) -> Any:
    """A result as it lies in a store: its own memory, in that type, its dimensions in that order."""
    array = np.asarray(result, dtype)
    if order is not None:
        array = array.transpose(order)
    if array.base is not None or not array.flags.c_contiguous:
        array = array.copy("C")
    return array


def arange(size: int, start: Any, step: Any, dtype: Any) -> Any:
    return np.arange(size, dtype=dtype) * dtype.type(step) + dtype.type(start)


def reduce(name: str, array: Any, dims: tuple[int, ...], keep: bool, dtype: Any) -> Any:
    function = getattr(np, name)
    if name in ("sum", "prod"):
        return function(array, axis=dims, dtype=dtype, keepdims=keep)
    return function(array.astype(dtype, copy=False), axis=dims, keepdims=keep)


def product(kind: str, x: Any, y: Any, dtype: Any, axes: Any = None) -> Any:
    x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    return np.matmul(x, y) if kind == "matmul" else np.tensordot(x, y, axes)


def where(condition: Any, x: Any, y: Any, dtype: Any) -> Any:
    return np.where(np.asarray(condition, bool), np.asarray(x).astype(dtype, copy=False),
                    np.asarray(y).astype(dtype, copy=False))  # fmt: skip


def join(dim: int, dtype: Any, *parts: Any) -> Any:
    return np.concatenate(parts, axis=dim, dtype=dtype, casting="unsafe")


def part(array: Any, shape: tuple[int, ...]) -> Any:
    return array.reshape(shape)
