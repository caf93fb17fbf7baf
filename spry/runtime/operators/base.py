"""The running operator: its life, and how it takes part in its chain's generated loop."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from spry.common.operators import OperatorDescription
from spry.common.plan import OperatorPlan
from spry.runtime.codegen import CodeWriter

if TYPE_CHECKING:
    from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
    from spry.runtime.context import SubtaskContext

__all__ = ["Emit", "Operator", "Output", "create_operator", "is_generator", "user_method"]

Emit = Callable[[str], None]
"""Writes the code that passes on the record in the named variable."""


class Output(ABC):
    """Where an operator emits what it does not emit from within the generated loop."""

    @abstractmethod
    def emit(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Pass records to the operators behind this one."""

    @abstractmethod
    def emit_side(self, tag: str, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Pass records to a side output."""

    @abstractmethod
    def emit_watermark(self, timestamp: int) -> None:
        """Pass a watermark on."""

    @abstractmethod
    def emit_status(self, idle: bool) -> None:
        """Pass a watermark status on."""


class Operator(ABC):
    """A running operator of one subtask.

    Operators that work record by record write their part of the chain's loop (``generate``). Those that set
    ``takes_batches`` get whole runs of records instead (``process_batch``) and emit through ``self.output``.
    """

    takes_batches = False
    must_snapshot = False
    """If a snapshot of it fails, so does the job: something has been given away that would be lost otherwise."""
    output: Output

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        self.plan = plan
        self.context = context

    @property
    def retains(self) -> bool:
        """True if what it emits may be an object that it still holds and may change."""
        return False

    @property
    def fresh(self) -> bool:
        """True if what it emits is certainly held by nobody, neither by itself nor by those before it."""
        return False

    @property
    def may_keep(self) -> bool:
        """True if it may hold on to what it is given, or change it."""
        return True

    def initialize_state(self, context: StateInitializationContext) -> None:
        """Called once before ``open``: take out of a checkpoint what there is for this operator."""

    def open(self) -> None:
        """Called once before the first record."""

    def resume(self) -> None:
        """Called at the begin of the first epoch after a restore: say again what those behind do not know any more."""

    def close(self) -> None:
        """Called once at the end, also after a failure."""

    def finish(self) -> None:
        """The input has ended: emit what is left."""

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        """Write the code for the record in the variable ``value`` (and its timestamp, if the stream has them)."""
        raise RuntimeError(f"operator '{self.plan.name}' takes batches")

    def generate_tagged(self, g: CodeWriter, value: str, emit: Emit, emit_side: Callable[[str, str], None]) -> None:
        """Write the code for one emitted value of an operator that may emit to side outputs."""
        emit(value)

    def process_batch(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Take in a run of records."""
        raise RuntimeError(f"operator '{self.plan.name}' takes records one by one")

    def process_watermark(self, timestamp: int) -> None:
        """Event time has advanced: act on it, then pass it on."""
        self.output.emit_watermark(timestamp)

    def process_status(self, idle: bool) -> None:
        """The input has become idle or active."""
        self.output.emit_status(idle)

    def on_processing_time(self, now: int) -> None:
        """Called once per epoch, and when a timer that ``next_timer`` named is due."""

    def next_timer(self) -> int | None:
        """When (processing time, ms) this operator wants to be woken."""
        return None

    def end_epoch(self) -> None:
        """Called at the end of every epoch, after the last record."""

    def why_not_ready(self, checkpoint_id: int) -> str | None:
        """Why it cannot be part of this checkpoint, which may be taken another time; None if it can."""
        return None

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        """Called at the end of an epoch that is a checkpoint: put into it what is not in a backend."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """A checkpoint is durable. Called before the first record of a later epoch."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """A checkpoint was given up."""


_MODULES = {
    "MapOperator": "simple",
    "FlatMapOperator": "simple",
    "FilterOperator": "simple",
    "ProjectOperator": "simple",
    "ProcessOperator": "process",
    "ReduceOperator": "reduce",
    "TimestampsAndWatermarksOperator": "watermarks",
    "SourceOperator": "source",
    "SourceFunctionOperator": "source_function",
    "SinkFunctionOperator": "sinks",
    "SinkOperator": "sinks",
    "GlobalSinkOperator": "sinks",
    "GlobalCommitterOperator": "sinks",
    "PrintOperator": "sinks",
    "CollectOperator": "sinks",
    "WindowOperator": "window",
}


def create_operator(plan: OperatorPlan, context: SubtaskContext) -> Operator:
    """The running operator for a description: the class of the same name in a module of this package.

    A module that chooses among several has a function ``create`` instead.
    """
    description: OperatorDescription = plan.description
    name = type(description).__name__
    module = import_module(f"spry.runtime.operators.{_MODULES[name]}")
    create: Callable[..., Operator] = getattr(module, "create", None) or getattr(module, f"Running{name}")
    return create(plan, context)


def user_method(function: Any, method: str) -> Callable[..., Any]:
    """The callable behind a user's function: the object's method, or the plain callable itself."""
    bound = getattr(function, method, None)
    if bound is not None and not inspect.isfunction(function):
        result: Callable[..., Any] = bound
        return result
    plain: Callable[..., Any] = function
    return plain


def is_generator(function: Callable[..., Any]) -> bool:
    """Whether calling it gives an iterator for sure, so that None need not be looked for."""
    return inspect.isgeneratorfunction(function)
