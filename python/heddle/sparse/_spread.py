# mypy: ignore-errors
"""Rows of a matrix on several devices: which elements of the operand each of them needs of the others."""

from __future__ import annotations

import numpy as np

# Of what all devices together would send for everybody to have the whole operand.
_MOST_OF_ALL = 0.5


class Halo:
    """Block d has the rows and the elements of the operand from d * each on. `sent` has, for every distance between
    blocks, the places in their own parts that blocks send so far on, each block as many as the one that sends most;
    `columns` counts in a block's own part and what comes behind it."""

    def __init__(self, shape: tuple[int, int], blocks: int, row_of: np.ndarray, columns: np.ndarray) -> None:
        rows, size = shape
        self._blocks, self._each = blocks, -(-size // blocks)
        to = (row_of // -(-rows // blocks)).astype(np.int64)
        source = columns // self._each
        self.sent: list[tuple[int, np.ndarray]] = []
        self.columns = (columns - source * self._each).astype(np.int64)
        behind, distance = self._each, (to - source) % blocks
        for shift in map(int, np.unique(distance[distance > 0])):
            mine = np.flatnonzero(distance == shift)
            # Each column once for each block, in order.
            needed, number = np.unique(to[mine] * size + columns[mine], return_inverse=True)
            receiver = needed // size
            counts = np.bincount(receiver, minlength=blocks)
            first, most = np.cumsum(counts) - counts, int(counts.max())
            inside = np.arange(len(needed)) - first[receiver]
            places = np.zeros((blocks, most), np.int32 if size < 2**31 else np.int64)
            places[(receiver - shift) % blocks, inside] = (needed % size) % self._each
            # Around where blocks at both ends need it; else those at one end have nobody to send to.
            ahead, back = (to[mine] > source[mine]).any(), (to[mine] < source[mine]).any()
            coded = shift + blocks if ahead and back else shift if ahead else shift - blocks
            self.sent.append((coded, places.reshape(-1)))
            self.columns[mine] = behind + inside[number]
            behind += most

    def pays(self) -> bool:
        """Whether it is less than the whole operand for everybody."""
        sent = sum(len(places) for _, places in self.sent) // self._blocks
        return sent <= _MOST_OF_ALL * (self._blocks - 1) * self._each
