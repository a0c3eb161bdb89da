# mypy: ignore-errors
"""Time after all that was called before has run."""

import time as _time

import heddle.numpy as _arrays


def time(units="us"):
    """Microseconds, or nanoseconds, as a whole number."""
    if units not in ("us", "ns"):
        raise ValueError(f"units are 'us' or 'ns', not {units!r}")
    _arrays.flush()
    now = _time.perf_counter_ns()
    return now if units == "ns" else now // 1000
