# mypy: ignore-errors
"""Products of matrices and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy._core import adopt, ndarray, recorded
from heddle.numpy import _fallback


def _pair(x: Any, y: Any) -> tuple[Any, Any] | None:
    """Both as arrays of ours, where one of them is."""
    if type(x) is not ndarray and type(y) is not ndarray:
        return None
    x, y = adopt(x), adopt(y)
    return (x, y) if type(x) is ndarray and type(y) is ndarray else None


def _type(x: ndarray, y: ndarray) -> np.dtype[Any] | None:
    dtype = np.result_type(x.dtype, y.dtype)
    return dtype if dtype.kind in "iufc" else None


def _matmul(x: ndarray, y: ndarray) -> Any:
    dtype = _type(x, y)
    if dtype is None or x.ndim == 0 or y.ndim == 0 or x.size == 0 or y.size == 0:
        return None
    if x.shape[-1] != (y.shape[0] if y.ndim == 1 else y.shape[-2]):
        return None
    try:
        np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        return None
    return recorded.matmul(x, y, dtype)


def matmul(x1: Any, x2: Any, /, out: Any = None, **more: Any) -> Any:
    if out is None and not more:  # sparse matrices multiply themselves
        if hasattr(x1, "_as_scipy"):
            return x1 @ x2
        if hasattr(x2, "_as_scipy"):
            return x2.__rmatmul__(x1)
    pair = _pair(x1, x2) if out is None and not more else None
    result = _matmul(*pair) if pair else None
    if result is not None:
        return result
    if out is not None:
        more["out"] = out
    return _fallback.call("matmul", np.matmul, (x1, x2), more)


def matmul_into(x1: ndarray, x2: Any) -> Any:
    """x1 @= x2"""
    other = adopt(x2)
    if type(other) is ndarray and x1._writable and x1.ndim > 0 and other.ndim > 1:
        if np.can_cast(np.result_type(x1.dtype, other.dtype), x1.dtype, "same_kind"):
            result = matmul(x1, other)
            if result.shape == x1.shape:
                x1[...] = result
                return x1
    host = x1._host(True) if x1._writable else x1._host()
    host @= _fallback.lowered(x2, [])  # NumPy knows what is wrong
    return x1


def dot(a: Any, b: Any, out: Any = None) -> Any:
    pair = _pair(a, b) if out is None else None
    if pair:
        x, y = pair
        if x.ndim == 0 or y.ndim == 0:
            return x * y
        if x.ndim <= 2 and y.ndim <= 2:
            result = _matmul(x, y)
        else:
            result = _tensordot(x, y, [x.ndim - 1], [max(y.ndim - 2, 0)])
        if result is not None:
            return result
    return _fallback.call("dot", np.dot, (a, b), {} if out is None else {"out": out})


def _tensordot(x: ndarray, y: ndarray, from_x: list[int], from_y: list[int]) -> Any:
    dtype = _type(x, y)
    if dtype is None or x.size == 0 or y.size == 0:
        return None
    if [x.shape[d] for d in from_x] != [y.shape[d] for d in from_y]:
        return None
    return recorded.tensordot(x, y, from_x, from_y, dtype)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    pair = _pair(a, b)
    if pair:
        x, y = pair
        try:
            if isinstance(axes, int):
                from_x, from_y = list(range(x.ndim - axes, x.ndim)), list(range(axes))
            else:
                from_x, from_y = ([one] if isinstance(one, int) else list(one) for one in axes)
            from_x = [range(x.ndim)[d] for d in from_x]
            from_y = [range(y.ndim)[d] for d in from_y]
            result = _tensordot(x, y, from_x, from_y)
        except (IndexError, TypeError):
            result = None
        if result is not None:
            return result
    return _fallback.call("tensordot", np.tensordot, (a, b), {"axes": axes})


def inner(a: Any, b: Any) -> Any:
    pair = _pair(a, b)
    if pair and pair[0].ndim > 0 and pair[1].ndim > 0:
        result = _tensordot(*pair, [pair[0].ndim - 1], [pair[1].ndim - 1])
        if result is not None:
            return result
    return _fallback.call("inner", np.inner, (a, b), {})


def vdot(a: Any, b: Any) -> Any:
    pair = _pair(a, b)
    if pair and pair[0].dtype.kind in "iuf" and pair[0].size == pair[1].size:
        result = _matmul(pair[0].reshape(-1), pair[1].reshape(-1))
        if result is not None:
            return result
    return _fallback.call("vdot", np.vdot, (a, b), {})


def outer(a: Any, b: Any, out: Any = None) -> Any:
    pair = _pair(a, b) if out is None else None
    if pair and any(one._pending_or_large() for one in pair):
        x, y = pair[0].reshape(-1), pair[1].reshape(-1)
        return x[:, None] * y[None, :]
    return _fallback.call("outer", np.outer, (a, b), {} if out is None else {"out": out})


def _summed(array: ndarray, dims: list[int]) -> ndarray:
    return array.sum(axis=tuple(dims), dtype=array.dtype) if dims else array


def _einsum_pair(spec: str, x: ndarray, y: ndarray) -> Any:
    """Two operands without a repeated letter in one of them: a product over what the result lacks."""
    inputs, arrow, result = spec.replace(" ", "").partition("->")
    first, comma, second = inputs.partition(",")
    if not arrow or not comma or "." in spec or "," in second:
        return None
    if any(len(set(one)) != len(one) for one in (first, second, result)):
        return None
    if len(first) != x.ndim or len(second) != y.ndim or not set(result) <= set(first + second):
        return None
    sizes = dict(zip(first, x.shape))
    if any(sizes.get(letter, size) != size for letter, size in zip(second, y.shape)):
        return None
    both = set(first) & set(second)
    dtype = _type(x, y)  # of sums too: those of truth values are no numbers
    x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    # A letter that only one operand has, and the result lacks, is summed over there.
    x = _summed(x, [i for i, c in enumerate(first) if c not in second and c not in result])
    y = _summed(y, [i for i, c in enumerate(second) if c not in first and c not in result])
    first = "".join(c for c in first if c in second or c in result)
    second = "".join(c for c in second if c in first or c in result)
    batch = [c for c in first if c in both and c in result]
    summed = [c for c in first if c in both and c not in result]
    rows = [c for c in first if c not in both]
    columns = [c for c in second if c not in both]
    sizes.update(zip(second, y.shape))

    def arranged(array: ndarray, letters: str, order: list[list[str]]) -> ndarray:
        array = array.transpose([letters.index(c) for group in order for c in group])
        return array.reshape([int(np.prod([sizes[c] for c in g], dtype=np.int64)) for g in order])

    product = matmul(arranged(x, first, [batch, rows, summed]),
                     arranged(y, second, [batch, summed, columns]))  # fmt: skip
    letters = batch + rows + columns
    whole = product.reshape([sizes[c] for c in letters])
    return whole.transpose([letters.index(c) for c in result])


def _one(letters: str, x: ndarray, result: str) -> Any:
    """One operand without a repeated letter: sums and another order."""
    if len(set(letters)) != len(letters) or len(letters) != x.ndim or not set(result) <= set(letters):
        return None
    x = _summed(x, [i for i, c in enumerate(letters) if c not in result])
    left = [c for c in letters if c in result]
    return x.transpose([left.index(c) for c in result])


def _whole_spec(spec: str) -> tuple[list[str], str] | None:
    """The letters of each operand and of the result, which are those that stand once where none are given."""
    inputs, arrow, result = spec.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = "".join(terms)
        result = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    plain = all(c.isalpha() for c in "".join(terms) + result) and len(set(result)) == len(result)
    return (terms, result) if plain and set(result) <= set("".join(terms)) else None


def _einsum(spec: str, arrays: list[ndarray]) -> Any:
    """Pairs, in the order that NumPy finds cheapest."""
    whole = _whole_spec(spec)
    if whole is None or len(whole[0]) != len(arrays):
        return None
    terms, result = whole
    if any(len(set(term)) != len(term) or len(term) != one.ndim for term, one in zip(terms, arrays)):
        return None
    if len(arrays) == 1:
        return _one(terms[0], arrays[0], result)
    shapes = [np.broadcast_to(np.zeros(()), one.shape) for one in arrays]
    path = np.einsum_path(spec, *shapes, optimize="greedy" if len(arrays) > 2 else False)[0][1:]
    for step in path:
        while len(step) > 1:  # of more than two, one pair after the other
            at, to = sorted(step)[-2:]
            y, x = arrays.pop(to), arrays.pop(at)
            second, first = terms.pop(to), terms.pop(at)
            wanted = set(result).union(*terms)
            made = "".join(c for c in dict.fromkeys(first + second) if c in wanted) if terms else result
            product = _einsum_pair(f"{first},{second}->{made}", x, y)
            if product is None:
                return None
            arrays.append(product)
            terms.append(made)
            step = (*(one for one in step if one not in (at, to)), len(arrays) - 1)
    return arrays[0] if len(arrays) == 1 else None


def einsum(*operands: Any, **kwargs: Any) -> Any:
    if len(operands) > 1 and isinstance(operands[0], str) and kwargs.keys() <= {"optimize"}:
        arrays = [adopt(one) for one in operands[1:]]
        ours = all(type(one) is ndarray and one.size for one in arrays)
        if ours and any(one._pending_or_large() for one in arrays):
            dtype = np.result_type(*(one.dtype for one in arrays))
            try:
                arrays = [one.astype(dtype, copy=False) for one in arrays]
                result = _einsum(operands[0], arrays) if dtype.kind in "iufc" else None
            except ValueError:  # NumPy's own words
                result = None
            if result is not None:
                return result
    return _fallback.call("einsum", np.einsum, operands, kwargs)
