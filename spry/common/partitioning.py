"""Partitionings: how records go from the subtasks of one operator to those of the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spry.common.keys import KeySelection

__all__ = [
    "Broadcast",
    "Custom",
    "Forward",
    "Global",
    "KeyGroups",
    "Partitioning",
    "Rebalance",
    "Rescale",
    "Shuffle",
    "rescale_targets",
]


@dataclass(frozen=True, slots=True, eq=False)
class Partitioning:
    """Base: where the records of an edge go."""

    @property
    def ship_strategy(self) -> str:
        """The name that execution plans show."""
        return type(self).__name__.upper()

    @property
    def pointwise(self) -> bool:
        """True if a subtask feeds only some of the next operator's subtasks."""
        return False

    @property
    def functions(self) -> tuple[Any, ...]:
        """The user's function objects in it, which the sending subtask opens and closes; None where there is none."""
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Forward(Partitioning):
    """To the subtask with the same index."""

    @property
    def pointwise(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Rescale(Partitioning):
    """Round robin over a local group of subtasks."""

    @property
    def pointwise(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Rebalance(Partitioning):
    """Round robin over all subtasks."""


@dataclass(frozen=True, slots=True, eq=False)
class Shuffle(Partitioning):
    """To a random subtask."""


@dataclass(frozen=True, slots=True, eq=False)
class Broadcast(Partitioning):
    """To every subtask."""


@dataclass(frozen=True, slots=True, eq=False)
class Global(Partitioning):
    """To the first subtask."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyGroups(Partitioning):
    """To the subtask that owns the record's key."""

    key: KeySelection

    @property
    def ship_strategy(self) -> str:
        return "HASH"

    @property
    def functions(self) -> tuple[Any, ...]:
        return (self.key.function,)


@dataclass(frozen=True, slots=True, eq=False)
class Custom(Partitioning):
    """To the subtask that the user's function names."""

    partition: Callable[[Any, int], int]
    key: KeySelection
    partitioner: Any = None
    """The user's Partitioner, None if a plain function was given."""

    @property
    def functions(self) -> tuple[Any, ...]:
        return (self.partitioner, self.key.function)


def rescale_targets(subtask: int, sources: int, targets: int) -> range:
    """The target subtasks that a source subtask feeds under rescale.

    >>> rescale_targets(1, 2, 4), rescale_targets(3, 4, 2)
    (range(2, 4), range(1, 2))
    """
    if targets >= sources:
        start = (subtask * targets + sources - 1) // sources
        end = ((subtask + 1) * targets + sources - 1) // sources
        return range(start, end)
    target = ((subtask + 1) * targets - 1) // sources
    return range(target, target + 1)
