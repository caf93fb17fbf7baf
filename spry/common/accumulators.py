"""Accumulators: values that every subtask adds to and that the job's result shows merged.

>>> counter = IntCounter()
>>> counter.add(2)
>>> counter.add(3)
>>> counter.get_local_value()
5
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

__all__ = [
    "Accumulator",
    "AverageAccumulator",
    "DoubleCounter",
    "DoubleMaximum",
    "DoubleMinimum",
    "Histogram",
    "IntCounter",
    "IntMaximum",
    "IntMinimum",
    "ListAccumulator",
    "LongCounter",
    "LongMaximum",
    "LongMinimum",
    "combine_accumulators",
    "merge_accumulators",
]

V = TypeVar("V")
R = TypeVar("R")


class Accumulator(ABC, Generic[V, R]):
    """Adds up values in one subtask; the engine merges the subtasks' accumulators by name."""

    @abstractmethod
    def add(self, value: V) -> None:
        """Add one value."""

    @abstractmethod
    def get_local_value(self) -> R:
        """What has been added so far, here."""

    @abstractmethod
    def reset_local(self) -> None:
        """Forget everything."""

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Take in another accumulator of the same class."""


class _Sum(Accumulator[Any, Any]):
    _zero: Any = 0

    def __init__(self, value: Any = None) -> None:
        self.value = self._zero if value is None else value

    def add(self, value: Any) -> None:
        self.value += value

    def get_local_value(self) -> Any:
        return self.value

    def reset_local(self) -> None:
        self.value = self._zero

    def merge(self, other: Any) -> None:
        self.value += other.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class IntCounter(_Sum):
    """A sum of integers."""


class LongCounter(_Sum):
    """A sum of integers."""


class DoubleCounter(_Sum):
    """A sum of floating point numbers."""

    _zero = 0.0


class _Extreme(Accumulator[Any, Any]):
    """Keeps the smallest or largest value; None until the first one."""

    _largest: bool

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def add(self, value: Any) -> None:
        if self.value is None or (value > self.value if self._largest else value < self.value):
            self.value = value

    def get_local_value(self) -> Any:
        return self.value

    def reset_local(self) -> None:
        self.value = None

    def merge(self, other: Any) -> None:
        if other.value is not None:
            self.add(other.value)


class IntMaximum(_Extreme):
    """The largest integer added."""

    _largest = True


class LongMaximum(IntMaximum):
    """The largest integer added."""


class DoubleMaximum(IntMaximum):
    """The largest number added."""


class IntMinimum(_Extreme):
    """The smallest integer added."""

    _largest = False


class LongMinimum(IntMinimum):
    """The smallest integer added."""


class DoubleMinimum(IntMinimum):
    """The smallest number added."""


class AverageAccumulator(Accumulator[float, float]):
    """The mean of what was added; 0.0 when nothing was."""

    def __init__(self) -> None:
        self.total = 0.0
        self.count = 0

    def add(self, value: float) -> None:
        self.total += value
        self.count += 1

    def get_local_value(self) -> float:
        return self.total / self.count if self.count else 0.0

    def reset_local(self) -> None:
        self.total, self.count = 0.0, 0

    def merge(self, other: AverageAccumulator) -> None:
        self.total += other.total
        self.count += other.count


class Histogram(Accumulator[Any, dict[Any, int]]):
    """How often each value was added, by ascending value."""

    def __init__(self) -> None:
        self.counts: dict[Any, int] = {}

    def add(self, value: Any) -> None:
        self.counts[value] = self.counts.get(value, 0) + 1

    def get_local_value(self) -> dict[Any, int]:
        return dict(sorted(self.counts.items()))

    def reset_local(self) -> None:
        self.counts = {}

    def merge(self, other: Histogram) -> None:
        for value, count in other.counts.items():
            self.counts[value] = self.counts.get(value, 0) + count


class ListAccumulator(Accumulator[Any, list[Any]]):
    """Everything that was added. Mind its size: it travels to the driver."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def add(self, value: Any) -> None:
        self.values.append(value)

    def get_local_value(self) -> list[Any]:
        return self.values

    def reset_local(self) -> None:
        self.values = []

    def merge(self, other: ListAccumulator) -> None:
        self.values.extend(other.values)


def merge_accumulators(parts: list[dict[str, Accumulator[Any, Any]]]) -> dict[str, Any]:
    """The merged values of many subtasks' accumulators, by name."""
    return {name: accumulator.get_local_value() for name, accumulator in combine_accumulators(parts).items()}


def combine_accumulators(parts: list[dict[str, Accumulator[Any, Any]]]) -> dict[str, Accumulator[Any, Any]]:
    """One accumulator per name, merged of all that have the name. What is given stays as it is."""
    merged: dict[str, Accumulator[Any, Any]] = {}
    own: set[str] = set()
    for part in parts:
        for name, accumulator in part.items():
            known = merged.get(name)
            if known is None:
                merged[name] = accumulator
            elif type(known) is not type(accumulator):
                raise TypeError(
                    f"accumulator '{name}' is a {type(known).__name__} in one operator and a "
                    f"{type(accumulator).__name__} in another: use another name for one of them"
                )
            else:
                if name not in own:
                    known = merged[name] = copy.deepcopy(known)
                    own.add(name)
                known.merge(accumulator)
    return merged
