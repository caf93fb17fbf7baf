"""The job master: one thread per job that deploys it, runs its epochs and sees it to its end."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from spry.cluster.job import SparkJob
from spry.cluster.session import release_thread
from spry.common.accumulators import merge_accumulators
from spry.common.completable_future import CompletableFuture
from spry.common.errors import (
    CheckpointError,
    ExecutionError,
    FailureInfo,
    JobCancelledError,
    JobExecutionError,
    SlotLostError,
    StateMigrationError,
)
from spry.common.job_execution_result import JobExecutionResult
from spry.common.job_id import JobID
from spry.common.job_status import JobStatus
from spry.common.operators import SourceOperator
from spry.common.options import SpryOptions, StateRecoveryOptions
from spry.common.plan import EpochCommand, ExecutionState, SlotCommand, SlotReport, StopMode
from spry.graph.execution_graph import ExecutionGraph, build_execution_graph
from spry.graph.job_graph import build_job_graph
from spry.graph.submission import JobSubmission
from spry.jobmanager.checkpoint_coordinator import CheckpointCoordinator, SavepointRequest
from spry.jobmanager.collected_results import CollectedResults
from spry.jobmanager.job_plan import create_job_plan, python_requirements
from spry.jobmanager.pacing import create_pacer
from spry.jobmanager.progress import Progress, console_lines
from spry.jobmanager.recovery import fit_to_checkpoint, load_initial_checkpoint, older_checkpoint
from spry.jobmanager.restart_backoff import create_restart_backoff
from spry.jobmanager.source_coordinator import SourceCoordinator
from spry.jobmanager.state_queries import StateQueries
from spry.jobmanager.watermark_alignment import WatermarkAlignment
from spry.runtime.checkpoints.metadata import CheckpointMetadata, OperatorInfo
from spry.runtime.failures import summarize, user_traceback

__all__ = ["JobMaster"]

_CANCEL_GRACE_SECONDS = 0.3
_CLOSE_SECONDS = 5.0
_REPEATS = "exactly-once sinks have committed what came after that checkpoint already: they will write it again"
_SETTLING_SECONDS = 0.03
"""The pause between epochs while a checkpoint is being written and there is nothing else to do."""
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
        self.before_end: Callable[[], None] = _nothing
        """Called before those who wait for the job's end hear of it."""
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
        self._from = self._initial_checkpoint()
        self.graph: ExecutionGraph = build_execution_graph(build_job_graph(submission.graph))
        self.checkpoints = CheckpointCoordinator(
            str(job_id),
            self.name,
            configuration,
            self.graph.slots,
            _operators(self.graph),
            submission.graph.settings.batch,
            on_one_machine=str(getattr(context, "master", "")).startswith("local"),
        )
        if self._from is not None:
            self.checkpoints.restored(self._from)
        self._backoff = create_restart_backoff(configuration, self.checkpoints.enabled)
        self._results = CollectedResults(
            submission.collectors, self.checkpoints.enabled and self.checkpoints.exactly_once
        )
        self._queries = StateQueries()
        self.restarts = 0
        self._stopping: SavepointRequest | None = None
        self._stops: list[tuple[CompletableFuture[str], CompletableFuture[str]]] = []
        """For those who stop the job: (the savepoint's path, the same when the job has stopped with it)."""
        self._told: set[str] = set()
        """Failures that were described at length."""
        self.last_failure: str | None = None
        self._settling: int | None = None
        """The checkpoint that the job ends with."""
        self._begin_attempt(0)
        self._pacer = create_pacer(submission, self.checkpoints.interval)
        self._wake = threading.Event()
        self._cancelling = False
        self._max_bytes = configuration.get(SpryOptions.EPOCH_MAX_SIZE)
        self._keep_alive = configuration.get(SpryOptions.EPOCH_KEEP_ALIVE).to_millis() / 1000
        self._records = 0
        self._started = 0.0
        # Not a daemon: the program may end while its detached jobs go on.
        self._thread = threading.Thread(target=self._run, name=f"job-master {self.name}", daemon=False)

    # Preparing

    def _initial_checkpoint(self) -> CheckpointMetadata | None:
        configuration = self.submission.configuration
        checkpoint = load_initial_checkpoint(configuration, self._progress.note)
        if checkpoint is not None:
            ignores = configuration.get(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE)
            fit_to_checkpoint(self.submission.graph, checkpoint, ignores)
        return checkpoint

    def _begin_attempt(self, number: int) -> None:
        """Prepare to deploy the job, for the first time or again."""
        restore = self._from.restore_state() if self._from is not None else None
        self._plan = create_job_plan(
            self.submission, self.graph, self.job_id, number, self.checkpoints.enabled, restore
        )
        self._job = SparkJob(self._context, self._plan, python_requirements(self.submission))
        self._coordinators: list[SourceCoordinator] = []
        self._alignment = WatermarkAlignment(self.graph.vertices)
        self._deployed = False
        self._at_work = False
        self._epoch = 0
        self.graph.reset()

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
            self._run_attempts()
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
            with contextlib.suppress(Exception):
                self.before_end()
            self.result.set_exception(failure or ExecutionError(f"job '{self.name}' ended without a result"))
            self.ended.set_result(None)

    def _run_attempts(self) -> None:
        """Deploy the job and run it to its end, as often as failures and the restart strategy will have it."""
        while True:
            try:
                self._deploy()
                self._started = self._started or time.monotonic()
                self._run_epochs()
                return
            except BaseException as error:
                delay = self._prepare_restart(error)
            self._wait_for_restart(time.monotonic() + delay)
            if self._cancelling:
                return
            self._begin_attempt(self._plan.attempt + 1)

    def _wait_for_restart(self, until: float) -> None:
        """Questions that come meanwhile do not make it any sooner; a cancellation ends it."""
        while not self._cancelling and (left := until - time.monotonic()) > 0:
            self._wake.wait(left)
            if not self._cancelling:
                self._wake.clear()

    def _prepare_restart(self, error: BaseException) -> float:
        """Clean up after a failure; gives the seconds until the restart. Raises the failure if there is none."""
        if self._cancelling or not isinstance(error, Exception):
            raise error
        info = error.failure if isinstance(error, JobExecutionError) else None
        if (info is not None and info.final) or isinstance(error, TypeError | ValueError) or self._spark_is_gone():
            raise error  # It would happen again: what is wrong is the program or its state.
        text = info.describe().partition("\n")[0] if info is not None else str(error)
        self.last_failure = text
        if info is not None and info.checkpoint_unreadable and self._from is not None and self._epoch == 0:
            self._give_up_checkpoint(self._from, error)
            delay: float | None = 0.0
        else:
            delay = self._backoff.after_failure()
            if delay is None:
                raise error
            self.checkpoints.restart()
            self._from = self.checkpoints.latest()
        if not self._cancelling:
            self.status = JobStatus.RESTARTING
        self.restarts += 1
        self._stopping, self._settling = None, None
        if self._from is not None:
            # Slots have not heard of it, but it is what they go on from: what it covers does not come again.
            self._results.completed(self._from.checkpoint_id)
        self._queries.restart()
        self._fail_stops(text)
        self._tell(text, info, delay or 0.0)
        self.graph.transition_all(ExecutionState.FAILED)
        self._close_slots(clean=False, for_good=False)
        self._results.restart()  # With what slots have left over, which comes again.
        for coordinator in self._coordinators:
            with contextlib.suppress(Exception):
                coordinator.close()
        self._coordinators = []
        with contextlib.suppress(Exception):
            self._job.release()
        return delay or 0.0

    def _tell(self, text: str, info: FailureInfo | None, delay: float) -> None:
        """Say that the job is restarted; of a failure that is new, the whole story."""
        if info is not None and text not in self._told:
            self._told.add(text)
            text = info.describe()
        end = "\n" if "\n" in text else "; "
        where = f"from {self._from.path}" if self._from is not None else "from the beginning"
        self._progress.note(f"{text}{end}restarting {where}" + (f" in {delay:.1f} s" if delay else ""))

    def _spark_is_gone(self) -> bool:
        try:
            return bool(self._context._jsc is None or self._context._jsc.sc().isStopped())
        except Exception:
            return True

    def _give_up_checkpoint(self, checkpoint: CheckpointMetadata, error: Exception) -> None:
        """A checkpoint cannot be read: go on from the one before it, if there is one."""
        if self.checkpoints.discard(checkpoint):
            self.checkpoints.restart()
            self._from = self.checkpoints.latest()
            self._progress.note(_REPEATS)
            return
        older = older_checkpoint(checkpoint.directory)
        if older is None:
            raise error
        self.checkpoints.restored(older)
        self._from = older
        self._progress.note(_REPEATS)

    def _deploy(self) -> None:
        self.graph.transition_all(ExecutionState.SCHEDULED)
        self.graph.transition_all(ExecutionState.DEPLOYING)
        self._deployed = True
        configuration = self.submission.configuration.to_dict()
        for vertex in self.graph.vertices:
            head = vertex.job_vertex.head
            if isinstance(head.description, SourceOperator):
                try:
                    held = self._from.sources.get(head.uid) if self._from is not None else None
                    coordinator = SourceCoordinator(
                        vertex.id, head.name, head.description.source, vertex.parallelism, configuration, held
                    )
                    coordinator.uid = head.uid
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
        while not self._cancelling and not self._is_settled():
            quiet = self._stopping is not None or self.graph.all_finished
            for coordinator in self._coordinators if not quiet else ():
                self._guarded(coordinator, coordinator.discover)
            command = self._command(reading=not quiet and self._wait_for_readers(), quiet=quiet)
            started = time.monotonic()
            with self._breakable():
                reports = self._job.run_epoch(command, self._description(command))
            pause = self._take_in(reports, time.monotonic() - started)
            self._take_in_checkpoints(command, reports)
            if quiet or self.graph.all_finished:
                self._wake.wait(_SETTLING_SECONDS if self.checkpoints.is_waiting else 0.0)
            else:
                self._pause(reports, pause)

    def _description(self, command: EpochCommand) -> str:
        """What Spark's own pages say of an epoch."""
        request = command.checkpoint
        what = (
            "" if request is None else f", {'savepoint' if request.savepoint else 'checkpoint'} {request.checkpoint_id}"
        )
        return f"{self.name}: epoch {self._epoch}{what}"

    def _is_settled(self) -> bool:
        """Whether the job is over: nothing is left to do, and what was written last is committed."""
        if self._stopping is not None:
            return self._stopping.done.done() and not self.checkpoints.is_busy
        if not self.graph.all_finished:
            return False
        if not self.checkpoints.enabled or not self.checkpoints.after_finish:
            return not self.checkpoints.is_busy
        return (
            self._settling is not None
            and self.checkpoints.was_completed(self._settling)
            and (not self.checkpoints.is_busy)
        )

    def _take_in_checkpoints(self, command: EpochCommand, reports: list[SlotReport]) -> None:
        """Learn what has become of checkpoints, and of what ends with them."""
        self._queries.take_in(command.queries, reports)
        try:
            self.checkpoints.take_in(reports)
        except CheckpointError as error:
            raise JobExecutionError(self.name, FailureInfo(str(error))) from None
        if self._stopping is not None and self._stopping.done.done() and self._stopping.done.exception() is not None:
            stopping, self._stopping = self._stopping, None
            if stopping.stop is StopMode.DRAIN:
                raise JobExecutionError(self.name, FailureInfo(str(stopping.done.exception())))
        if self._settling is not None and self.checkpoints.was_given_up(self._settling):
            self._settling = None
        request = command.checkpoint
        if self._settling is None and self.graph.all_finished and request is not None:
            if self.checkpoints.commits(request):
                self._settling = request.checkpoint_id  # It covers the end already.

    @contextlib.contextmanager
    def _breakable(self) -> Iterator[None]:
        """While slots are at work that a cancellation may break off."""
        self._at_work = True
        try:
            yield
        finally:
            self._at_work = False

    def _command(self, reading: bool, quiet: bool) -> EpochCommand:
        self._epoch += 1
        completed, aborted = self.checkpoints.take_out()
        for checkpoint_id in completed:
            self._results.completed(checkpoint_id)
            for coordinator in self._coordinators:
                self._guarded(coordinator, coordinator.notify_checkpoint_complete, checkpoint_id)
        ending = self.graph.all_finished and self._settling is None and self.checkpoints.after_finish
        request, savepoint = None, None
        if not quiet or ending:
            request, savepoint = self.checkpoints.request(self._epoch, now_wanted=ending)
        if request is not None and ending:
            self._settling = request.checkpoint_id
        if savepoint is not None and savepoint.stop is not None:
            self._stopping, reading = savepoint, False
        slots: dict[int, dict[tuple[int, int], Any]] = {}
        bases = {vertex.id: vertex.slot_base for vertex in self.graph.vertices}
        for coordinator in self._coordinators:
            for subtask, events in coordinator.take_out().items():
                slot = bases[coordinator.vertex_id] + subtask
                slots.setdefault(slot, {})[(coordinator.vertex_id, subtask)] = events
        if request is not None:
            self._results.begin(request.checkpoint_id)
            held = {c.uid: self._guarded(c, c.snapshot, request.checkpoint_id) for c in self._coordinators}
            self.checkpoints.with_sources(request, held)
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
            checkpoint=request,
            completed=completed,
            aborted=aborted,
            stop=savepoint.stop if savepoint is not None else None,
            quiet=quiet,
            queries=self._queries.take_out(),
        )

    # What slots say

    def _take_in(self, reports: list[SlotReport], seconds: float) -> float:
        """Learn from an epoch's reports; gives the pause before the next."""
        self._pass_on_results(reports)
        self._results.end_epoch()
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
            self._results.put(report.collected)
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
        final = isinstance(error, StateMigrationError)
        info = FailureInfo(summarize(error), name, traceback=user_traceback(error), final=final)
        return JobExecutionError(self.name, info)

    # Waiting

    def _pause(self, reports: list[SlotReport], pause: float) -> None:
        timers = [report.next_timer for report in reports if report.next_timer is not None]
        if timers:
            pause = min(pause, max(0.0, min(timers) / 1000 - time.time()))
        pause = min(pause, self.checkpoints.seconds_until_due())
        if self.checkpoints.is_busy:
            pause = min(pause, _SETTLING_SECONDS if self.checkpoints.is_waiting else 0.0)
        if self.checkpoints.wants_savepoint or self._queries.waiting:
            pause = 0.0
        if pause > 0 and not self._cancelling:
            self._wake.wait(pause)
            if not self._cancelling:
                self._wake.clear()

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

    # Savepoints and queries

    def trigger_savepoint(
        self, directory: str | None, canonical: bool, stop: StopMode | None = None
    ) -> CompletableFuture[str]:
        """Take a savepoint, and stop with it if so wanted; gives its path when it is complete."""
        if self.status is not JobStatus.RUNNING:
            raise CheckpointError(f"job '{self.name}' is {self.status.name}: savepoints can be taken of running jobs")
        request = self.checkpoints.savepoint(directory, canonical, stop)
        self._wake.set()
        return request.done

    def stop_with_savepoint(self, directory: str | None, canonical: bool, mode: StopMode) -> CompletableFuture[str]:
        """Take a savepoint and end the job with it; gives its path when the job has ended."""
        saved = self.trigger_savepoint(directory, canonical, mode)
        stopped: CompletableFuture[str] = CompletableFuture()
        self._stops.append((saved, stopped))
        saved.add_done_callback(lambda _: _pass_on_failure(saved, stopped))
        return stopped

    def _fail_stops(self, why: str) -> None:
        """The job goes on, although somebody wanted to stop it."""
        for saved, stopped in self._stops:
            if saved.done() and saved.exception() is None:
                stopped.set_exception(
                    CheckpointError(
                        f"the savepoint {saved.result()} is complete, but the job did not stop: {why}; "
                        "it was restarted from there"
                    )
                )
        self._stops = [(saved, stopped) for saved, stopped in self._stops if not stopped.done()]

    def query_state(self, name: str, key: Any) -> CompletableFuture[Any]:
        """What a queryable state holds for a key at the end of an epoch, None if nothing."""
        if self.ended.done():
            raise ExecutionError(f"job '{self.name}' has ended")
        answer = self._queries.ask(name, key)
        self._wake.set()
        return answer

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
        with contextlib.suppress(Exception):
            self._job.release()
        self._progress.clear()
        status = JobStatus.FINISHED
        if cancelled:
            status = JobStatus.CANCELED
        elif failure is not None or closing is not None:
            status = JobStatus.FAILED
        info = failure.failure if isinstance(failure, JobExecutionError) else None
        # What could not be gone on from may be of use to somebody who knows why.
        self.checkpoints.close(status, keep=info is not None and (info.checkpoint_unreadable or info.final))
        self._queries.close(f"job '{self.name}' has ended")
        if status is JobStatus.FINISHED:
            self._results.finish()
        if cancelled:
            self._settle(
                JobStatus.CANCELED, ExecutionState.CANCELED, JobCancelledError(f"Job '{self.name}' was cancelled")
            )
        elif failure is not None or closing is not None:
            self._settle(JobStatus.FAILED, ExecutionState.FAILED, self._as_job_error(failure or closing))
        else:
            self._settle(JobStatus.FINISHED, ExecutionState.FINISHED, None, runtime)

    def _close_slots(self, clean: bool, for_good: bool = True) -> BaseException | None:
        """Close functions and end processes, within a bounded time; gives what failed in a close of the user's."""
        if not self._deployed:
            return None
        breaker = threading.Timer(_CLOSE_SECONDS, self._job.cancel)
        breaker.daemon = True
        breaker.start()
        try:
            reports = self._job.close(for_good)
            self._pass_on_results(reports)
            if clean:
                self._learn(reports)  # Functions may count until they are closed.
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
        self.before_end()
        for saved, stopped in self._stops:
            if saved.done() and saved.exception() is None:
                self._progress.note(f"stopped with the savepoint {saved.result()}")
                stopped.set_result(saved.result())
            else:
                stopped.set_exception(failure or CheckpointError(f"job '{self.name}' ended before the savepoint"))
        self.ended.set_result(None)
        if failure is not None:
            self.result.set_exception(failure)
        else:
            self.result.set_result(JobExecutionResult(self.job_id, round(runtime * 1000), dict(self.accumulators)))


def _pass_on_failure(saved: CompletableFuture[str], stopped: CompletableFuture[str]) -> None:
    error = saved.exception()
    if error is not None:
        stopped.set_exception(error)


def _nothing() -> None:
    """Nobody else wants to know."""


def _operators(graph: ExecutionGraph) -> dict[str, OperatorInfo]:
    """What checkpoints note of every operator, by uid."""
    return {
        node.uid: OperatorInfo(node.name, node.parallelism, vertex.job_vertex.max_parallelism, node.has_user_uid)
        for vertex in graph.vertices
        for node in vertex.job_vertex.nodes
    }
