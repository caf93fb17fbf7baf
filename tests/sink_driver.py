"""Drives sinks by hand: the contexts that a slot would give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from spry.common.sink import WriterInitContext
from spry.runtime.testing import ManualClock

__all__ = ["Initialization", "Snapshot", "SubtaskStub", "WriterInit"]


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

    def __init__(self, checkpointing: bool = True, clock: ManualClock | None = None) -> None:
        self.services = SimpleNamespace(
            job=SimpleNamespace(checkpointing=checkpointing),
            clock=clock or ManualClock(1000),
            warnings=[],
            own=lambda thing, *functions: thing,
        )
        self.subtask = 0
        self.vertex = SimpleNamespace(parallelism=1)

    def get_job_id(self) -> str:
        return "job"

    def get_attempt_number(self) -> int:
        return 0

    def get_metrics_group(self) -> Any:
        return None


class WriterInit(WriterInitContext):
    """What a writer is made with."""

    def __init__(self, clock: ManualClock, subtask: int = 0, parallelism: int = 1) -> None:
        self.clock = clock
        self.subtask = subtask
        self.parallelism = parallelism

    def get_subtask_id(self) -> int:
        return self.subtask

    def get_number_of_parallel_subtasks(self) -> int:
        return self.parallelism

    def get_attempt_number(self) -> int:
        return 0

    def get_job_id(self) -> str:
        return "job"

    def metric_group(self) -> Any:
        return None

    def get_restored_checkpoint_id(self) -> int | None:
        return None

    def current_processing_time(self) -> int:
        return self.clock()
