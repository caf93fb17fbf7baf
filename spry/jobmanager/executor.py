"""Starting jobs: checks the submission, finds Spark, makes the job master."""

from __future__ import annotations

import statistics
import sys
from typing import Any

from spry.cluster.session import get_spark_context
from spry.common.completable_future import CompletableFuture
from spry.common.errors import ExecutionError
from spry.common.job_client import JobClient
from spry.common.job_execution_result import JobExecutionResult
from spry.common.job_id import JobID
from spry.common.job_status import JobStatus
from spry.common.options import ProgressMode, SpryOptions, StateRecoveryOptions
from spry.common.plan import StopMode
from spry.common.state_choices import SavepointFormatType
from spry.graph.submission import JobSubmission
from spry.jobmanager.checkpoint_coordinator import CheckpointCoordinator
from spry.jobmanager.endpoint import endpoint
from spry.jobmanager.job_master import JobMaster
from spry.jobmanager.progress import Progress
from spry.jobmanager.recovery import fit_to_checkpoint, load_initial_checkpoint

__all__ = ["SparkExecutor", "SparkJobClient", "create_executor"]


class SparkJobClient(JobClient):
    """The handle on a job that runs in this process's Spark application."""

    def __init__(self, master: JobMaster) -> None:
        self._master = master

    def get_job_id(self) -> JobID:
        return self._master.job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        return CompletableFuture.completed(self._master.status)

    def cancel(self) -> CompletableFuture[None]:
        if self._master.status.is_terminal_state():
            raise ExecutionError(f"job '{self._master.name}' has ended already: {self._master.status.name}")
        self._master.cancel()
        return self._master.ended

    def trigger_savepoint(
        self, savepoint_directory: str | None = None, format_type: SavepointFormatType | None = None
    ) -> CompletableFuture[str]:
        return self._master.trigger_savepoint(savepoint_directory, format_type is not SavepointFormatType.NATIVE)

    def query_state(self, queryable_state_name: str, key: Any) -> CompletableFuture[Any]:
        return self._master.query_state(queryable_state_name, key)

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | None = None,
        format_type: SavepointFormatType | None = None,
    ) -> CompletableFuture[str]:
        mode = StopMode.DRAIN if advance_to_end_of_event_time else StopMode.SUSPEND
        canonical = format_type is not SavepointFormatType.NATIVE
        return self._master.stop_with_savepoint(savepoint_directory, canonical, mode)

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        return CompletableFuture.completed(dict(self._master.accumulators))

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        return self._master.result

    def get_execution_states(self) -> dict[str, str]:
        return {subtask.name: subtask.state.value for subtask in self._master.graph.subtasks()}

    def get_metrics(self) -> dict[str, Any]:
        seconds = list(self._master.epoch_seconds)
        return {
            **self._master.metrics,
            "job.epochs": self._master.epochs,
            "job.restarts": self._master.restarts,
            "job.lastFailure": self._master.last_failure,
            **_checkpoint_metrics(self._master.checkpoints),
            "job.epochSeconds.median": statistics.median(seconds) if seconds else 0.0,
            "job.epochSeconds.max": max(seconds, default=0.0),
        }

    @property
    def execution_graph(self) -> Any:
        """The job's execution graph, to look at."""
        return self._master.graph


def _checkpoint_metrics(checkpoints: CheckpointCoordinator) -> dict[str, Any]:
    latest = checkpoints.statistics
    metrics: dict[str, Any] = {f"job.checkpoints.{name}": count for name, count in checkpoints.counts.items()}
    if latest is not None:
        metrics.update(
            {
                "job.checkpoints.last.id": latest.checkpoint_id,
                "job.checkpoints.last.path": latest.path,
                "job.checkpoints.last.bytes": latest.size,
                "job.checkpoints.last.bytesWritten": latest.written,
                "job.checkpoints.last.seconds": latest.seconds,
                "job.checkpoints.last.stallSeconds": latest.longest_stall_seconds,
            }
        )
    return metrics


class SparkExecutor:
    """Runs jobs in the active Spark application, or in a local one of its own."""

    def execute_async(self, submission: JobSubmission) -> JobClient:
        """Start a job; returns when it is on its way."""
        configuration = submission.configuration
        mode = configuration.get(SpryOptions.PROGRESS)
        note = Progress("", mode, 0.0, sys.stderr)
        checkpoint = load_initial_checkpoint(configuration, _nothing)
        if checkpoint is not None:  # What does not fit is said before Spark is started.
            ignores = configuration.get(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE)
            fit_to_checkpoint(submission.graph, checkpoint, ignores)
        context, seconds = get_spark_context(configuration)
        if seconds and mode is not ProgressMode.NONE:
            note.note(f"Spark {context.version} started at {context.master} in {seconds:.1f} s")
            if sys.stderr.isatty():
                sys.stderr.write("\n")
        master = JobMaster(submission, context, JobID.generate())
        client = SparkJobClient(master)
        endpoint().register(client, master.name)
        master.before_end = lambda: endpoint().forget(str(master.job_id))
        master.start()
        return client


def _nothing(_: str) -> None:
    """The job master says it."""


def create_executor() -> SparkExecutor:
    """Found by ``spry.graph.submission.load_executor``."""
    return SparkExecutor()
