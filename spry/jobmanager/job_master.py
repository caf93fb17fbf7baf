"""The job master: one thread per job that deploys it, runs its epochs and sees it to its end."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from spry.cluster.job import SparkJob
from spry.cluster.session import release_thread
from spry.common.accumulators import merge_accumulators
from spry.common.completable_future import CompletableFuture
from spry.common.errors import ExecutionError, FailureInfo, JobCancelledError, JobExecutionError, SlotLostError
from spry.common.job_execution_result import JobExecutionResult
from spry.common.job_id import JobID
from spry.common.job_status import JobStatus
from spry.common.operators import SourceOperator
from spry.common.options import PipelineOptions, SpryOptions
from spry.common.plan import EpochCommand, ExecutionState, JobPlan, SlotCommand, SlotReport
from spry.graph.execution_graph import ExecutionGraph, build_execution_graph
from spry.graph.job_graph import build_job_graph
from spry.graph.submission import JobSubmission
from spry.jobmanager.pacing import EpochPacer
from spry.jobmanager.progress import Progress, console_lines
from spry.jobmanager.source_coordinator import SourceCoordinator
from spry.jobmanager.watermark_alignment import WatermarkAlignment
from spry.runtime.failures import summarize, user_traceback

__all__ = ["JobMaster"]

_CANCEL_GRACE_SECONDS = 0.3
_CLOSE_SECONDS = 5.0
_EAGER_TARGET_SECONDS = 0.25
_EAGER_RECORDS = 50_000
_REMEMBERED_EPOCHS = 1000
_WORKER_IDLE_SECONDS = 55.0
"""Spark ends Python workers that were idle for a minute."""


class JobMaster:
    """Runs one job."""

    def __init__(self, submission: JobSubmission, context: Any, job_id: JobID) -> None:
        self.job_id = job_id
        self.submission = submission
        self.name = submission.graph.settings.job_name
        self.status = JobStatus.CREATED
        self.result: CompletableFuture[JobExecutionResult] = CompletableFuture()
        self.ended: CompletableFuture[None] = CompletableFuture()
        self.graph: ExecutionGraph = build_execution_graph(build_job_graph(submission.graph))
        self.accumulators: dict[str, Any] = {}
        self.metrics: dict[str, Any] = {}
        self.epochs = 0
        self.epoch_seconds: deque[float] = deque(maxlen=_REMEMBERED_EPOCHS)
        configuration = submission.configuration
        self._progress = Progress(
            self.name,
            configuration.get(SpryOptions.PROGRESS),
            configuration.get(SpryOptions.PROGRESS_INTERVAL).to_millis() / 1000,
        )
        self._context = context
        self._plan = self._make_plan()
        self._job = SparkJob(context, self._plan, self._requirements())
        self._coordinators: list[SourceCoordinator] = []
        self._alignment = WatermarkAlignment(self.graph.vertices)
        self._pacer = self._make_pacer()
        self._wake = threading.Event()
        self._cancelling = False
        self._at_work = False
        self._max_bytes = configuration.get(SpryOptions.EPOCH_MAX_SIZE)
        self._keep_alive = configuration.get(SpryOptions.EPOCH_KEEP_ALIVE).to_millis() / 1000
        self._epoch = 0
        self._records = 0
        self._started = 0.0
        self._deployed = False
        # Not a daemon: the program may end while its detached jobs go on.
        self._thread = threading.Thread(target=self._run, name=f"job-master {self.name}", daemon=False)

    # Preparing

    def _make_plan(self) -> JobPlan:
        submission, settings = self.submission, self.submission.graph.settings
        return JobPlan(
            job_id=str(self.job_id),
            job_name=self.name,
            attempt=0,
            slots=self.graph.slots,
            levels=self.graph.levels,
            batch=settings.batch,
            vertices=self.graph.vertex_plans(),
            edges=tuple(self.graph.edges),
            configuration=submission.configuration.to_dict(),
            job_parameters=submission.job_parameters,
            object_reuse=submission.configuration.get(PipelineOptions.OBJECT_REUSE),
            cached_files=submission.cached_files,
            python_files=submission.python_files,
            python_archives=submission.python_archives,
        )

    def _requirements(self) -> str | None:
        given = self.submission.python_requirements
        if given is None:
            return None
        path, cache = given
        try:
            with open(path, encoding="utf-8") as file:
                return f"{file.read()}\0{cache or ''}"
        except OSError as error:
            raise FileNotFoundError(f"Python requirements file '{path}': {error.strerror}") from None

    def _make_pacer(self) -> EpochPacer:
        configuration = self.submission.configuration
        target = configuration.get(SpryOptions.EPOCH_TARGET_DURATION).to_millis() / 1000
        limit = configuration.get(SpryOptions.EPOCH_MAX_RECORDS)
        if any(node.description.is_sink and _comes_to_driver(node.description) for node in self.submission.graph.nodes):
            # Results that people wait for come in small portions, and the driver has to hold each.
            target = min(target, _EAGER_TARGET_SECONDS)
            limit = min(limit or _EAGER_RECORDS, _EAGER_RECORDS)
        return EpochPacer(
            target,
            limit,
            configuration.get(SpryOptions.EPOCH_INTERVAL).to_millis() / 1000,
            configuration.get(SpryOptions.EPOCH_IDLE_INTERVAL).to_millis() / 1000,
            configuration.get(SpryOptions.EPOCH_KEEP_ALIVE).to_millis() / 1000,
        )

    # Life

    def start(self) -> None:
        """Begin; returns at once."""
        self.status = JobStatus.CREATED
        self._thread.start()

    def cancel(self) -> None:
        """Ask the job to end. It ends after the current epoch, or breaks that off if it takes too long."""
        if self.ended.done() or self._cancelling:
            return
        self._cancelling = True
        if not self.status.is_terminal_state():
            self.status = JobStatus.CANCELLING
        self._wake.set()
        self._job.stop_reading()
        threading.Thread(target=self._break_off, name=f"canceller {self.name}", daemon=True).start()

    def _break_off(self) -> None:
        """What does not end by itself is interrupted: the user's functions first, then Spark's tasks."""
        self._thread.join(_CANCEL_GRACE_SECONDS)
        if self._at_work:
            self._job.interrupt()
        while self._thread.is_alive():
            self._thread.join(_CANCEL_GRACE_SECONDS)
            if self._at_work:
                self._job.cancel()

    def _run(self) -> None:
        failure: BaseException | None = None
        try:
            self._deploy()
            self._started = time.monotonic()
            self._run_epochs()
        except BaseException as error:
            failure = error
        runtime = time.monotonic() - self._started if self._started else 0.0
        try:
            self._end(failure, runtime)
        except BaseException as error:
            self._settle(JobStatus.FAILED, ExecutionState.FAILED, self._as_job_error(failure or error))
        finally:
            with contextlib.suppress(Exception):
                release_thread()
            # Whatever happens, nobody waits for ever.
            self.result.set_exception(failure or ExecutionError(f"job '{self.name}' ended without a result"))
            self.ended.set_result(None)

    def _deploy(self) -> None:
        self.graph.transition_all(ExecutionState.SCHEDULED)
        self.graph.transition_all(ExecutionState.DEPLOYING)
        self._deployed = True
        configuration = self.submission.configuration.to_dict()
        for vertex in self.graph.vertices:
            head = vertex.job_vertex.head
            if isinstance(head.description, SourceOperator):
                try:
                    coordinator = SourceCoordinator(
                        vertex.id, head.name, head.description.source, vertex.parallelism, configuration
                    )
                except Exception as error:
                    raise self._source_failure(head.name, error) from error
                self._coordinators.append(coordinator)
        with self._breakable():
            reports = self._job.deploy()
        self.graph.transition_all(ExecutionState.INITIALIZING)
        self._check(reports)
        self.graph.transition_all(ExecutionState.RUNNING)
        if not self._cancelling:
            self.status = JobStatus.RUNNING
        for coordinator in self._coordinators:
            self._guarded(coordinator, coordinator.start)
            for report in reports:
                for told in report.vertices:
                    if told.vertex_id == coordinator.vertex_id:  # A reader may ask for a split as soon as it starts.
                        self._guarded(coordinator, coordinator.take_in, told, report.host)

    def _run_epochs(self) -> None:
        while not self._cancelling and not self.graph.all_finished:
            for coordinator in self._coordinators:
                self._guarded(coordinator, coordinator.discover)
            command = self._command(reading=self._wait_for_readers())
            started = time.monotonic()
            with self._breakable():
                reports = self._job.run_epoch(command, f"{self.name}: epoch {self._epoch}")
            pause = self._take_in(reports, time.monotonic() - started)
            if not self.graph.all_finished:
                self._pause(reports, pause)

    @contextlib.contextmanager
    def _breakable(self) -> Iterator[None]:
        """While slots are at work that a cancellation may break off."""
        self._at_work = True
        try:
            yield
        finally:
            self._at_work = False

    def _command(self, reading: bool) -> EpochCommand:
        self._epoch += 1
        slots: dict[int, dict[tuple[int, int], Any]] = {}
        bases = {vertex.id: vertex.slot_base for vertex in self.graph.vertices}
        for coordinator in self._coordinators:
            for subtask, events in coordinator.take_out().items():
                slot = bases[coordinator.vertex_id] + subtask
                slots.setdefault(slot, {})[(coordinator.vertex_id, subtask)] = events
        budget = self._pacer.budget()
        return EpochCommand(
            job_id=str(self.job_id),
            attempt=self._plan.attempt,
            epoch=self._epoch,
            max_records=budget.max_records if reading else 0,
            max_millis=budget.max_millis,
            max_bytes=self._max_bytes,
            slots={slot: SlotCommand(events) for slot, events in slots.items()},
            watermark_limits=self._alignment.limits(),
        )

    # What slots say

    def _take_in(self, reports: list[SlotReport], seconds: float) -> float:
        """Learn from an epoch's reports; gives the pause before the next."""
        self._pass_on_results(reports)
        self.epoch_seconds.append(seconds)
        self._check(reports)
        backlog, talk, records, most_read = False, False, 0, 0
        by_vertex = {coordinator.vertex_id: coordinator for coordinator in self._coordinators}
        for report in reports:
            for vertex in report.vertices:
                subtask = self.graph.subtask(vertex.vertex_id, vertex.subtask)
                is_source = not subtask.vertex.job_vertex.inputs
                backlog = backlog or vertex.backlog
                if is_source:
                    records += vertex.records_in
                    most_read = max(most_read, vertex.records_in - subtask.records_in)
                    self._alignment.take_in(vertex.vertex_id, vertex.subtask, vertex.watermark, vertex.finished)
                subtask.records_in, subtask.records_out = vertex.records_in, vertex.records_out
                subtask.watermark = vertex.watermark
                if vertex.finished:
                    subtask.transition(ExecutionState.FINISHED)
                coordinator = by_vertex.get(vertex.vertex_id)
                if coordinator is not None:
                    talk = self._guarded(coordinator, coordinator.take_in, vertex, report.host) or talk
        self._learn(reports)
        self._records = records
        self.epochs += 1
        self._progress.update(self._epoch, records, backlog)
        pause = self._pacer.after(seconds, most_read, backlog)
        return 0.0 if talk else pause

    def _pass_on_results(self, reports: list[SlotReport]) -> None:
        for report in reports:
            console_lines(report.lines, self._progress)
            for collect_id, values in report.collected.items():
                self.submission.collectors[collect_id].put_all(values)
            if report.warnings:
                console_lines([(True, text) for text in report.warnings], self._progress)

    def _learn(self, reports: list[SlotReport]) -> None:
        vertices = [vertex for report in reports for vertex in report.vertices]
        self.accumulators = merge_accumulators([vertex.accumulators for vertex in vertices])
        self.metrics = {
            f"{self.graph.subtask(vertex.vertex_id, vertex.subtask).name}.{name}": value
            for vertex in vertices
            for name, value in (
                *vertex.metrics.items(),
                ("numRecordsIn", vertex.records_in),
                ("numRecordsOut", vertex.records_out),
            )
        }

    def _check(self, reports: list[SlotReport]) -> None:
        """Raise the failure that slots report, if any: a user's error rather than its consequences."""
        failures = [report.failure for report in reports if report.failure is not None]
        if not failures:
            return
        lost = [failure for failure in failures if failure.slot_lost]
        own = [failure for failure in failures if not failure.slot_lost]
        failure = (own or lost)[0]
        longest = max(list(self.epoch_seconds)[-2:], default=0.0)
        if failure.slot_lost and longest > _WORKER_IDLE_SECONDS:
            hint = (
                f"; Spark ends workers that have nothing to do for a minute, and another slot kept this one waiting "
                f"in an epoch of {longest:.0f} s: does a function take very long for a record, or do most records "
                "have the same key?"
            )
            failure = replace(failure, summary=failure.summary + hint)
        raise JobExecutionError(self.name, failure)

    def _guarded(self, coordinator: SourceCoordinator, call: Any, *args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:
            raise self._source_failure(coordinator.name, error) from error

    def _source_failure(self, name: str, error: Exception) -> JobExecutionError:
        return JobExecutionError(self.name, FailureInfo(summarize(error), name, traceback=user_traceback(error)))

    # Waiting

    def _pause(self, reports: list[SlotReport], pause: float) -> None:
        timers = [report.next_timer for report in reports if report.next_timer is not None]
        if timers:
            pause = min(pause, max(0.0, min(timers) / 1000 - time.time()))
        if pause > 0 and not self._cancelling:
            self._wake.wait(pause)

    def _wait_for_readers(self) -> bool:
        """Do not run away from the program that takes the collected records.

        Waits for it, but no longer than workers may be idle; whether there is room then.
        """
        deadline = time.monotonic() + self._keep_alive
        for buffer in self.submission.collectors.values():
            while not buffer.wait_for_room(0.2):
                if self._cancelling or time.monotonic() > deadline:
                    return False
        return True

    # The end

    def _end(self, failure: BaseException | None, runtime: float) -> None:
        cancelled = self._cancelling and not (failure is None and self.graph.all_finished)
        if failure is not None and not cancelled:
            self.graph.transition_all(ExecutionState.CANCELING)
        closing = self._close_slots(clean=failure is None)
        for coordinator in self._coordinators:
            try:
                coordinator.close()
            except Exception as error:
                failure = failure or self._source_failure(coordinator.name, error)
        self._job.release()
        self._progress.clear()
        if cancelled:
            self._settle(
                JobStatus.CANCELED, ExecutionState.CANCELED, JobCancelledError(f"Job '{self.name}' was cancelled")
            )
        elif failure is not None or closing is not None:
            self._settle(JobStatus.FAILED, ExecutionState.FAILED, self._as_job_error(failure or closing))
        else:
            self._settle(JobStatus.FINISHED, ExecutionState.FINISHED, None, runtime)

    def _close_slots(self, clean: bool) -> BaseException | None:
        """Close functions and end processes, within a bounded time; gives what failed in a close of the user's."""
        if not self._deployed:
            return None
        breaker = threading.Timer(_CLOSE_SECONDS, self._job.cancel)
        breaker.daemon = True
        breaker.start()
        try:
            reports = self._job.close()
            self._pass_on_results(reports)
            if clean:
                self._check(reports)
        except JobExecutionError as error:
            return error
        except Exception:
            return None  # The slots are gone: nothing is left to close.
        finally:
            breaker.cancel()
        return None

    def _as_job_error(self, failure: BaseException | None) -> BaseException:
        if isinstance(failure, SlotLostError):
            return JobExecutionError(self.name, FailureInfo(str(failure), slot_lost=True))
        if isinstance(failure, ExecutionError | TypeError | ValueError) or failure is None:
            return failure or ExecutionError("unknown")
        return failure

    def _settle(
        self, status: JobStatus, state: ExecutionState, failure: BaseException | None, runtime: float = 0.0
    ) -> None:
        self.graph.transition_all(state)
        self.status = status
        for buffer in self.submission.collectors.values():
            buffer.end(None if isinstance(failure, JobCancelledError) and buffer.abandoned else failure)
        self.ended.set_result(None)
        if failure is not None:
            self.result.set_exception(failure)
        else:
            self.result.set_result(JobExecutionResult(self.job_id, round(runtime * 1000), dict(self.accumulators)))


def _comes_to_driver(description: Any) -> bool:
    from spry.common.operators import CollectOperator, PrintOperator

    return isinstance(description, CollectOperator | PrintOperator)
