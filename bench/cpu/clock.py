"""Medians of calls, and the rate at which all cores together copy memory."""
import mmap
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

CORES = len(os.sched_getaffinity(0))
FEWEST_CALLS, MOST_CALLS = 5, 5000


def call_times(call, seconds):
    """Seconds of each of some calls, which together take about `seconds`."""
    times, start = [], time.perf_counter()
    while True:
        results = None  # freed outside of the measured time
        before = time.perf_counter()
        results = call()
        now = time.perf_counter()
        times.append(now - before)
        enough = len(times) >= FEWEST_CALLS and now - start > seconds
        if enough or len(times) == MOST_CALLS:
            return times


def huge_array(elements):
    """Of float32, in huge pages where the system has them: a copy is fastest there."""
    memory = mmap.mmap(-1, elements * 4)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    array = np.frombuffer(memory, np.float32)
    array[:] = 1
    return array


class CopyRate:
    """Bytes read and written per second by a copy that is larger than any cache."""

    def __init__(self):
        source, target = huge_array(1 << 27), huge_array(1 << 27)
        self._parts = list(zip(np.array_split(target, CORES), np.array_split(source, CORES)))
        self._bytes = source.nbytes + target.nbytes
        self._threads = ThreadPoolExecutor(CORES)
        self.rates = []

    def _copy(self):
        # NumPy lets other threads run while it copies.
        list(self._threads.map(lambda part: np.copyto(*part), self._parts))

    def measure(self, seconds=0.2):
        self.rates.append(self._bytes / float(np.median(call_times(self._copy, seconds))))

    def best(self):
        """The highest of the medians: other work on the machine only lowers it."""
        return max(self.rates)
