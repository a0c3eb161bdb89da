# mypy: ignore-errors
"""What programs ask cuPyNumeric's runtime: how many processors there are."""

from legate.core import TaskTarget, get_legate_runtime, get_machine


class Runtime:
    legate_runtime = get_legate_runtime()
    num_procs = property(lambda self: get_machine().count())
    num_gpus = property(lambda self: get_machine().count(TaskTarget.GPU))


runtime = Runtime()
