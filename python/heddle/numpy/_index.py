# mypy: ignore-errors
"""Indices by arrays: recorded where their values do not matter for the shape, else NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy._core import adopt, ndarray, recorded
from heddle.numpy import _fallback

_PLAIN = (slice, type(None), type(Ellipsis))


class _Places:
    """An index by arrays: a view of what it goes over, and places along some dimensions of that."""

    def __init__(self, view: ndarray, dims: list[int], arrays: list[Any], together: bool) -> None:
        self.view, self.dims, self.arrays, self.together = view, dims, arrays, together


def _host_index(one: Any) -> Any:
    """One part of an index as NumPy's array of whole numbers or truth values, else None."""
    if isinstance(one, ndarray):
        one = one._host()
    elif isinstance(one, (list, tuple)):
        one = np.asarray(_fallback.lowered(one, []))
        if one.size == 0 and one.dtype == float:  # as in x[[]]
            one = one.astype(np.intp)
    elif not isinstance(one, (np.ndarray, int, np.integer, bool, np.bool)):
        return None
    one = np.asarray(one)
    return one if one.dtype.kind in "iub" else None


def _tokens(at: Any) -> list[Any] | None:
    """Parts as slices, None, Ellipsis and NumPy's arrays of places; none where that does not go."""
    tokens: list[Any] = []
    for one in at if isinstance(at, tuple) else (at,):
        if isinstance(one, _PLAIN):
            tokens.append(one)
            continue
        host = _host_index(one)
        if host is None or (host.dtype == bool and host.ndim == 0):
            return None
        tokens.append(host)
    return tokens


def _without_masks(tokens: list[Any], shape: tuple[int, ...]) -> list[Any] | None:
    """Masks as the places where they hold."""
    d, result = 0, []
    rest = len(shape) - sum(one.ndim if isinstance(one, np.ndarray) and one.dtype == bool else 1
                            for one in tokens if one is not None and one is not Ellipsis)  # fmt: skip
    for one in tokens:
        if isinstance(one, np.ndarray) and one.dtype == bool:
            if one.shape != shape[d : d + one.ndim]:
                return None
            result += one.nonzero()
            d += one.ndim
            continue
        result.append(one)
        d += 0 if one is None else max(rest, 0) if one is Ellipsis else 1
    return result


def _places(array: ndarray, at: Any) -> _Places | None:
    """None where NumPy has to answer, with an error maybe."""
    tokens = _tokens(at)
    tokens = None if tokens is None else _without_masks(tokens, array.shape)
    if tokens is None or sum(one is Ellipsis for one in tokens) > 1:
        return None
    given = sum(one is not None and one is not Ellipsis for one in tokens)
    if given > array.ndim:
        return None
    basic, dims, arrays, d, after = [], [], [], 0, []
    for number, one in enumerate(tokens):
        if one is Ellipsis:
            basic += [slice(None)] * (array.ndim - given)
            d += array.ndim - given
            continue
        if isinstance(one, np.ndarray):
            dims.append(d)
            arrays.append(one)
            after.append(number)
            one = slice(None)
        basic.append(one)
        d += 1
    view = array[tuple(basic)]
    for one, dim in zip(arrays, dims):
        size = view.shape[dim]
        if one.size and not (-size <= one.min() and one.max() < size):
            return None
    try:
        np.broadcast_shapes(*(one.shape for one in arrays))
    except ValueError:
        return None
    together = after == list(range(after[0], after[0] + len(after)))
    return _Places(view, dims, arrays, together)


def _front(places: _Places) -> tuple[ndarray, Any] | None:
    """The dimensions that places go along as one, in front of the others, and the places in it."""
    view, dims = places.view, places.dims
    rest = [d for d in range(view.ndim) if d not in dims]
    sizes = [view.shape[d] for d in dims]
    try:
        arrays = np.broadcast_arrays(*places.arrays)
        wrapped = [np.where(one < 0, one + size, one) for one, size in zip(arrays, sizes)]
        linear = np.asarray(np.ravel_multi_index(wrapped, sizes), np.int64)
    except ValueError:
        return None
    moved = view._transposed(dims + rest)
    whole = moved._reshaped((int(np.prod(sizes)), *(view.shape[d] for d in rest)))
    return None if whole is None else (whole, linear)


def get(array: ndarray, at: Any) -> Any:
    """array[at], where `at` is not made of numbers and slices alone."""
    if array._pending_or_large() and not _is_mask(at):
        result = _taken(array, at)
        if result is not None:
            return result
    return _fallback.call("ndarray.__getitem__", np.ndarray.__getitem__, (array, _as_index(at)), {})


def _is_mask(at: Any) -> bool:
    """Which elements there are is known only when NumPy has looked at it."""
    return any(getattr(one, "dtype", None) == bool for one in (at if isinstance(at, tuple) else (at,)))


def _as_index(at: Any) -> Any:
    """An empty list is one of places, as NumPy takes it."""
    return [] if type(at) is list and not at else at


def _taken(array: ndarray, at: Any) -> Any:
    places = _places(array, at)
    if places is None or any(one.size == 0 for one in places.arrays) or places.view.size == 0:
        return None
    counted = np.broadcast_shapes(*(one.shape for one in places.arrays))
    rest = [size for d, size in enumerate(places.view.shape) if d not in places.dims]
    if int(np.prod(counted) * np.prod(rest)) <= recorded.at_once() and not array._pending:
        return None
    front = _front(places)
    if front is None:
        return None
    result = recorded.take(front[0], adopt(front[1]), 0)
    if result is None or not places.together or places.dims[0] == 0:
        return result
    # The places' own dimensions go where the first of them stood.
    rank, before = len(counted), places.dims[0]
    order = [rank + d for d in range(before)] + list(range(rank)) + list(range(rank + before, result.ndim))
    return result._transposed(order)


def put(array: ndarray, at: Any, value: Any) -> None:
    """array[at] = value, likewise."""
    if type(at) is np.ndarray and at.dtype == bool:
        at = adopt(at)
    if type(at) is ndarray and at.dtype == bool and recorded.put_where(array, at, value):
        return
    if type(at) is tuple and _put_along(array, at, value):
        return
    if array._pending and not _is_mask(at) and _scattered(array, at, value):
        return
    given = [array]
    value = _fallback.lowered(value, given)
    at = _fallback.lowered(_as_index(at), given)
    if array._pending or any(one._pending for one in given):
        _fallback.note("ndarray.__setitem__", given)
    array._host(True)[at] = value


def put_chosen(array: ndarray, mask: Any, values: ndarray) -> bool:
    """What copyto does where a mask over all of the array holds; not where NumPy does it as well, or has to complain."""
    from heddle.numpy import _shapes

    mask = adopt(mask)
    if type(mask) is not ndarray or mask.dtype != bool or not array._writable:
        return False
    if not any(one._pending_or_large() for one in (array, mask, values)):
        return False
    try:
        if np.broadcast_shapes(array.shape, mask.shape, values.shape) != array.shape:
            return False
    except ValueError:
        return False
    array[...] = _shapes.where(mask, values.astype(array.dtype, copy=False), array)
    return True


def _put_along(array: ndarray, at: tuple[Any, ...], value: Any) -> bool:
    """array[:, mask] = value: whole dimensions beside one mask, with the same value wherever it holds."""
    masks = [one for one in at if isinstance(one, (np.ndarray, ndarray)) and one.dtype == bool and one.ndim > 0]
    whole = [one for one in at if one is Ellipsis or (type(one) is slice and one == slice(None))]
    if len(masks) != 1 or len(whole) + 1 != len(at) or sum(one is Ellipsis for one in at) > 1:
        return False
    mask = adopt(masks[0])
    open_dims = array.ndim - mask.ndim - sum(one is not Ellipsis for one in whole)
    if type(mask) is not ndarray or open_dims < 0:
        return False
    number = next(n for n, one in enumerate(at) if one is masks[0])
    before = sum(open_dims if one is Ellipsis else 1 for one in at[:number])
    moved = [*range(before, before + mask.ndim), *range(before), *range(before + mask.ndim, array.ndim)]
    value = adopt(value) if isinstance(value, (list, tuple, np.ndarray)) else value
    if type(value) is ndarray and value.ndim > array.ndim - mask.ndim - before:
        # Its own dimension for what is chosen, which has to be 1, stands behind those before the mask.
        rank = array.ndim - mask.ndim + 1
        if value.ndim > rank:
            return False
        shape = (1,) * (rank - value.ndim) + value.shape
        if shape[before] != 1:
            return False
        value = value.reshape((*shape[:before], *shape[before + 1 :]))
    if isinstance(value, (list, tuple)):
        return False
    return recorded.put_where(array._transposed(moved), mask, value)


def _scattered(array: ndarray, at: Any, value: Any) -> bool:
    places = _places(array, at)
    if places is None or places.view.size == 0 or any(one.size == 0 for one in places.arrays):
        return False
    front = _front(places)
    if front is None or not front[0]._shares(array):
        return False
    whole, linear = front
    rest = whole.shape[1:]
    if not places.together and len(places.dims) > 1:
        shape = (*linear.shape, *rest)
        order = None
    else:
        before = places.dims[0]
        shape = (*rest[:before], *linear.shape, *rest[before:])
        order = [*range(before, before + linear.ndim), *range(before), *range(before + linear.ndim, len(shape))]
    try:
        value = adopt(value)
        if type(value) is not ndarray or (value.dtype.kind == "c" and array.dtype.kind != "c"):
            return False
        value = value._broadcast_to(shape)
    except ValueError:
        return False
    if value is None:
        return False
    if order is not None:
        value = value._transposed(order)
    flat = value._reshaped((linear.size, *rest))
    if flat is None:
        flat = value.copy()._reshaped((linear.size, *rest))
    return flat is not None and recorded.put_at(whole, adopt(linear.reshape(-1)), flat)
