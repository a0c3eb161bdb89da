# mypy: ignore-errors
"""The machine and the runtime, as programs see them: the cores of this one."""

import os

import heddle.numpy as _arrays
from legate.core import types as types
from legate.core._machine import Machine, ProcessorRange, TaskTarget

__all__ = ["LEGATE_MAX_DIM", "Machine", "ProcessorRange", "Runtime", "Scope", "TaskTarget", "get_legate_runtime",
           "get_machine", "track_provenance", "types"]  # fmt: skip

#: How many dimensions Legate's arrays have at most; Heddle's have as many as NumPy's.
LEGATE_MAX_DIM = 6
_FULL = Machine({TaskTarget.CPU: len(os.sched_getaffinity(0))})


class Runtime:
    """What is asked of Legate's: fences end a window of recorded calls."""

    node_count = 1
    node_id = 0
    machine = property(lambda self: get_machine())

    def issue_execution_fence(self, block=False):
        _arrays.flush()

    def issue_mapping_fence(self):
        _arrays.flush()

    def get_machine(self):
        return get_machine()

    def time_microseconds(self):
        from legate.timing import time

        return time("us")

    def finish(self):
        _arrays.flush()


_RUNTIME = Runtime()


def get_legate_runtime():
    return _RUNTIME


def get_machine():
    return _FULL


def track_provenance(*args, **kwargs):
    """Names of callers are kept without it."""
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


class Scope:
    """Everything runs on one machine, with or without it."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None
