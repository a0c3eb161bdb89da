# mypy: ignore-errors
"""The processors that Legate Sparse counts: Heddle answers on the cores of this machine."""

from legate.core import TaskTarget, get_legate_runtime, get_machine


class Runtime:
    legate_runtime = get_legate_runtime()
    num_procs = get_machine().count()
    num_gpus = get_machine().count(TaskTarget.GPU)


runtime = Runtime()
