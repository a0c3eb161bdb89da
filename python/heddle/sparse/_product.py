# mypy: ignore-errors
"""Products with dense operands, recorded: a matrix is laid out anew for them, once, by what it looks like.

Few diagonals become bands, which read their operand in shifted slices, as a stencil does. All else
becomes rows in groups of about one length, filled up to it, whose columns are gathered. Either way each
row is a sum of its own, so that it fuses with what makes the operand and what uses the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.numpy._core import ndarray, recorded, wrap_numpy

# More bands are more ops in a window than they are worth.
_MOST_BANDS = 48
# Bytes of a band's element beside those of a gathered one, which has a column too.
_BAND_FILL = 1.5
# Rows of one group hold at most so many places for each element that is there, over all.
_GROUP_FILL = 1.25


def _ours(array: np.ndarray) -> ndarray:
    return wrap_numpy(np.ascontiguousarray(array), [])


class Nothing:
    """A matrix without elements."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def apply(self, x: ndarray, dtype: np.dtype) -> ndarray:
        return wrap_numpy(np.zeros((self.rows, *x.shape[1:]), dtype), [])


class Bands:
    def __init__(self, values: np.ndarray, offsets: list[int], holes: list[int]) -> None:
        # Each for itself: parts of one array would be copied out of it.
        self.bands = [_ours(band.copy()) for band in values]
        self.parameters = {"offsets": offsets, "holes": holes}

    def apply(self, x: ndarray, dtype: np.dtype) -> ndarray:
        operands = [x, *self.bands]
        operands = [one.astype(dtype, copy=False) for one in operands]
        return recorded.operation("sparse.banded_product", operands, self.parameters)


class Rows:
    def __init__(self, groups: list[tuple[np.ndarray, np.ndarray]], places: np.ndarray | None) -> None:
        self.groups = [(_ours(columns), _ours(values)) for columns, values in groups]
        self.places = None if places is None else _ours(places)

    def apply(self, x: ndarray, dtype: np.dtype) -> ndarray:
        operands = [x.astype(dtype, copy=False)]
        if self.places is not None:
            operands.append(self.places)
        for columns, values in self.groups:
            operands += [columns, values.astype(dtype, copy=False)]
        placed = {"placed": [int(self.places is not None)]}
        return recorded.operation("sparse.row_product", operands, placed)


def of_diagonals(matrix: Any) -> Any:
    """Of SciPy's dia: every element of a diagonal counts, zeros too."""
    rows, columns = matrix.shape
    kept = [k for k, offset in enumerate(matrix.offsets) if -rows < offset < columns]
    if not kept or len(kept) > _MOST_BANDS:
        return of_rows(matrix.tocsr())
    values = np.zeros((len(kept), rows), matrix.dtype)
    width = matrix.data.shape[1]
    for band, k in enumerate(kept):
        offset = int(matrix.offsets[k])
        first, last = max(0, -offset), min(rows, min(columns, width) - offset)
        if first < last:
            values[band, first:last] = matrix.data[k, first + offset : last + offset]
    return Bands(values, [int(matrix.offsets[k]) for k in kept], [0] * len(kept))


def of_rows(matrix: Any) -> Any:
    """Of SciPy's csr."""
    rows = matrix.shape[0]
    if matrix.nnz == 0:
        return Nothing(rows)
    lengths = np.diff(matrix.indptr)
    row_of = np.repeat(np.arange(rows, dtype=np.int32 if rows < 2**31 else np.int64), lengths)
    used = slice(0, int(matrix.indptr[-1]))
    columns, values = matrix.indices[used], matrix.data[used]
    if columns.min() < 0 or columns.max() >= matrix.shape[1] or lengths.min() < 0:
        raise ValueError("an index of the sparse matrix lies outside of its shape")
    bands = _bands(matrix, row_of, columns, values)
    return bands or _rows(matrix, lengths, row_of, columns, values)


def _bands(matrix: Any, row_of: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Bands | None:
    rows = matrix.shape[0]
    # The longest row has its elements on diagonals of their own: a first look that costs nothing.
    if np.diff(matrix.indptr).max() > _MOST_BANDS:
        return None
    diagonal = columns.astype(np.int64) - row_of + (rows - 1)
    counts = np.bincount(diagonal, minlength=rows + matrix.shape[1] - 1)
    places = np.flatnonzero(counts)
    if len(places) > _MOST_BANDS or len(places) * rows > _BAND_FILL * len(values):
        return None
    if not matrix.has_canonical_format:  # an element may be there twice
        return None
    band_of = np.zeros(len(counts), np.int32)
    band_of[places] = np.arange(len(places))
    laid = np.zeros((len(places), rows), values.dtype)
    laid[band_of[diagonal], row_of] = values
    offsets = places - (rows - 1)
    most = np.minimum(rows, matrix.shape[1] - offsets) - np.maximum(0, -offsets)
    holes = (counts[places] < most).astype(int)
    # A hole is known by its 0, so that a stored 0 would be one too.
    if holes.any() and not values.all():
        return None
    return Bands(laid, offsets.tolist(), holes.tolist())


def _widths(longest: int) -> np.ndarray:
    """1, 2, 3, 4, 6, 8, 12, …: rows are filled up by a third at most."""
    widths = [1]
    while widths[-1] < longest:
        last = widths[-1]
        widths.append(last + max(1, 1 << (last.bit_length() - 2)) if last > 1 else 2)
    return np.array(widths)


def _rows(matrix: Any, lengths: np.ndarray, row_of: np.ndarray, columns: np.ndarray,
          values: np.ndarray) -> Rows:  # fmt: skip
    rows, longest = len(lengths), int(lengths.max())
    index = np.int32 if max(matrix.shape) < 2**31 else np.int64
    within = np.arange(len(values)) - np.repeat(matrix.indptr[:-1], lengths)
    if rows * longest <= _GROUP_FILL * len(values):
        width_of, widths = np.zeros(rows, np.int64), np.array([longest])
    else:
        widths = _widths(longest)
        width_of = np.searchsorted(widths, np.maximum(lengths, 1))
    groups, places, before = [], np.empty(rows, index), 0
    for number, width in enumerate(widths):
        members = np.flatnonzero(width_of == number)
        if not len(members):
            continue
        places[members] = before + np.arange(len(members))
        mine = width_of[row_of] == number
        where = places[row_of[mine]] - before, within[mine]
        group = (np.full((len(members), width), -1, index), np.zeros((len(members), width), values.dtype))
        group[0][where], group[1][where] = columns[mine], values[mine]
        groups.append(group)
        before += len(members)
    return Rows(groups, places if len(groups) > 1 else None)
