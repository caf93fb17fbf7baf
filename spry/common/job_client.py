"""The client's handle on a job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from spry.common.completable_future import CompletableFuture
from spry.common.job_execution_result import JobExecutionResult
from spry.common.job_id import JobID
from spry.common.job_status import JobStatus
from spry.common.state_choices import SavepointFormatType

__all__ = ["JobClient"]


class JobClient(ABC):
    """What ``execute_async`` gives: ask for the job's status, wait for it, take savepoints, cancel it."""

    @abstractmethod
    def get_job_id(self) -> JobID: ...

    @abstractmethod
    def get_job_status(self) -> CompletableFuture[JobStatus]: ...

    @abstractmethod
    def cancel(self) -> CompletableFuture[None]:
        """Cancel the job; done when it has ended."""

    @abstractmethod
    def trigger_savepoint(
        self, savepoint_directory: str | None = None, format_type: SavepointFormatType | None = None
    ) -> CompletableFuture[str]:
        """Take a savepoint; gives its path. The job goes on.

        :param savepoint_directory: Where to; without it the environment's default savepoint directory.
        :param format_type: CANONICAL, which every state backend can read, or NATIVE; CANONICAL if nothing is said.
        """

    @abstractmethod
    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | None = None,
        format_type: SavepointFormatType | None = None,
    ) -> CompletableFuture[str]:
        """Take a savepoint and end the job; gives the savepoint's path.

        :param advance_to_end_of_event_time: Whether the watermark goes to its end first, so that all windows and
            event-time timers fire. Only for jobs that are not to go on.
        """

    @abstractmethod
    def query_state(self, queryable_state_name: str, key: Any) -> CompletableFuture[Any]:
        """What a state that was made queryable (``descriptor.set_queryable(name)``) holds for a key; None if nothing.

        The answer is the state's value at the end of an epoch. A list state gives a list, a map state a dict.
        """

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
