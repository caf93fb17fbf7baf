"""Where a job stands."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """The states of a job.

    ``SUSPENDED`` ends the job here and lets another driver take it up again from its last checkpoint;
    ``FAILED``, ``CANCELED`` and ``FINISHED`` are final everywhere.
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Whether the job is over and will never run again."""
        return self in _GLOBALLY_TERMINAL

    def is_terminal_state(self) -> bool:
        """Whether the job is over as far as this driver is concerned."""
        return self in _GLOBALLY_TERMINAL or self is JobStatus.SUSPENDED


_GLOBALLY_TERMINAL = frozenset({JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED})
