# mypy: ignore-errors
"""Operations on recorded arrays that a library brings.

An operation is a builder: a function that gets a builder ``b`` and the values of its operands, and writes ops. What it
writes lies in the same window as the calls before and behind it, of heddle.numpy, of heddle.sparse and of other
libraries, and fuses with them.

    from heddle.library import operation

    @operation("waves.laplacian")
    def laplacian(b, u, *, order):        # operands are positional, parameters have names
        ...
        return value                      # or a list of values

    laplacian(u, order=2)                 # recorded

A function that has to see values is opaque: the window ends before it, and the next one begins behind it.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from heddle.numpy import _fallback
from heddle.numpy._core import adopt, ndarray, recorded


# Builders by the names of their operations.
_builders: dict[str, Callable[..., Any]] = {}


def _operands(name: str, given: tuple[Any, ...]) -> list[ndarray]:
    """Arrays, and numbers in the type that NumPy gives them beside the arrays."""
    arrays = [value if np.isscalar(value) else adopt(value) for value in given]
    for value in arrays:
        if not np.isscalar(value) and type(value) is not ndarray:
            raise TypeError(f"{name} takes arrays and numbers, not {type(value).__name__}")
    types = [value.dtype for value in arrays if type(value) is ndarray]
    if not types:
        raise TypeError(f"{name} takes at least one array")
    made = []
    for value in arrays:
        if np.isscalar(value):
            value = adopt(np.asarray(value, np.result_type(*types, value)))
        if value.size == 0:
            raise ValueError(f"{name} takes no empty arrays")
        made.append(value if value._can_show() else value.copy())
    return made


def operation(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a builder under a name, "library.operation", and gives the function that records it."""
    if not isinstance(name, str):
        raise TypeError(f"an operation needs a name: @operation('library.name'), not {name!r}")
    if name.count(".") < 1 or not all(name.split(".")):
        raise ValueError(f"an operation's name begins with its library's, as in 'waves.energy': {name!r}")

    def registered(builder: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(builder):
            raise TypeError("a builder is a function")
        recorded.register(name)
        _builders[name] = builder

        @functools.wraps(builder)
        def call(*operands: Any, **parameters: Any) -> Any:
            return recorded.operation(name, _operands(name, operands), parameters)

        call.builder = builder
        return call

    return registered


def opaque(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's arrays for recorded ones: a window ends before it, and its results are recorded arrays.
    What it is given is read-only."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given: list[ndarray] = []
        args, kwargs = _read_only(_fallback.lowered(args, given)), _read_only(_fallback.lowered(kwargs, given))
        return _fallback.raised(function(*args, **kwargs), given, _fallback._arrays_in((args, kwargs)))

    return call


def _read_only(value: Any) -> Any:
    if type(value) is np.ndarray:
        shown = value.view()
        shown.flags.writeable = False
        return shown
    if type(value) in (list, tuple):
        return type(value)(map(_read_only, value))
    return {key: _read_only(one) for key, one in value.items()} if type(value) is dict else value


def operations() -> list[str]:
    """The names of all operations that are registered."""
    return recorded.operations()
