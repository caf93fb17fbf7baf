"""The client's handle on a job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from spry.common.completable_future import CompletableFuture
from spry.common.job_execution_result import JobExecutionResult
from spry.common.job_id import JobID
from spry.common.job_status import JobStatus
from spry.common.not_yet import NotYet, say_why
from spry.pyflink_alias import CHECKPOINTS

__all__ = ["JobClient"]


class JobClient(NotYet, ABC):
    """What ``execute_async`` gives: ask for the job's status, wait for it, cancel it."""

    _not_yet: ClassVar[dict[str, str]] = say_why(CHECKPOINTS, "trigger_savepoint stop_with_savepoint")

    @abstractmethod
    def get_job_id(self) -> JobID: ...

    @abstractmethod
    def get_job_status(self) -> CompletableFuture[JobStatus]: ...

    @abstractmethod
    def cancel(self) -> CompletableFuture[None]:
        """Cancel the job; done when it has ended."""

    @abstractmethod
    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """The accumulators as of the last epoch, also while the job runs."""

    @abstractmethod
    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Done when the job has finished; fails if the job fails or is cancelled."""

    @abstractmethod
    def get_execution_states(self) -> dict[str, str]:
        """Every subtask with its state, as of now."""

    @abstractmethod
    def get_metrics(self) -> dict[str, Any]:
        """What the functions' metrics and the engine's own counters say, as of the last epoch.

        ``job.epochs`` counts epochs; ``job.epochSeconds.median`` and ``.max`` are those of the latest thousand.
        """
