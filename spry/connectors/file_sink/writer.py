"""Writes records to part files in buckets, and makes finished files visible.

A part file is *in progress* while records are written to it, under a hidden name. It is *pending* once its bucket has
rolled on to the next one, and *finished* when the checkpoint with its committable is complete: then it gets its name.
A checkpoint notes how long a file in progress was. A writer that goes on from there copies that much to a file of its
own and leaves the old one alone, to which a process that is thought dead may still write; the old one is removed when
no checkpoint that is going to be used knows it any more.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

from spry.common.serialization import BulkWriter
from spry.common.sink import (
    CommitRequest,
    Committer,
    CommittingSinkWriter,
    StatefulSinkWriter,
    WriterContext,
    WriterInitContext,
)
from spry.connectors.file_sink.buckets import BucketAssigner
from spry.connectors.file_sink.rolling import PartFileInfo
from spry.connectors.file_sink.settings import FileSinkSettings
from spry.connectors.file_sink.store import PartStore

__all__ = ["FileCommitter", "FileWriter", "OpenPart", "PartFile", "WriterMark"]

_IN_PROGRESS = ".inprogress"


@dataclass(frozen=True, slots=True, repr=False)
class PartFile:
    """A committable: a file that is complete, or one that nobody needs any more."""

    bucket: str
    hidden: str
    final: str | None
    """Its name to be; None if it is to be removed."""

    def __repr__(self) -> str:
        return f"file {self.final or self.hidden} of bucket '{self.bucket}'"


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A part of a writer's state: a file in progress."""

    bucket: str
    hidden: str
    length: int
    creation_time: int


@dataclass(frozen=True, slots=True)
class WriterMark:
    """A part of a writer's state: files of this writer with this number and higher ones are in no checkpoint."""

    writer: str
    count: int


class _Part(PartFileInfo):
    """The file that a bucket is writing to."""

    __slots__ = ("_bucket", "_created", "_stream", "_updated", "_writer", "final", "hidden", "known")

    def __init__(
        self, bucket: str, hidden: str, final: str, stream: BinaryIO, writer: BulkWriter[Any], created: int
    ) -> None:
        self.hidden = hidden
        self.final = final
        self.known = False
        """Whether a checkpoint may know it."""
        self._bucket = bucket
        self._stream = stream
        self._writer = writer
        self._created = created
        self._updated = created

    def get_bucket_id(self) -> str:
        return self._bucket

    def get_creation_time(self) -> int:
        return self._created

    def get_size(self) -> int:
        return self._stream.tell()

    def get_last_update_time(self) -> int:
        return self._updated

    def write(self, element: Any, now: int) -> None:
        self._writer.add_element(element)
        self._updated = now

    def finish(self, store: PartStore) -> PartFile:
        """The file is complete."""
        self._writer.finish()
        store.sync(self.hidden, self._stream)
        self._stream.close()
        return PartFile(self._bucket, self.hidden, self.final)

    def snapshot(self, store: PartStore) -> OpenPart:
        """What it takes to go on from here."""
        self._writer.flush()
        store.sync(self.hidden, self._stream)
        self.known = True
        return OpenPart(self._bucket, self.hidden, self._stream.tell(), self._created)

    def close(self) -> None:
        """Leave it as it is."""
        try:
            self._stream.close()
        except (OSError, ValueError):
            pass  # It is not going to be used as it is: what could not be written does not matter.


class _BucketContext(BucketAssigner.Context):
    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self.record = WriterContext()

    def current_processing_time(self) -> int:
        return self._clock()

    def current_watermark(self) -> int:
        return self.record.current_watermark

    def timestamp(self) -> int | None:
        return self.record.timestamp


class FileWriter(CommittingSinkWriter[Any, PartFile], StatefulSinkWriter[Any, Any]):
    """The writer of a :class:`spry.connectors.file_sink.FileSink` in one subtask."""

    def __init__(
        self, settings: FileSinkSettings, context: WriterInitContext, states: Iterable[OpenPart | WriterMark] = ()
    ) -> None:
        self._settings = settings
        self._store = settings.open_store()
        self._name = f"{context.get_subtask_id()}-{uuid.uuid4().hex[:12]}"
        self._count = 0
        self._clock = context.current_processing_time
        self._context = _BucketContext(self._clock)
        self._bucket_of = settings.bucket_assigner.get_bucket_id
        self._should_roll = settings.rolling_policy.should_roll_on_event
        self._parts: dict[str, _Part] = {}
        self._directories: set[str] = set()
        self._pending: list[PartFile] = []
        self._closed: list[str] = []
        """Files that are pending, and that no checkpoint knows yet."""
        self._next_check = self._clock() + settings.check_interval
        states = list(states)
        self._former = {state.writer: state.count for state in states if isinstance(state, WriterMark)}
        try:
            for state in states:
                if isinstance(state, OpenPart):
                    self._go_on(state)
        except BaseException:
            self.close()
            raise

    # Records

    def write(self, element: Any, context: WriterContext) -> None:
        self._context.record = context
        bucket = self._bucket_of(element, self._context)
        part = self._parts.get(bucket)
        if part is None:
            self._check(bucket, element)
            part = self._begin(bucket)
        elif self._should_roll(part, element):
            self._roll(bucket)
            part = self._begin(bucket)
        part.write(element, self._clock())

    def _check(self, bucket: object, element: Any) -> None:
        """Raise unless it is a path below the base path."""
        assigner = type(self._settings.bucket_assigner).__name__
        if not isinstance(bucket, str):
            raise TypeError(f"{assigner}.get_bucket_id gave {bucket!r} for {element!r:.200}: a bucket's id is a string")
        names = bucket.split("/")
        if bucket and (".." in names or "." in names or "" in names or "\0" in bucket):
            raise ValueError(
                f"{assigner}.get_bucket_id gave {bucket!r} for {element!r:.200}: a bucket's id is a path below "
                "the base path, such as '2024/05'"
            )

    # Files

    def _begin(self, bucket: str, created: int | None = None) -> _Part:
        directory = self._settings.directory(bucket)
        self._clear(directory)
        name = self._settings.file_name(self._name, self._count)
        hidden, final = f"{directory}/.{name}{_IN_PROGRESS}", f"{directory}/{name}"
        try:
            stream = self._store.create(hidden)
        except OSError as error:
            raise OSError(f"bucket '{bucket}': the file {hidden} cannot be made: {error}") from error
        self._count += 1
        now = self._clock() if created is None else created
        part = _Part(bucket, hidden, final, stream, self._settings.create_writer(stream), now)
        self._parts[bucket] = part
        return part

    def _roll(self, bucket: str) -> None:
        part = self._parts.pop(bucket)
        if not part.known:
            self._closed.append(part.hidden)
        self._pending.append(part.finish(self._store))

    def _go_on(self, state: OpenPart) -> None:
        """Take over the file in progress that a checkpoint knows."""
        if state.bucket in self._parts:
            self._roll(state.bucket)  # The bucket was several subtasks': it goes on with the last one's file.
        part = self._begin(state.bucket, state.creation_time)
        try:
            self._store.copy_start(state.hidden, state.length, part._stream)
        except OSError as error:
            raise OSError(
                f"bucket '{state.bucket}': the file {state.hidden}, in progress at the checkpoint, cannot be gone on "
                f"with: {error}. Has it been finished since, or removed?"
            ) from error
        self._pending.append(PartFile(state.bucket, state.hidden, None))

    def _clear(self, directory: str) -> None:
        """Remove what a failed attempt left in a directory after the checkpoint that this one goes on from."""
        if not self._former or directory in self._directories:
            return
        self._directories.add(directory)
        for name in self._store.names(directory):
            for writer, count in self._former.items():
                number = self._settings.number_of(name.removesuffix(_IN_PROGRESS).removeprefix("."), writer)
                if name.startswith(".") and number is not None and number >= count:
                    self._store.remove(f"{directory}/{name}")

    # Time

    def on_processing_time(self, now: int) -> None:
        if now < self._next_check:
            return
        self._next_check = now + self._settings.check_interval
        should_roll = self._settings.rolling_policy.should_roll_on_processing_time
        for bucket in [bucket for bucket, part in self._parts.items() if should_roll(part, now)]:
            self._roll(bucket)

    def next_timer(self) -> int | None:
        return self._next_check if self._parts else None

    # Checkpoints

    def flush(self, end_of_input: bool) -> None:
        if end_of_input:
            for bucket in list(self._parts):
                self._roll(bucket)

    def prepare_commit(self) -> list[PartFile]:
        should_roll = self._settings.rolling_policy.should_roll_on_checkpoint
        for bucket in [bucket for bucket, part in self._parts.items() if should_roll(part)]:
            self._roll(bucket)
        pending, self._pending, self._closed = self._pending, [], []
        return pending

    def snapshot_state(self, checkpoint_id: int) -> list[OpenPart | WriterMark]:
        parts = [part.snapshot(self._store) for part in self._parts.values()]
        return [WriterMark(self._name, self._count), *parts]

    def close(self) -> None:
        """Files in progress stay if a checkpoint knows them; nobody will ever ask for others."""
        for part in self._parts.values():
            part.close()
        for hidden in [*self._closed, *(part.hidden for part in self._parts.values() if not part.known)]:
            self._store.remove(hidden)
        self._parts.clear()
        self._closed.clear()


class FileCommitter(Committer[PartFile]):
    """Gives files their names."""

    def __init__(self, store: PartStore) -> None:
        self._store = store

    def commit(self, requests: list[CommitRequest[PartFile]]) -> None:
        for request in requests:
            part = request.get_committable()
            if part.final is None:
                self._store.remove(part.hidden)
                continue
            try:
                if not self._store.rename(part.hidden, part.final):
                    request.signal_already_committed()
            except FileNotFoundError as error:
                missing = FileNotFoundError(f"neither {part.hidden} nor {part.final} is there")
                if not request.is_recovered():
                    request.signal_failed_with_unknown_reason(missing)
                # Most likely it was finished before, and whoever reads such files has taken it away since.
                request.signal_failed_with_known_reason(missing.with_traceback(error.__traceback__))
