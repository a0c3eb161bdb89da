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
from heddle.sparse import _spread

# More bands are more ops in a window than they are worth.
_MOST_BANDS = 48
# Bytes of a band's element beside those of a gathered one, which has a column too.
_BAND_FILL = 1.5
# Rows of one group hold at most so many places for each element that is there, over all.
_GROUP_FILL = 1.25


def _ours(array: np.ndarray) -> ndarray:
    return wrap_numpy(np.ascontiguousarray(array), [])


def _in_parts(array: np.ndarray, blocks: int) -> ndarray:
    """On several devices it is made the result of a window, which stays in parts where they are."""
    return _ours(array) if blocks == 1 else _ours(array).copy()


class Nothing:
    """A matrix without elements."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def apply(self, x: ndarray, dtype: np.dtype) -> ndarray:
        return wrap_numpy(np.zeros((self.rows, *x.shape[1:]), dtype), [])


class Bands:
    """Diagonals, each as long as there are rows. Where all elements of one are equal, as in a stencil, it is that
    number; and `there` says where it is, if not everywhere. One that is as that on the other side of the main
    diagonal, as in a symmetric matrix, is not kept."""

    # How a band is given, as sparse.banded_product takes it.
    _VALUES, _HOLES, _NUMBER, _WHERE, _MIRRORED = range(5)

    def __init__(self, shape: tuple[int, int], offsets: list[int]) -> None:
        rows, columns = shape
        blocks = recorded.devices_for(rows)
        if rows != columns or max(map(abs, offsets)) > -(-rows // blocks):
            blocks = 1  # the halos of its slices are found as those of any others
        self.parameters = {"rows": [rows], "blocks": [blocks], "offsets": offsets, "kinds": []}
        self._is_square = rows == columns
        self.operands: list[ndarray] = []  # but for truth values in the type of the matrix
        self._added: dict[int, tuple[int, np.ndarray, np.ndarray | None]] = {}  # by their offsets

    def add(self, values: np.ndarray, first: int, last: int, there: np.ndarray | None) -> None:
        """Its elements lie in rows first to last; with `there` only some of them are any."""
        inside = values[first:last] if there is None else values[there]
        is_number = len(inside) > 0 and bool((inside == inside[0]).all()) and bool(np.isfinite(inside[0]))
        kind = (0 if there is None else 1) + (2 if is_number else 0)
        kinds = self.parameters["kinds"]
        offset = self.parameters["offsets"][len(kinds)]
        self._added[offset] = kind, values, there
        if self._is_mirror(offset):
            kinds.append(kind + self._MIRRORED)
            return
        kinds.append(kind)
        self.operands.append(wrap_numpy(np.array(inside[0]), []) if is_number else self._kept(values))
        if is_number and there is not None:
            self.operands.append(self._kept(there))

    def _is_mirror(self, offset: int) -> bool:
        """Of one that was added before. Where numbers are all that there is to read it does not count."""
        kind, values, there = self._added[offset]
        if -offset not in self._added or offset == 0 or kind == self._NUMBER:
            return False
        if self.parameters["blocks"] != [1] or not self._is_square:
            return False
        before, other, other_there = self._added[-offset]
        reach = abs(offset)
        near, far = slice(reach, None), slice(None, -reach)
        if offset > 0:
            near, far = far, near
        is_same = kind == before and np.array_equal(values[near], other[far])
        if kind == self._WHERE:
            is_same = is_same and np.array_equal(there[near], other_there[far])
        return is_same

    def is_holed(self) -> bool:
        """Whether the last one has holes that are known by their 0."""
        return self.parameters["kinds"][-1] % self._MIRRORED == self._HOLES

    def _kept(self, array: np.ndarray) -> ndarray:
        return _in_parts(array.copy(), self.parameters["blocks"][0])

    def apply(self, x: ndarray, dtype: np.dtype) -> ndarray:
        operands = [one if one.dtype == bool else one.astype(dtype, copy=False) for one in (x, *self.operands)]
        return recorded.operation("sparse.banded_product", operands, self.parameters)


class Rows:
    """Groups of rows, dealt out over devices in blocks where there are several (_spread.py)."""

    def __init__(self, rows: int, blocks: int) -> None:
        self.parameters = {"rows": [rows], "blocks": [blocks], "placed": [0], "local": [0], "shifts": []}
        self.sent: list[ndarray] = []
        self.places: list[ndarray] = []
        self.groups: list[tuple[ndarray, ndarray]] = []

    def add(self, columns: np.ndarray, values: np.ndarray) -> None:
        self.groups.append((self._kept(columns), self._kept(values)))

    def place(self, places: np.ndarray) -> None:
        self.places, self.parameters["placed"] = [self._kept(places)], [1]

    def send(self, shift: int, places: np.ndarray) -> None:
        self.sent.append(self._kept(places))
        self.parameters["shifts"].append(shift)

    def _kept(self, array: np.ndarray) -> ndarray:
        return _in_parts(array, self.parameters["blocks"][0])

    def apply(self, x: ndarray, dtype: np.dtype) -> ndarray:
        operands = [x.astype(dtype, copy=False), *self.sent, *self.places]
        for columns, values in self.groups:
            operands += [columns, values.astype(dtype, copy=False)]
        return recorded.operation("sparse.row_product", operands, self.parameters)


def of_diagonals(matrix: Any) -> Any:
    """Of SciPy's dia: every element of a diagonal counts, zeros too."""
    rows, columns = matrix.shape
    kept = [k for k, offset in enumerate(matrix.offsets) if -rows < offset < columns]
    if not kept or len(kept) > _MOST_BANDS:
        return of_rows(matrix.tocsr())
    bands = Bands(matrix.shape, [int(matrix.offsets[k]) for k in kept])
    width = min(columns, matrix.data.shape[1])
    for k, offset in zip(kept, bands.parameters["offsets"]):
        values = np.zeros(rows, matrix.dtype)
        # What was not given of a diagonal is no element: SciPy does not look there.
        first, last = max(0, -offset), min(rows, width - offset)
        if first < last:
            values[first:last] = matrix.data[k, first + offset : last + offset]
        bands.add(values, first, max(first, last), None)
        if last < min(rows, columns - offset):
            return of_rows(matrix.tocsr())
    return bands


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
    bands = Bands(matrix.shape, offsets.tolist())
    for band, offset in enumerate(bands.parameters["offsets"]):
        first, last = max(0, -offset), min(rows, matrix.shape[1] - offset)
        has_holes = counts[places[band]] < last - first
        there = None
        if has_holes:
            there = np.zeros(rows, bool)
            there[row_of[band_of[diagonal] == band]] = True
        bands.add(laid[band], first, last, there)
        # A hole in a band of values is known by its 0, so that a stored 0 would be one too.
        if bands.is_holed() and not laid[band][there].all():
            return None
    return bands


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
    blocks = recorded.devices_for(len(values))
    made = Rows(rows, blocks)
    if blocks > 1 and recorded.devices_for(matrix.shape[1]) > 1:
        halo = _spread.Halo(matrix.shape, blocks, row_of, columns)
        if halo.pays():
            made.parameters["local"] = [1]
            columns = halo.columns
            for shift, places in halo.sent:
                made.send(shift, places)
    index = np.int32 if max(matrix.shape) + len(columns) < 2**31 else np.int64
    within = np.arange(len(values)) - np.repeat(matrix.indptr[:-1], lengths)
    if rows * longest <= _GROUP_FILL * len(values):
        width_of, widths = np.zeros(rows, np.int64), np.array([longest])
    else:
        widths = _widths(longest)
        width_of = np.searchsorted(widths, np.maximum(lengths, 1))
    block_of = np.arange(rows) // -(-rows // blocks)
    places, before = np.zeros(blocks * -(-rows // blocks), index), 0
    for number, width in enumerate(widths):
        members = np.flatnonzero(width_of == number)
        if not len(members):
            continue
        # In every block as many rows as in the one that has most of them.
        counts = np.bincount(block_of[members], minlength=blocks)
        first, most = np.cumsum(counts) - counts, int(counts.max())
        inside = np.arange(len(members)) - first[block_of[members]]
        places[members] = before + inside
        row_at = np.zeros(rows, np.int64)
        row_at[members] = block_of[members] * most + inside
        mine = width_of[row_of] == number
        where = row_at[row_of[mine]], within[mine]
        group = np.full((blocks * most, width), -1, index), np.zeros((blocks * most, width), values.dtype)
        group[0][where], group[1][where] = columns[mine], values[mine]
        made.add(*group)
        before += most
    if len(made.groups) > 1:
        made.place(places)
    return made
