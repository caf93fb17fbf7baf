"""Errors that users meet. Each says what is wrong and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CheckpointError",
    "ExecutionError",
    "FailureInfo",
    "InvalidKeyError",
    "InvalidProgramError",
    "JobCancelledError",
    "JobExecutionError",
    "JobSubmissionError",
    "SlotLostError",
    "StateMigrationError",
    "UnpicklableError",
]


class InvalidProgramError(ValueError):
    """The program is not a valid dataflow; raised where the mistake is made."""


class InvalidKeyError(TypeError):
    """A key that cannot be used to partition a stream."""


class UnpicklableError(TypeError):
    """Something that has to travel between processes cannot be pickled."""


class ExecutionError(RuntimeError):
    """Base of what goes wrong while a job runs."""


class JobSubmissionError(ExecutionError):
    """A job could not be started."""


class JobCancelledError(ExecutionError):
    """The job was cancelled before it finished."""


class SlotLostError(ExecutionError):
    """A slot's process died or lost its place."""


class CheckpointError(ExecutionError):
    """A checkpoint or savepoint cannot be taken, read, or gone on from."""


class StateMigrationError(CheckpointError):
    """State of a checkpoint does not fit what the program declares now."""


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """Why a subtask failed, as it travels from the slot to the driver."""

    summary: str
    """One line: the exception's type and message."""
    operator: str | None = None
    subtask: str | None = None
    record: str | None = None
    """The offending record's repr, cut."""
    traceback: str = ""
    """The user's part of the traceback, formatted."""
    slot_lost: bool = False
    checkpoint_unreadable: bool = False
    """The checkpoint that the job goes on from cannot be read: an older one may do."""
    final: bool = False
    """It would happen again: restarting the job is of no use."""

    def describe(self) -> str:
        """The whole story, for people."""
        lines = []
        if self.operator:
            where = f"operator '{self.operator}'" + (f" (subtask {self.subtask})" if self.subtask else "")
            lines.append(f"{where} failed: {self.summary}")
        else:
            lines.append(self.summary)
        if self.record is not None:
            lines.append(f"record: {self.record}")
        if self.traceback:
            lines.append(self.traceback.rstrip())
        return "\n".join(lines)


class JobExecutionError(ExecutionError):
    """A job failed. ``failure`` has the parts of the story; ``str(error)`` is all of it."""

    def __init__(self, job_name: str, failure: FailureInfo) -> None:
        super().__init__(f"Job '{job_name}' failed: {failure.describe()}")
        self.job_name = job_name
        self.failure = failure
