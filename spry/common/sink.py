"""The shape of a sink: a writer in every subtask and, for transactions, a committer.

A :class:`SinkWriter` receives records. At a checkpoint, a writer of a :class:`TwoPhaseCommittingSink` hands over
*committables* (``prepare_commit``); once the checkpoint is complete the :class:`Committer` makes them visible.
Without checkpoints a bounded job commits at its end, so that what it wrote becomes visible exactly then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

__all__ = [
    "CommitRequest",
    "Committer",
    "CommitterInitContext",
    "CommittingSinkWriter",
    "Sink",
    "SinkWriter",
    "StatefulSinkWriter",
    "TwoPhaseCommittingSink",
    "WriterContext",
    "WriterInitContext",
]

InT = TypeVar("InT")
CommT = TypeVar("CommT")
StateT = TypeVar("StateT")


@dataclass(slots=True)
class WriterContext:
    """Facts about the record that is being written. Valid only during the call."""

    timestamp: int | None = None
    """The record's event timestamp in milliseconds, if it has one."""
    current_watermark: int = -(2**63)
    """The writer's watermark."""


class WriterInitContext(ABC):
    """What a writer knows about where it runs."""

    @abstractmethod
    def get_subtask_id(self) -> int: ...

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int: ...

    @abstractmethod
    def get_attempt_number(self) -> int: ...

    @abstractmethod
    def get_job_id(self) -> str: ...

    @abstractmethod
    def metric_group(self) -> Any: ...

    @abstractmethod
    def get_restored_checkpoint_id(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class CommitterInitContext:
    """What a committer knows about where it runs."""

    job_id: str
    restored_checkpoint_id: int | None = None


class SinkWriter(ABC, Generic[InT]):
    """Writes records inside one subtask."""

    @abstractmethod
    def write(self, element: InT, context: WriterContext) -> None:
        """Write one record; buffering is fine, ``flush`` follows."""

    def flush(self, end_of_input: bool) -> None:
        """Write out what is buffered: at every checkpoint and at the end of the input."""

    def write_watermark(self, timestamp: int) -> None:
        """The event time has advanced."""

    def close(self) -> None:
        """Called once, at the end, also after a failure."""


class StatefulSinkWriter(SinkWriter[InT], Generic[InT, StateT]):
    """A writer whose own state belongs into checkpoints."""

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> list[StateT]: ...


class Sink(ABC, Generic[InT]):
    """Describes a sink. Must be picklable: it travels to the slots."""

    @abstractmethod
    def create_writer(self, context: WriterInitContext) -> SinkWriter[InT]: ...

    def restore_writer(self, context: WriterInitContext, state: list[Any]) -> SinkWriter[InT]:
        """A writer that goes on from the state of a checkpoint."""
        return self.create_writer(context)


class CommitRequest(Generic[CommT]):
    """One committable on its way to being committed, with what the committer has to say about it."""

    __slots__ = ("_committable", "_retries", "outcome")

    def __init__(self, committable: CommT, retries: int = 0) -> None:
        self._committable = committable
        self._retries = retries
        self.outcome: str = "committed"

    def get_committable(self) -> CommT:
        return self._committable

    def get_number_of_retries(self) -> int:
        return self._retries

    def retry_later(self) -> None:
        """Not now: try again."""
        self.outcome = "retry"

    def signal_already_committed(self) -> None:
        """An earlier attempt has committed it."""
        self.outcome = "committed"

    def signal_failed_with_known_reason(self, reason: BaseException) -> None:
        """It cannot be committed, and that is accepted."""
        self.outcome = f"failed: {reason}"

    def signal_failed_with_unknown_reason(self, reason: BaseException) -> None:
        """It cannot be committed and nobody knows why: the job fails."""
        raise RuntimeError(f"cannot commit {self._committable!r}: {reason}") from reason


class Committer(ABC, Generic[CommT]):
    """Makes prepared transactions visible. ``commit`` must be idempotent."""

    @abstractmethod
    def commit(self, requests: list[CommitRequest[CommT]]) -> None: ...

    def close(self) -> None:
        """Called once, at the end."""


class CommittingSinkWriter(SinkWriter[InT], Generic[InT, CommT]):
    """A writer whose output becomes visible by a later commit."""

    @abstractmethod
    def prepare_commit(self) -> list[CommT]:
        """End the current transaction and return what it takes to commit it."""


class TwoPhaseCommittingSink(Sink[InT], Generic[InT, CommT]):
    """A sink with transactions: its writer prepares, its committer commits."""

    @abstractmethod
    def create_writer(self, context: WriterInitContext) -> CommittingSinkWriter[InT, CommT]: ...

    @abstractmethod
    def create_committer(self, context: CommitterInitContext) -> Committer[CommT]: ...
