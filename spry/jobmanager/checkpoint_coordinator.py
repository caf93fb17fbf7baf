"""The checkpoint coordinator: when checkpoints are taken, which are complete, and what becomes of old ones.

The job master asks for a request with every epoch that it plans, and hands over what slots report. A checkpoint is
complete when every slot has written its part and the metadata is there; that is said to the slots with the next epoch.
Threads write metadata and remove old checkpoints, so that no epoch waits for it.
"""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path

from spry.common.completable_future import CompletableFuture
from spry.common.configuration import Configuration
from spry.common.errors import CheckpointError
from spry.common.job_status import JobStatus
from spry.common.options import CheckpointingOptions, StateRecoveryOptions
from spry.common.plan import CheckpointRequest, FileHandle, OperatorSnapshot, SlotReport, SlotSnapshot, StopMode
from spry.common.state_choices import (
    CheckpointingMode,
    CheckpointStorageType,
    ExternalizedCheckpointRetention,
    RecoveryClaimMode,
)
from spry.jobmanager.checkpoint_cleaner import SHARED, CheckpointCleaner, locations
from spry.runtime.checkpoints.metadata import METADATA, CheckpointMetadata, OperatorInfo
from spry.runtime.checkpoints.storage import CheckpointStore, absolute, location, open_checkpoint_store
from spry.runtime.scratch import remove_scratch, scratch_directory

__all__ = ["CheckpointCoordinator", "CheckpointFailuresError", "CheckpointStatistics", "SavepointRequest"]

_LEAST_INTERVAL = 0.01
_METADATA_SECONDS = 0.005
_GIVE_UP_SECONDS = 5.0
"""How long a job that restarts or ends waits for metadata that is being written."""


class CheckpointFailuresError(CheckpointError):
    """More checkpoints in a row have failed than the job tolerates."""


@dataclass(slots=True)
class SavepointRequest:
    """A savepoint that somebody waits for."""

    directory: str
    canonical: bool
    stop: StopMode | None
    done: CompletableFuture[str] = field(default_factory=CompletableFuture)


@dataclass(frozen=True, slots=True)
class CheckpointStatistics:
    """What a completed checkpoint was like."""

    checkpoint_id: int
    path: str
    savepoint: bool
    size: int
    """Of the state, in bytes."""
    written: int
    """Bytes that were written for it; less than the size if it is incremental."""
    seconds: float
    longest_stall_seconds: float
    """How long the slot that stood still longest did so."""


@dataclass(slots=True)
class _Pending:
    request: CheckpointRequest
    epoch: int
    started: float
    waiting_for: set[int]
    sources: dict[str, bytes]
    savepoint: SavepointRequest | None
    files: list[FileHandle] = field(default_factory=list)
    operators: list[OperatorSnapshot] = field(default_factory=list)
    written: int = 0
    stall: float = 0.0
    writing: Future[CheckpointMetadata] | None = None


class CheckpointCoordinator:
    """The checkpoints of one job, over all of its attempts."""

    def __init__(
        self,
        job_id: str,
        job_name: str,
        configuration: Configuration,
        slots: int,
        operators: dict[str, OperatorInfo],
        batch: bool,
        on_one_machine: bool = False,
    ) -> None:
        options = CheckpointingOptions
        self._job_id = job_id
        self._job_name = job_name
        self._slots = slots
        self._operators = operators
        interval = configuration.get_optional(options.CHECKPOINTING_INTERVAL)
        seconds = interval.to_millis() / 1000 if interval is not None else 0.0
        self.interval = max(seconds, _LEAST_INTERVAL) if seconds and not batch else None
        """In seconds; None if no checkpoints are taken."""
        self.exactly_once = configuration.get(options.CHECKPOINTING_CONSISTENCY_MODE) is CheckpointingMode.EXACTLY_ONCE
        self.after_finish: bool = configuration.get(options.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH)
        self._timeout = configuration.get(options.CHECKPOINTING_TIMEOUT).to_millis() / 1000
        self._min_pause = configuration.get(options.MIN_PAUSE_BETWEEN_CHECKPOINTS).to_millis() / 1000
        self._concurrent = 1 if self._min_pause else configuration.get(options.MAX_CONCURRENT_CHECKPOINTS)
        self._tolerable: int = configuration.get(options.TOLERABLE_FAILURE_NUMBER)
        self._retained: int = configuration.get(options.MAX_RETAINED_CHECKPOINTS)
        self._incremental: bool = configuration.get(options.INCREMENTAL_CHECKPOINTS)
        self._inline_limit: int = configuration.get(options.FS_SMALL_FILE_THRESHOLD)
        self._retention = configuration.get(options.EXTERNALIZED_CHECKPOINT_RETENTION)
        self._claims = configuration.get(StateRecoveryOptions.RESTORE_MODE) is RecoveryClaimMode.CLAIM
        self._prefers_checkpoints: bool = configuration.get(options.PREFER_CHECKPOINT_FOR_RECOVERY)
        self._savepoint_directory = configuration.get_optional(options.SAVEPOINT_DIRECTORY)
        self._own_directory: bool = configuration.get(options.CREATE_CHECKPOINT_SUB_DIR)
        self._batch = batch
        self._temporary: Path | None = None
        self._store = self._open_store(configuration, on_one_machine)
        self._cleaner = CheckpointCleaner()
        self._next_id = 1
        self._next_due = time.monotonic() + self.interval if self.interval is not None else float("inf")
        self._last_end = 0.0
        self._failures = 0
        self._last_completed = 0
        self._pending: dict[int, _Pending] = {}
        self._lock = threading.Lock()
        """Guards what other threads ask for."""
        self._wanted: deque[SavepointRequest] = deque()
        self._closed = False
        self.completed: list[CheckpointMetadata] = []
        """Checkpoints that the job could go on from, the newest last."""
        self._restored_from: CheckpointMetadata | None = None
        self._of_others: set[str] = set()
        """Where files are that are never removed, though no checkpoint in ``completed`` refers to them."""
        self._stopped_with: int | None = None
        """The savepoint that the job was to end with: sinks have given away what it covers."""
        self._announce: list[int] = []
        self._give_up: list[int] = []
        self._litters = False
        """Whether a checkpoint was given up that may have left shared files."""
        self.statistics: CheckpointStatistics | None = None
        """Of the latest checkpoint."""
        self.counts = {"completed": 0, "failed": 0}
        self.last_failure: str | None = None
        """Why the latest checkpoint that failed did."""

    def _open_store(self, configuration: Configuration, on_one_machine: bool) -> CheckpointStore | None:
        """The directory of this job's checkpoints; None if they stay in the driver's memory."""
        options = CheckpointingOptions
        kind = configuration.get_optional(options.CHECKPOINT_STORAGE)
        directory = configuration.get_optional(options.CHECKPOINTS_DIRECTORY)
        if kind is CheckpointStorageType.FILESYSTEM and directory is None:
            raise CheckpointError(
                "execution.checkpointing.storage is 'filesystem', but execution.checkpointing.dir is not set"
            )
        if directory is None:
            if kind is CheckpointStorageType.JOBMANAGER or not on_one_machine or not self.enabled:
                return None
            # On one machine files do without a directory of the user's; they go when the job ends.
            if self._retention is ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS:
                self._temporary = scratch_directory(None, "checkpoints")
            else:
                self._temporary = Path(tempfile.mkdtemp(prefix="spry-checkpoints-"))
            directory = str(self._temporary)
        directory = absolute(directory)
        if configuration.get(options.CREATE_CHECKPOINT_SUB_DIR):
            directory = f"{directory.rstrip('/')}/{self._job_id}"
        return open_checkpoint_store(directory)

    @property
    def enabled(self) -> bool:
        """Whether checkpoints are taken by themselves."""
        return self.interval is not None

    @property
    def is_busy(self) -> bool:
        """Whether something is on its way that the next epochs bring forward."""
        return bool(self._pending or self._announce or self._give_up)

    @property
    def is_waiting(self) -> bool:
        """Whether slots are writing, and there is nothing to tell them yet."""
        return bool(self._pending) and not (self._announce or self._give_up)

    @property
    def wants_savepoint(self) -> bool:
        """Whether a savepoint has been asked for that has not begun."""
        return bool(self._wanted)

    def was_completed(self, checkpoint_id: int) -> bool:
        """Whether a checkpoint, or a later one, is complete."""
        return self._last_completed >= checkpoint_id

    def was_given_up(self, checkpoint_id: int) -> bool:
        """Whether a checkpoint will never be complete."""
        return checkpoint_id not in self._pending and not self.was_completed(checkpoint_id)

    def seconds_until_due(self) -> float:
        """When the next checkpoint can be taken; for ever if that is not a matter of time only."""
        if self._has_enough_pending():
            return float("inf")
        return max(0.0, self._next_due - time.monotonic(), self._pause_left())

    def _has_enough_pending(self) -> bool:
        return sum(p.savepoint is None for p in self._pending.values()) >= self._concurrent

    def _pause_left(self) -> float:
        return self._last_end + self._min_pause - time.monotonic() if self._min_pause and self._last_end else 0.0

    def commits(self, request: CheckpointRequest) -> bool:
        """Whether the job goes on from it after a failure: only then may be given away what it covers."""
        return not (request.savepoint and self._prefers_checkpoints)

    # Taking

    def request(self, epoch: int, now_wanted: bool = False) -> tuple[CheckpointRequest | None, SavepointRequest | None]:
        """The checkpoint that this epoch is to end with, if any; and whose it is if it is a savepoint.

        With ``now_wanted`` it is the last one of a job that ends, and no savepoint.
        """
        with self._lock:
            savepoint = self._wanted.popleft() if self._wanted and not now_wanted else None
        if savepoint is not None:
            return self._begin(epoch, savepoint), savepoint
        return (self._begin(epoch, None) if self._is_due(now_wanted) else None), None

    def _is_due(self, now_wanted: bool) -> bool:
        now = time.monotonic()
        if self.interval is None or (now < self._next_due and not now_wanted):
            return False
        if self._has_enough_pending():
            return False
        if not now_wanted and self._pause_left() > 0:
            return False
        self._next_due = max(self._next_due + self.interval, now) if self._next_due <= now else now + self.interval
        return True

    def _begin(self, epoch: int, savepoint: SavepointRequest | None) -> CheckpointRequest:
        checkpoint_id, self._next_id = self._next_id, self._next_id + 1
        if savepoint is not None:
            directory: str | None = savepoint.directory
        else:
            directory = f"{self._store.url.rstrip('/')}/chk-{checkpoint_id}" if self._store is not None else None
        shares = self._incremental and savepoint is None and directory is not None and self._cleaner.begin_upload()
        request = CheckpointRequest(
            checkpoint_id,
            int(time.time() * 1000),
            directory,
            f"../{SHARED}" if shares else None,
            canonical=savepoint is not None and savepoint.canonical,
            savepoint=savepoint is not None,
            known_files=frozenset(self._known_files()) if shares else frozenset(),
            inline_limit=self._inline_limit,
        )
        waiting = set(range(self._slots))
        self._pending[checkpoint_id] = _Pending(request, epoch, time.monotonic(), waiting, {}, savepoint)
        self._tell_cleaner()
        return request

    def with_sources(self, request: CheckpointRequest, sources: dict[str, bytes]) -> None:
        """What the sources' enumerators hold as the checkpoint's epoch begins."""
        self._pending[request.checkpoint_id].sources.update(sources)

    def _tell_cleaner(self) -> None:
        """Say which files are needed, whenever that has changed."""
        files = set(self._of_others)
        for pending in self._pending.values():
            request = pending.request
            if request.directory is not None:
                files |= {location(request.directory, path) for path in request.known_files}
        self._cleaner.keep(self.completed, files, uploading=bool(self._pending))

    def _known_files(self) -> set[str]:
        return set().union(*(c.shared_files() for c in self.completed if not c.savepoint and c.job_id == self._job_id))

    def savepoint(self, directory: str | None, canonical: bool, stop: StopMode | None) -> SavepointRequest:
        """Ask for a savepoint, which the next epoch will be."""
        if self._batch:
            raise CheckpointError(f"job '{self._job_name}' runs in batch mode, in which there are no savepoints")
        parent = directory or self._savepoint_directory
        if not parent:
            raise CheckpointError(
                "no directory for the savepoint: name one, or set execution.checkpointing.savepoint-dir"
            )
        name = f"savepoint-{self._job_id[:6]}-{secrets.token_hex(6)}"
        request = SavepointRequest(f"{absolute(parent).rstrip('/')}/{name}", canonical, stop)
        with self._lock:
            if self._closed:
                raise CheckpointError("the job has ended")
            self._wanted.append(request)
        return request

    def _refuse_savepoints(self, why: str) -> None:
        with self._lock:
            while self._wanted:
                self._wanted.popleft().done.set_exception(CheckpointError(why))

    # What slots say

    def take_in(self, reports: list[SlotReport]) -> None:
        """Learn which parts are written. Raises if more checkpoints have failed than the job tolerates."""
        for report in reports:
            for snapshot in report.snapshots:
                self._take_in(snapshot)
        now = time.monotonic()
        for pending in list(self._pending.values()):
            if pending.writing is not None:
                wait([pending.writing], _METADATA_SECONDS)  # Mostly it is done at once.
                if pending.writing.done():
                    self._written(pending)
                    continue
            if now - pending.started > self._timeout:
                self._fail(pending, f"it was not complete after {self._timeout:g} s")

    def _take_in(self, snapshot: SlotSnapshot) -> None:
        pending = self._pending.get(snapshot.checkpoint_id)
        if pending is None:
            return  # It was given up meanwhile.
        if snapshot.error is not None:
            self._fail(pending, f"slot {snapshot.slot}: {snapshot.error}", counts=not snapshot.another_time)
            return
        pending.waiting_for.discard(snapshot.slot)
        pending.files.extend(snapshot.files)
        pending.operators.extend(snapshot.operators)
        pending.written += snapshot.written
        pending.stall = max(pending.stall, snapshot.sync_seconds)
        if not pending.waiting_for:
            pending.writing = self._in_thread(self._write_metadata, pending)

    @staticmethod
    def _in_thread(call: Callable[[_Pending], CheckpointMetadata], pending: _Pending) -> Future[CheckpointMetadata]:
        """Call in a new thread: one that hangs holds up neither the next checkpoint nor the end of the process."""
        future: Future[CheckpointMetadata] = Future()

        def run() -> None:
            try:
                future.set_result(call(pending))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name="checkpoint metadata", daemon=True).start()
        return future

    def _write_metadata(self, pending: _Pending) -> CheckpointMetadata:
        request = pending.request
        metadata = CheckpointMetadata(
            request.checkpoint_id,
            request.timestamp,
            self._job_id,
            self._job_name,
            request.savepoint,
            self._operators,
            tuple(sorted(pending.operators, key=lambda o: (o.uid, o.subtask))),
            tuple(pending.files),
            pending.sources,
            request.directory,
        )
        if request.directory is not None:
            open_checkpoint_store(request.directory).write(METADATA, metadata.to_bytes())
        return metadata

    def _written(self, pending: _Pending) -> None:
        assert pending.writing is not None
        request = pending.request
        try:
            metadata = pending.writing.result()
        except Exception as error:
            self._fail(pending, f"its metadata cannot be written: {error}")
            return
        self.completed.append(metadata)
        self.completed.sort(key=lambda c: c.checkpoint_id)
        del self._pending[request.checkpoint_id]
        self._last_end = time.monotonic()
        self._failures = 0
        self._last_completed = max(self._last_completed, request.checkpoint_id)
        self.counts["completed"] += 1
        self.statistics = CheckpointStatistics(
            request.checkpoint_id,
            metadata.path,
            request.savepoint,
            metadata.size,
            pending.written,
            self._last_end - pending.started,
            pending.stall,
        )
        savepoint = pending.savepoint
        if self.commits(request) or (savepoint is not None and savepoint.stop is not None):
            self._announce.append(request.checkpoint_id)
            if savepoint is not None and savepoint.stop is not None:
                self._stopped_with = request.checkpoint_id
            for older in [p for p in self._pending.values() if p.request.checkpoint_id < request.checkpoint_id]:
                if older.savepoint is None:
                    self._drop(older)
        self._subsume()
        if savepoint is not None:
            savepoint.done.set_result(request.directory or "")
            # Savepoints are their owner's, who may move them: there is something else to go back to soon.
            self._next_due = min(self._next_due, self._last_end)

    def _subsume(self) -> None:
        """Remove checkpoints that newer ones make superfluous. Savepoints are their owner's."""
        own = [c for c in self.completed if not c.savepoint or (self._claims and c is self._restored_from)]
        superfluous = own[: max(0, len(own) - self._retained)]
        savepoints = [c for c in self.completed if c.savepoint]
        latest = self.latest()
        gone = {id(c) for c in (*superfluous, *savepoints[:-1]) if c is not latest}
        self.completed = [c for c in self.completed if id(c) not in gone]
        self._tell_cleaner()
        for old in superfluous:
            self._cleaner.remove_checkpoint(old)
        if self._litters and self._incremental and self._own_directory and self._store and not self._pending:
            self._litters = False
            self._cleaner.sweep(self._store.url)

    # Failing

    def _drop(self, pending: _Pending) -> None:
        """Give a checkpoint up without counting it as a failure."""
        self._pending.pop(pending.request.checkpoint_id, None)
        self._give_up.append(pending.request.checkpoint_id)
        self._litters = True
        self._tell_cleaner()
        directory = pending.request.directory
        if directory is None:
            return
        if pending.writing is None:
            self._cleaner.remove_directory(directory)
        else:
            # Metadata that appears after all would make a checkpoint of it.
            pending.writing.add_done_callback(lambda _: self._cleaner.remove_directory(directory))

    def _fail(self, pending: _Pending, why: str, counts: bool = True) -> None:
        """Give a checkpoint up. If it counts, the job may fail for it."""
        self._drop(pending)
        self.counts["failed"] += 1
        text = f"checkpoint {pending.request.checkpoint_id} failed: {why}"
        if pending.savepoint is not None:
            pending.savepoint.done.set_exception(CheckpointError(text.replace("checkpoint", "savepoint", 1)))
            return
        self.last_failure = text
        if not counts:
            return
        self._failures += 1
        if self._failures > self._tolerable:
            self._failures = 0
            raise CheckpointFailuresError(
                f"{text} (execution.checkpointing.tolerable-failed-checkpoints is {self._tolerable})"
            )

    # What slots are to know

    def take_out(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The checkpoints that have become durable, and those that were given up, since the last call."""
        said = tuple(self._announce), tuple(self._give_up)
        self._announce, self._give_up = [], []
        return said

    # Going on after a failure

    def restored(self, checkpoint: CheckpointMetadata) -> None:
        """The job starts from this one."""
        self._restored_from = checkpoint
        self._next_id = max(self._next_id, checkpoint.checkpoint_id + 1)
        if not self._claims:
            self._of_others |= locations(checkpoint)
        if not self.completed:
            self.completed.append(checkpoint)
        self._tell_cleaner()

    def restart(self) -> CheckpointMetadata | None:
        """The job's processes are gone: give up what was on its way; gives the checkpoint to go on from."""
        self._wait_for_metadata()
        for pending in list(self._pending.values()):
            if pending.writing is not None and pending.writing.done():
                if pending.writing.exception() is None:
                    self._written(pending)
                    continue
            if pending.savepoint is not None:
                pending.savepoint.done.set_exception(
                    CheckpointError("the job failed before the savepoint was complete")
                )
            self._drop(pending)
        self._announce, self._give_up = [], []
        self._refuse_savepoints("the job failed before the savepoint was taken")
        if self.interval is not None:
            self._next_due = time.monotonic() + self.interval
        return self.latest()

    def _wait_for_metadata(self) -> None:
        """Give what is being written a chance: what it covers need not come again then."""
        wait([p.writing for p in self._pending.values() if p.writing is not None], _GIVE_UP_SECONDS)

    def latest(self) -> CheckpointMetadata | None:
        """The checkpoint to go on from."""
        candidates = self.completed
        if self._prefers_checkpoints:
            preferred = [c for c in candidates if not c.savepoint or c.checkpoint_id == self._stopped_with]
            candidates = preferred or candidates
        return candidates[-1] if candidates else None

    def discard(self, checkpoint: CheckpointMetadata) -> bool:
        """A checkpoint cannot be read; whether there is an older one."""
        self.completed = [c for c in self.completed if c is not checkpoint]
        self._of_others |= locations(checkpoint)  # Its owner may want to know what is wrong with it.
        self._tell_cleaner()
        return bool(self.completed)

    # The end

    def close(self, status: JobStatus, keep: bool = False) -> None:
        """The job is over: keep or remove its checkpoints as the configuration says, or keep them in any case."""
        self._wait_for_metadata()
        for pending in list(self._pending.values()):
            if pending.savepoint is not None:
                pending.savepoint.done.set_exception(CheckpointError("the job ended before the savepoint was complete"))
            self._drop(pending)
        with self._lock:
            self._closed = True
        self._refuse_savepoints("the job ended before the savepoint was taken")
        retention = ExternalizedCheckpointRetention
        keeps = keep or {
            JobStatus.FAILED: self._retention is not retention.NO_EXTERNALIZED_CHECKPOINTS,
            JobStatus.CANCELED: self._retention is retention.RETAIN_ON_CANCELLATION,
        }.get(status, False)
        if not keeps:
            remaining = [c for c in self.completed if not c.savepoint]
            self.completed = []
            self._tell_cleaner()
            for old in remaining:
                self._cleaner.remove_checkpoint(old)
        if self._store is not None and self._own_directory and self._next_id > 1:
            if self._litters:
                self._cleaner.sweep(self._store.url)
            self._cleaner.tidy_up(self._store.url)
        self._cleaner.close()
        if self._temporary is not None and not keeps:
            remove_scratch(self._temporary)
