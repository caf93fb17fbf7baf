"""Operator descriptions: what an operator does, as data.

The API creates them, the graphs carry them, the runtime turns each into a running operator
(``spry.runtime.operators``). They hold the user's functions and nothing that is alive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from spry.common.keys import KeySelection

__all__ = [
    "ChainingStrategy",
    "CollectOperator",
    "FilterOperator",
    "FlatMapOperator",
    "GlobalCommitterOperator",
    "GlobalSinkOperator",
    "MapOperator",
    "OperatorDescription",
    "PrintOperator",
    "ProcessOperator",
    "ProjectOperator",
    "ReduceOperator",
    "SinkFunctionOperator",
    "SinkOperator",
    "SourceFunctionOperator",
    "SourceOperator",
    "TimestampsAndWatermarksOperator",
    "WindowOperator",
]


class ChainingStrategy(Enum):
    """Whether an operator may be fused with its neighbours."""

    ALWAYS = "ALWAYS"
    """With the one before it and with those after it."""
    HEAD = "HEAD"
    """Only with those after it."""
    NEVER = "NEVER"
    """With none."""


@dataclass(frozen=True, eq=False)
class OperatorDescription:
    """Base of all descriptions. ``key`` is set when the operator works per key."""

    key: KeySelection | None = field(default=None, kw_only=True)

    @property
    def is_sink(self) -> bool:
        return False

    @property
    def is_source(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class MapOperator(OperatorDescription):
    """One record in, one out: a callable or a MapFunction."""

    function: Any


@dataclass(frozen=True, eq=False)
class FlatMapOperator(OperatorDescription):
    """One record in, any number out."""

    function: Any


@dataclass(frozen=True, eq=False)
class FilterOperator(OperatorDescription):
    """Keeps the records for which the function is true."""

    function: Any


@dataclass(frozen=True, eq=False)
class ProjectOperator(OperatorDescription):
    """Keeps some fields of a tuple or row, in the given order."""

    fields: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ProcessOperator(OperatorDescription):
    """A ProcessFunction, or a KeyedProcessFunction when ``key`` is set."""

    function: Any


@dataclass(frozen=True, eq=False)
class ReduceOperator(OperatorDescription):
    """A rolling reduce per key. In batch mode, one final result per key."""

    function: Callable[[Any, Any], Any] | Any


@dataclass(frozen=True, eq=False)
class TimestampsAndWatermarksOperator(OperatorDescription):
    """Assigns timestamps and generates watermarks."""

    strategy: Any


@dataclass(frozen=True, eq=False)
class SourceOperator(OperatorDescription):
    """A Source with its enumerator and readers."""

    source: Any
    strategy: Any = None

    @property
    def is_source(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class SourceFunctionOperator(OperatorDescription):
    """A SourceFunction: a loop of the user's that emits through a SourceContext."""

    function: Any

    @property
    def is_source(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class _SinkDescription(OperatorDescription):
    @property
    def is_sink(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class SinkFunctionOperator(_SinkDescription):
    """A SinkFunction: ``invoke`` per record."""

    function: Any


@dataclass(frozen=True, eq=False)
class SinkOperator(_SinkDescription):
    """A Sink: a writer per subtask and, if it has transactions, a committer."""

    sink: Any


@dataclass(frozen=True, eq=False)
class GlobalSinkOperator(SinkOperator):
    """A sink's writer, whose committables go on to the one operator that commits them."""


@dataclass(frozen=True, eq=False)
class GlobalCommitterOperator(_SinkDescription):
    """Commits what the writers of a sink give."""

    sink: Any


@dataclass(frozen=True, eq=False)
class PrintOperator(_SinkDescription):
    """Prints records on the driver's standard output (or error), with Flink's prefix."""

    identifier: str | None = None
    to_error: bool = False
    type_info: Any = None


@dataclass(frozen=True, eq=False)
class CollectOperator(_SinkDescription):
    """Brings records to the driver, for ``execute_and_collect``."""

    collect_id: str


@dataclass(frozen=True, eq=False)
class WindowOperator(OperatorDescription):
    """Groups elements in windows and gives a result per window."""

    assigner: Any
    trigger: Any
    aggregation: Any = None
    """A reduce function or an AggregateFunction; None: the window keeps its elements."""
    function: Any = None
    """The window function; None: the aggregation's result is the window's."""
    evictor: Any = None
    allowed_lateness: int = 0
    """In ms."""
    late_tag: str | None = None
    """The side output for elements that come too late; None: they are dropped."""
    keyed: bool = True
    """Whether the window function is given a key."""
    row_type: Any = None
    """The type of the elements if they are rows: what reduces them gives rows of this type, too."""
