# mypy: ignore-errors
"""Processors by kind. A machine can be narrowed, and entered, which changes nothing."""

import enum
from dataclasses import dataclass


class TaskTarget(enum.IntEnum):
    GPU = 1
    OMP = 2
    CPU = 3


@dataclass(frozen=True)
class ProcessorRange:
    low: int = 0
    high: int = 0
    per_node_count: int = 1

    def __len__(self):
        return self.high - self.low

    count = property(__len__)
    empty = property(lambda self: self.high <= self.low)

    def get_node_range(self):
        return 0, 1


class Machine:
    def __init__(self, counts):
        self._counts = dict(counts)

    def count(self, target=None):
        return self._counts.get(target, 0) if target is not None else sum(self._counts.values())

    def only(self, *targets):
        chosen = targets[0] if len(targets) == 1 and isinstance(targets[0], (tuple, list)) else targets
        return Machine({target: self.count(target) for target in chosen})

    def processor_range(self, target=None):
        return ProcessorRange(0, self.count(self.preferred_target if target is None else target))

    def get_processor_range(self, target=None):
        return self.processor_range(target)

    def get_node_range(self, target=None):
        return 0, 1

    @property
    def preferred_target(self):
        return next((one for one in TaskTarget if self.count(one) > 0), TaskTarget.CPU)

    preferred_kind = preferred_target

    @property
    def valid_targets(self):
        return tuple(one for one in TaskTarget if self.count(one) > 0)

    @property
    def empty(self):
        return self.count() == 0

    def __len__(self):
        return self.count(self.preferred_target)

    def __getitem__(self, at):
        if isinstance(at, TaskTarget):
            return self.only(at)
        size = len(range(*at.indices(len(self)))) if isinstance(at, slice) else 1
        return Machine({self.preferred_target: size})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __eq__(self, other):
        return isinstance(other, Machine) and self._counts == other._counts

    __hash__ = None

    def __repr__(self):
        kinds = ", ".join(f"{target.name}: {count}" for target, count in self._counts.items())
        return f"Machine({kinds})"
