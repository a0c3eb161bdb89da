# mypy: ignore-errors
"""Between SciPy's sparse matrices and ours: ours lie in recorded arrays, SciPy's in NumPy's."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

try:
    import scipy.sparse as scipy_sparse
    import scipy.sparse.linalg as scipy_linalg
except ImportError as trouble:
    raise ImportError("heddle.sparse needs SciPy: pip install heddle[sparse]") from trouble

from heddle.numpy import _fallback
from heddle.numpy._core import ndarray

#: Classes of ours by SciPy's, which _arrays fills.
ours: dict[type, type] = {}


def lowered(value: Any, given: list[ndarray]) -> Any:
    """What SciPy takes: its own matrices and NumPy's arrays, over the same memory."""
    if hasattr(value, "_as_scipy"):
        given.extend(value._arrays())
        return value._as_scipy()
    if type(value) in (list, tuple):
        return type(value)(lowered(one, given) for one in value)
    if type(value) is dict:
        return {key: lowered(one, given) for key, one in value.items()}
    if type(value) is np.ndarray and value.dtype == object:  # of blocks
        blocks = np.empty_like(value)
        for at in np.ndindex(value.shape):
            blocks[at] = lowered(value[at], given)
        return blocks
    return _fallback.lowered(value, given)


def raised(value: Any, given: list[ndarray], theirs: frozenset[int] = frozenset(),
           family: dict[type, type] = ours) -> Any:  # fmt: skip
    """What SciPy gives, as ours; memory of the caller's is copied."""
    if scipy_sparse.issparse(value):
        made = family.get(type(value))
        return value if made is None else made._of(value, given, theirs)
    if type(value) is tuple:
        return tuple(raised(one, given, theirs, family) for one in value)
    if type(value) is list:
        return [raised(one, given, theirs, family) for one in value]
    if type(value) is np.ndarray:
        return _fallback.raised(value, given, theirs)
    return value


def arrays_in(value: Any) -> frozenset[int]:
    """The numbers of NumPy's arrays in arguments, those of SciPy's matrices included."""
    if scipy_sparse.issparse(value):
        value = [part for part in vars(value).values()]
    if type(value) is np.ndarray:
        return frozenset((id(value),))
    if type(value) is dict:
        value = list(value.values())
    if type(value) in (list, tuple):
        return frozenset().union(*map(arrays_in, value))
    return frozenset()


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """SciPy's function, at once. Its matrices are of the first argument's family of classes."""
    given: list[ndarray] = []
    family = getattr(args[0], "_family", ours) if args else ours
    args, kwargs = lowered(args, given), lowered(kwargs, given)
    return raised(function(*args, **kwargs), given, arrays_in((args, kwargs)), family)


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's function for matrices of ours."""

    @functools.wraps(function)
    def ours_of(*args: Any, **kwargs: Any) -> Any:
        return call(function, *args, **kwargs)

    return ours_of


def class_for_ours(theirs: type) -> type:
    """A class that is SciPy's own, as lil_array; what it is made of may be ours."""

    class Lowering(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            given: list[ndarray] = []
            return theirs(*lowered(args, given), **lowered(kwargs, given))

        def __instancecheck__(cls, one: Any) -> bool:
            return isinstance(one, theirs)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, theirs)

    return Lowering(theirs.__name__, (), {"__doc__": theirs.__doc__, "__module__": "heddle.sparse"})


def rest_of(module: Any, names: dict[str, Any]) -> Callable[[str], Any]:
    """The __getattr__ of a module of ours for one of SciPy's: its functions for matrices of ours."""

    def rest(name: str) -> Any:
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            value = names[name] = wrapped(value)
        return value

    return rest
