# mypy: ignore-errors
"""What is not recorded is NumPy's, on memory: every function is there, and what it gives is ours again."""

from __future__ import annotations

import collections
import functools
import types
import warnings
from typing import Any, Callable

import numpy as np

from heddle.numpy._core import call_aligned, ndarray, quick_call, recorded, wrap_numpy


class FallbackWarning(UserWarning):
    """A function that is not recorded: the window ends there, and NumPy does it."""


#: How often each function was left to NumPy although its arrays were large or not there yet.
fallbacks: collections.Counter[str] = collections.Counter()

# What writes into its first argument.
_WRITING = {
    "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle",
    "ndarray.sort", "ndarray.partition", "ndarray.fill", "ndarray.put", "ndarray.itemset",
    "ndarray.setfield", "ndarray.byteswap", "at",
}  # fmt: skip


def _is_worth_a_word(array: ndarray) -> bool:
    return array._pending or (array.size > recorded.at_once() and not array._is_shared)


def note(name: str, arrays: list[ndarray]) -> None:
    """Counts a call that could not be recorded, and says so once."""
    if not any(map(_is_worth_a_word, arrays)) or name.startswith("testing."):  # which is there to read values
        return
    fallbacks[name] += 1
    if fallbacks[name] == 1:
        warnings.warn(
            f"{name} is not recorded: NumPy does it, on memory "
            f"(heddle.numpy.fallbacks[{name!r}] counts how often)",
            FallbackWarning,
            stacklevel=4,
        )


def lowered(value: Any, given: list[ndarray], for_writing: bool = False) -> Any:
    """Arrays of ours as NumPy's, also inside of lists, tuples and dicts."""
    if type(value) is ndarray:
        given.append(value)
        return value._host(for_writing)
    if type(value) in (list, tuple):
        return type(value)(lowered(one, given, for_writing) for one in value)
    if type(value) is dict:
        return {key: lowered(one, given) for key, one in value.items()}
    if isinstance(value, Wrapped):
        return value._wrapped
    if isinstance(value, FUNCTIONS):
        return value._function
    return value


def raised(result: Any, given: list[ndarray], theirs: frozenset[int] = frozenset()) -> Any:
    """NumPy's results as ours; an array that came in, and is the caller's own, is copied."""
    if isinstance(result, np.ndarray):
        for array in given:
            if array._host_is(result):
                return array
        return wrap_numpy(result.copy() if id(result) in theirs else result, given)
    if isinstance(result, (list, tuple)):
        parts = [raised(one, given, theirs) for one in result]
        if isinstance(result, list):
            return parts
        return tuple(parts) if type(result) is tuple else type(result)(*parts)
    return result


def call(name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls NumPy's function with NumPy's arrays."""
    given: list[ndarray] = []
    first = name.split(".", 1)[-1] in _WRITING or name in _WRITING
    # What is written to comes first: it may be copied for that.
    out = kwargs.get("out")
    if out is not None:
        if type(out) is ndarray and not out._writable:
            raise ValueError("output array is read-only")
        kwargs = {**kwargs, "out": lowered(out, given, True)}
    if first and args:
        args = (lowered(args[0], given, True), *args[1:])
    args = tuple(lowered(one, given) for one in args)
    kwargs = {k: v if k == "out" else lowered(v, given) for k, v in kwargs.items()}
    note(name, given)
    result = call_aligned(function, *args, **kwargs)
    if out is not None and result is out:  # NumPy's own, which the caller has
        return result
    return raised(result, given, _arrays_in((args, kwargs)))


def _arrays_in(value: Any) -> frozenset[int]:
    """The numbers of NumPy's arrays among arguments."""
    if isinstance(value, np.ndarray):
        return frozenset((id(value),))
    if type(value) is dict:
        value = list(value.values())
    if type(value) in (list, tuple):
        return frozenset().union(*map(_arrays_in, value))
    return frozenset()


class Function:
    """A function of NumPy's for arrays of ours."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name, self._function = name, function
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._name not in _WRITING:
            result = quick_call(self._function, args, kwargs)
            if result is not NotImplemented:
                return result
        return call(self._name, self._function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        value = wrapped(f"{self._name}.{name}", getattr(self._function, name))
        if isinstance(value, Function):  # is made once
            setattr(self, name, value)
        return value

    def __reduce__(self) -> Any:
        return wrapped, (self._name, self._function)

    def __repr__(self) -> str:
        return repr(self._function)


#: What stands for a function of NumPy's own.
FUNCTIONS: tuple[type, ...] = (Function,)


class Wrapped:
    """An object of NumPy's, as a random generator, whose methods give arrays of ours."""

    def __init__(self, name: str, wrapped: Any) -> None:
        self._name, self._wrapped = name, wrapped

    def __getattr__(self, name: str) -> Any:
        value = wrapped(name, getattr(self._wrapped, name))
        if isinstance(value, Function):  # is made once
            setattr(self, name, value)
        return value

    def __repr__(self) -> str:
        return repr(self._wrapped)


_KEPT = (type, types.ModuleType, str, bytes, int, float, complex, bool, np.generic, np.dtype)


def wrapped(name: str, value: Any) -> Any:
    """What a module of NumPy has, for arrays of ours."""
    if isinstance(value, _KEPT) or value is None:
        return value
    if callable(value) and not hasattr(value, "__origin__"):  # which types of annotations have
        return Function(name, value)
    if isinstance(value, np.ndarray):
        return wrap_numpy(value, [])
    return value


#: What the import of a module sets where it is not there; NumPy's would be another module's.
_OF_IMPORT = {"__path__", "__file__", "__cached__", "__spec__", "__loader__", "__package__"}


class Module(types.ModuleType):
    """A module of NumPy's, as linalg, for arrays of ours."""

    def __init__(self, name: str, module: types.ModuleType) -> None:
        super().__init__(name, module.__doc__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name in _OF_IMPORT:
            raise AttributeError(name)
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            from heddle.numpy import _modules

            value = _modules.ours_of(value)
        else:
            value = wrapped(f"{self.__name__.rpartition('.')[2]}.{name}", value)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *dir(self._module)})
