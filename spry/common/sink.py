"""The shape of a sink: a writer in every subtask and, for transactions, a committer.

A :class:`SinkWriter` receives records. At a checkpoint, a writer of a :class:`TwoPhaseCommittingSink` is flushed and
hands over *committables* (``prepare_commit``), which become part of the checkpoint; once that is complete the
:class:`Committer` makes them visible. A job that goes on from a checkpoint commits the committables in it once more;
then its writers go on from their own states, if they have any (:class:`StatefulSinkWriter`). Without checkpoints a job
commits when its input ends, so that what it wrote becomes visible exactly then.
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
    "GlobalCommittingSink",
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
    def get_restored_checkpoint_id(self) -> int | None:
        """The id of the checkpoint that the job goes on from, None if there is none."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """The machine's clock, in ms."""


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

    def on_processing_time(self, now: int) -> None:
        """Called once per epoch, and when the time that ``next_timer`` named has come (processing time, ms)."""

    def next_timer(self) -> int | None:
        """When the writer wants to be woken, if it does not want to wait for records."""
        return None

    def close(self) -> None:
        """Called once, at the end, also after a failure."""


class StatefulSinkWriter(SinkWriter[InT], Generic[InT, StateT]):
    """A writer whose own state belongs into checkpoints."""

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> list[StateT]:
        """The state, in parts that may go to different subtasks. ``flush`` and ``prepare_commit`` come before."""


class Sink(ABC, Generic[InT]):
    """Describes a sink. Must be picklable: it travels to the slots."""

    @abstractmethod
    def create_writer(self, context: WriterInitContext) -> SinkWriter[InT]: ...

    def restore_writer(self, context: WriterInitContext, state: list[Any]) -> SinkWriter[InT]:
        """A writer that goes on from the states of a checkpoint, of one writer or of several."""
        return self.create_writer(context)


class CommitRequest(Generic[CommT]):
    """One committable on its way to being committed, with what the committer has to say about it."""

    __slots__ = ("_committable", "_recovered", "_retries", "failure", "outcome")

    def __init__(self, committable: CommT, retries: int = 0, recovered: bool = False) -> None:
        self._committable = committable
        self._retries = retries
        self._recovered = recovered
        self.outcome: str = "committed"
        self.failure: BaseException | None = None

    def get_committable(self) -> CommT:
        return self._committable

    def get_number_of_retries(self) -> int:
        return self._retries

    def is_recovered(self) -> bool:
        """Whether it comes from the checkpoint that the job goes on from: it may have been committed long ago."""
        return self._recovered

    def retry_later(self) -> None:
        """Not now: try again."""
        self.outcome = "retry"

    def signal_already_committed(self) -> None:
        """An earlier attempt has committed it."""
        self.outcome = "committed"

    def signal_failed_with_known_reason(self, reason: BaseException) -> None:
        """It cannot be committed, and that is accepted."""
        self.outcome = "failed"
        self.failure = reason

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


class GlobalCommittingSink(Sink[InT], Generic[InT, CommT]):
    """A sink whose transactions are committed in one place: those of a checkpoint, of all subtasks, at once.

    For systems where many small commits conflict or cost too much, such as the next version of a table.
    """

    @abstractmethod
    def create_writer(self, context: WriterInitContext) -> CommittingSinkWriter[InT, CommT]: ...

    @abstractmethod
    def create_global_committer(self, context: CommitterInitContext) -> Committer[CommT]:
        """Called once in the whole job."""
