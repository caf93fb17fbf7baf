"""Drives sinks by hand: the contexts that a slot would give them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from spry.common.operators import SinkOperator
from spry.common.plan import OperatorPlan
from spry.common.sink import Sink, WriterContext
from spry.runtime.operators.sinks import RunningSinkOperator
from spry.runtime.testing import ManualClock

__all__ = ["DrivenSink", "Initialization", "Snapshot", "SubtaskStub"]


@dataclass
class Initialization:
    """What an operator is restored from."""

    lists: dict[str, list[Any]] = field(default_factory=dict)
    checkpoint_id: int | None = None

    def is_restored(self) -> bool:
        return self.checkpoint_id is not None

    def get_restored_checkpoint_id(self) -> int | None:
        return self.checkpoint_id

    def list_state(self, name: str) -> list[Any]:
        return list(self.lists.get(name, ()))

    def union_list_state(self, name: str) -> list[Any]:
        return self.list_state(name)


@dataclass
class Snapshot:
    """What an operator puts into a checkpoint."""

    checkpoint_id: int
    timestamp: int = 0
    lists: dict[str, list[Any]] = field(default_factory=dict)

    def put_list_state(self, name: str, elements: list[Any]) -> None:
        self.lists[name] = list(elements)

    def put_union_list_state(self, name: str, elements: list[Any]) -> None:
        self.lists[name] = list(elements)


class SubtaskStub:
    """As much of a subtask's context as a sink operator needs."""

    def __init__(self, checkpointing: bool = True, clock: ManualClock | None = None, subtask: int = 0) -> None:
        self.services = SimpleNamespace(
            job=SimpleNamespace(checkpointing=checkpointing),
            clock=clock or ManualClock(1000),
            warnings=[],
            own=lambda thing, *functions: thing,
        )
        self.subtask = subtask
        self.vertex = SimpleNamespace(parallelism=1)

    def get_job_id(self) -> str:
        return "job"

    def get_attempt_number(self) -> int:
        return 0

    def get_metrics_group(self) -> Any:
        return None


class DrivenSink:
    """A sink's operator, driven by hand."""

    def __init__(
        self,
        sink: Sink[Any],
        lists: dict[str, list[Any]] | None = None,
        restored: int | None = None,
        *,
        checkpointing: bool = True,
        clock: ManualClock | None = None,
        subtask: int = 0,
    ) -> None:
        stub: Any = SubtaskStub(checkpointing, clock, subtask)
        plan = OperatorPlan(0, "uid", "sink", SinkOperator(sink), None, None, None)
        self.operator = RunningSinkOperator(plan, stub)
        self.warnings: list[str] = stub.services.warnings
        self.operator.initialize_state(Initialization(lists or {}, restored))
        self.operator.open()

    def write(self, elements: Iterable[Any], timestamp: int | None = None, watermark: int = -(2**63)) -> None:
        assert self.operator._writer is not None
        context = WriterContext(timestamp, watermark)
        for element in elements:
            self.operator._writer.write(element, context)

    def snapshot(self, checkpoint_id: int) -> dict[str, list[Any]]:
        """A checkpoint; what is in it has travelled."""
        context = Snapshot(checkpoint_id)
        self.operator.snapshot_state(context)
        lists: dict[str, list[Any]] = pickle.loads(pickle.dumps(context.lists))
        return lists

    def complete(self, checkpoint_id: int) -> None:
        self.operator.notify_checkpoint_complete(checkpoint_id)
