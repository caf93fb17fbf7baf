"""Taking a slot's snapshot, with the slot standing still for as short as can be.

What is small is written at once and travels with the slot's report. Otherwise the process forks: the child sees
everything as it is at this moment, writes it down with plain file operations, and ends, while the slot goes on.
Databases make snapshots of their own, which a thread copies. The slot asks now and then what has become of it all.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from spry.common.errors import CheckpointError
from spry.common.plan import CheckpointRequest, FileHandle, OperatorSnapshot, SlotSnapshot
from spry.runtime.checkpoints.container import SnapshotWriter, StatePart
from spry.runtime.checkpoints.storage import CheckpointStore, open_checkpoint_store
from spry.runtime.scratch import remove_stale_siblings

__all__ = ["OperatorParts", "SnapshotTaker"]

_AT_ONCE_ENTRIES = 5000
"""Up to so many values, in all entries together, are written while the slot waits: about what a fork would cost."""
_CHARACTERS = 64
"""So many characters of a text, or bytes, weigh as much as one value."""
_LONGEST_ERROR = 8000


@dataclass(slots=True)
class OperatorParts:
    """What one operator's subtask has to write."""

    uid: str
    name: str
    subtask: int
    max_parallelism: int
    parts: list[StatePart]
    databases: list[Any] = field(default_factory=list)
    """Backends that make snapshots by themselves."""
    key_groups: range = range(0)


def _is_small(parts: Iterable[StatePart]) -> bool:
    """Whether writing it all takes no longer than a fork. Few keys may hold a lot."""
    weight = 0
    for part in parts:
        weight += part.count
        if weight > _AT_ONCE_ENTRIES:
            return False
        for entry in part.entries():
            weight += _weight(entry[1] if part.keyed else entry, 2)
            if weight > _AT_ONCE_ENTRIES:
                return False
    return True


def _weight(value: Any, depth: int) -> int:
    """About how many values a value is made of."""
    if isinstance(value, str | bytes | bytearray):
        return len(value) // _CHARACTERS
    if not isinstance(value, list | tuple | dict | set | frozenset):
        return 0
    if len(value) > _AT_ONCE_ENTRIES or not depth:
        return len(value)
    inner = value.values() if isinstance(value, dict) else value
    return len(value) + sum(_weight(one, depth - 1) for one in inner)


class _Job:
    """Something that is being written. Gives its handles when it is done."""

    def poll(self) -> list[FileHandle] | None:
        """The handles, None if it is not done yet; :class:`CheckpointError` if it failed."""
        raise NotImplementedError

    def discard(self) -> None:
        """Nobody wants it any more."""


class _Done(_Job):
    def __init__(self, handles: list[FileHandle]) -> None:
        self._handles = handles

    def poll(self) -> list[FileHandle]:
        return self._handles


class _InThread(_Job):
    def __init__(self, future: Future[list[FileHandle]], never_begun: Callable[[], None]) -> None:
        self._future = future
        self._never_begun = never_begun

    def poll(self) -> list[FileHandle] | None:
        return self._future.result() if self._future.done() else None

    def discard(self) -> None:
        if self._future.cancel():
            self._never_begun()  # Otherwise the call cleans up behind itself.


class _InChild(_Job):
    """A forked process that writes a file and says how large it is."""

    def __init__(self, path: Path, write: Callable[[BinaryIO], int], done: Callable[[int], _Job]) -> None:
        self._path = path
        self._done = done
        self._next: _Job | None = None
        self._said = b""
        self._read, answer = os.pipe()
        os.set_blocking(self._read, False)
        gc.collect(0)
        self._child = os.fork()
        if self._child == 0:
            _be_child(path, write, answer)
        os.close(answer)

    def poll(self) -> list[FileHandle] | None:
        if self._next is None:
            try:
                while block := os.read(self._read, 65536):
                    self._said += block
            except BlockingIOError:
                return None
            self._reap(0)
            answer: dict[str, Any] = {
                "error": "the process that wrote the snapshot was killed, maybe for want of memory"
            }
            if self._said:
                answer = json.loads(self._said)
            if "error" in answer:
                self._path.unlink(missing_ok=True)
                raise CheckpointError(answer["error"])
            self._next = self._done(answer["size"])
        return self._next.poll()

    def _reap(self, options: int) -> None:
        os.close(self._read)
        self._read = -1
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._child, options)

    def discard(self) -> None:
        if self._read >= 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, 9)
            self._reap(0)
            self._path.unlink(missing_ok=True)
        elif self._next is not None:
            self._next.discard()


def _be_child(path: Path, write: Callable[[BinaryIO], int], answer: int) -> None:
    """The life of the forked process. It touches nothing of the slot's threads, and holds none of its connections."""
    said: dict[str, Any] = {"error": "unknown"}
    try:
        gc.disable()
        for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
            if int(name) > 2 and int(name) != answer:
                with contextlib.suppress(OSError):
                    os.close(int(name))
        said = {"size": _write_file(path, write)}
    except BaseException as error:
        said = {"error": _explain(error, path)[:_LONGEST_ERROR]}
    finally:
        try:
            os.write(answer, json.dumps(said).encode())
        finally:
            os._exit(0)


def _write_file(path: Path, write: Callable[[BinaryIO], int]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb", buffering=1 << 20) as file:
        size = write(file)
        file.flush()
        os.fsync(file.fileno())
    return size


def _explain(error: BaseException, path: Any) -> str:
    if isinstance(error, CheckpointError):
        return str(error)
    if isinstance(error, OSError):
        return f"{path} cannot be written: {error.strerror or error}"
    return f"{type(error).__name__}: {error}"


@dataclass(slots=True)
class _Pending:
    request: CheckpointRequest
    operators: list[OperatorSnapshot]
    jobs: list[_Job]
    started: float
    sync_seconds: float
    handles: list[FileHandle] = field(default_factory=list)


class SnapshotTaker:
    """Takes the snapshots of one slot."""

    def __init__(
        self,
        slot: int,
        attempt: int,
        compress: bool = False,
        local: Path | None = None,
        memory_limit: int = 5 << 20,
        in_background: bool = True,
    ) -> None:
        self._slot = slot
        self._attempt = attempt
        self._compress = compress
        self._in_background = in_background
        self._local = local
        """Where copies stay for recovery on this machine."""
        if local is not None:
            remove_stale_siblings(local)
        self._memory_limit = memory_limit
        """How many bytes the slot may put into a checkpoint that has no directory."""
        self._pending: dict[int, _Pending] = {}
        self._failed: list[SlotSnapshot] = []
        self._threads: ThreadPoolExecutor | None = None

    @property
    def is_busy(self) -> bool:
        return bool(self._pending)

    def take(
        self, request: CheckpointRequest, parts: list[OperatorParts], operators: list[OperatorSnapshot], started: float
    ) -> None:
        """Begin to write; ``poll`` tells what becomes of it."""
        jobs: list[_Job] = []
        try:
            for operator in parts:
                for database in operator.databases:
                    jobs.append(self._database(request, operator, database))
            jobs.append(self._states(request, parts))
        except BaseException as error:
            for job in jobs:
                job.discard()
            self.fail(request, _explain(error, request.directory), started)
            return
        self._pending[request.checkpoint_id] = _Pending(request, operators, jobs, started, time.monotonic() - started)

    def fail(self, request: CheckpointRequest, why: str, started: float, another_time: bool = False) -> None:
        """The snapshot could not even be begun."""
        spent = time.monotonic() - started
        failed = SlotSnapshot(request.checkpoint_id, self._slot, error=why, sync_seconds=spent, seconds=spent)
        failed.another_time = another_time
        self._failed.append(failed)

    def poll(self) -> list[SlotSnapshot]:
        """The snapshots that are written, or have failed, since the last call."""
        out, self._failed = self._failed, []
        for checkpoint_id, pending in list(self._pending.items()):
            snapshot = self._progress(pending)
            if snapshot is not None:
                del self._pending[checkpoint_id]
                out.append(snapshot)
        return out

    def _progress(self, pending: _Pending) -> SlotSnapshot | None:
        snapshot = SlotSnapshot(pending.request.checkpoint_id, self._slot, sync_seconds=pending.sync_seconds)
        try:
            for job in list(pending.jobs):
                handles = job.poll()
                if handles is not None:
                    pending.jobs.remove(job)
                    pending.handles.extend(handles)
            if pending.jobs:
                return None
        except Exception as error:
            for job in pending.jobs:
                job.discard()
            snapshot.error = _explain(error, pending.request.directory)
        else:
            snapshot.files = pending.handles
            snapshot.operators = pending.operators
            known = pending.request.known_files
            snapshot.written = sum(_written(handle, known) for handle in pending.handles)
        snapshot.seconds = time.monotonic() - pending.started
        return snapshot

    def abort(self, checkpoint_id: int) -> None:
        """The checkpoint was given up."""
        pending = self._pending.pop(checkpoint_id, None)
        for job in pending.jobs if pending is not None else ():
            job.discard()
        self._forget_local({checkpoint_id})

    def completed(self, checkpoint_id: int) -> None:
        """The checkpoint is durable: local copies of those before it are of no use any more."""
        self._forget_local(set(range(checkpoint_id - 1000, checkpoint_id)))

    def _forget_local(self, ids: set[int]) -> None:
        if self._local is not None and self._local.is_dir():
            for found in self._local.iterdir():
                number = found.name.partition("-")[0]
                if number.isdigit() and int(number) in ids:
                    found.unlink(missing_ok=True)

    def close(self, for_good: bool = True) -> None:
        """The slot is over, and the job, too, if it is for good."""
        for checkpoint_id in list(self._pending):
            self.abort(checkpoint_id)
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
        if for_good and self._local is not None:
            shutil.rmtree(self._local, ignore_errors=True)

    # States in memory

    def _states(self, request: CheckpointRequest, parts: list[OperatorParts]) -> _Job:
        operators = tuple((o.uid, o.subtask) for o in parts if o.parts)
        if not operators:
            return _Done([])

        def write(stream: BinaryIO) -> int:
            writer = SnapshotWriter(stream, self._compress)
            for operator in parts:
                for part in operator.parts:
                    where = f"operator '{operator.name}'"
                    writer.add(operator.uid, operator.subtask, part, operator.max_parallelism, where)
            return writer.finish()

        small = _is_small(part for operator in parts for part in operator.parts)
        if small or request.directory is None or not self._in_background:
            buffer = io.BytesIO()
            size = write(buffer)
            return self._bytes(request, operators, buffer.getvalue(), size)
        store = open_checkpoint_store(request.directory)
        name = self._name()
        path = self._target(request, store, name)

        def written(size: int) -> _Job:
            kept = str(path) if self._local is not None else None
            handle = FileHandle(operators, size, name, local=kept)
            if store.local_path is not None and self._local is None:
                return _Done([handle])
            return self._in_thread(lambda: self._upload(store, path, handle), partial(path.unlink, missing_ok=True))

        return _InChild(path, write, written)

    def _name(self) -> str:
        return f"slot-{self._slot}-{self._attempt}-{uuid.uuid4().hex[:12]}"

    def _target(self, request: CheckpointRequest, store: CheckpointStore, name: str) -> Path:
        """Where the child writes: to the place itself if it is on this machine."""
        if self._local is not None:
            self._local.mkdir(parents=True, exist_ok=True)
            return self._local / f"{request.checkpoint_id}-{name}"
        if store.local_path is not None:
            return store.local_path / name
        return Path(tempfile.gettempdir()) / f"spry-{name}"

    def _upload(self, store: CheckpointStore, path: Path, handle: FileHandle) -> list[FileHandle]:
        assert handle.path is not None
        try:
            store.upload(path, handle.path)
        finally:
            if handle.local is None:
                path.unlink(missing_ok=True)
        return [handle]

    def _bytes(
        self, request: CheckpointRequest, operators: tuple[tuple[str, int], ...], data: bytes, size: int
    ) -> _Job:
        if request.directory is None:
            if size > self._memory_limit:
                raise CheckpointError(
                    f"a slot's state has {size:,} bytes, and checkpoints in the driver's memory at most "
                    f"{self._memory_limit:,} (spry.checkpoint.max-state-size): name a directory with "
                    "execution.checkpointing.dir"
                )
            return _Done([FileHandle(operators, size, inline=data)])
        if size <= request.inline_limit and not request.savepoint:
            return _Done([FileHandle(operators, size, inline=data)])
        store, name = open_checkpoint_store(request.directory), self._name()

        def write() -> list[FileHandle]:
            store.write(name, data)
            return [FileHandle(operators, size, name)]

        return self._in_thread(write)

    def _in_thread(self, call: Callable[[], list[FileHandle]], never_begun: Callable[[], None] = lambda: None) -> _Job:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(2, thread_name_prefix="spry-snapshot")
        return _InThread(self._threads.submit(call), never_begun)

    # Databases

    def _database(self, request: CheckpointRequest, operator: OperatorParts, database: Any) -> _Job:
        if request.directory is None:
            raise CheckpointError("checkpoints of RocksDB state need a directory: set execution.checkpointing.dir")
        store = open_checkpoint_store(request.directory)
        database.prepare()
        if request.canonical:
            view = database.frozen()
            return self._in_thread(self._canonical(store, operator, view, database), view.close)
        directory = Path(tempfile.mkdtemp(prefix="spry-native-", dir=database.directory))
        snapshot = directory / "db"
        remove = partial(shutil.rmtree, directory, ignore_errors=True)
        try:
            database.native_snapshot(snapshot)
        except BaseException:
            remove()
            raise
        description = {
            "operator": operator.uid,
            "subtask": operator.subtask,
            "store": database.name,
            "namespaced": database.namespaced,
            "groups": [operator.key_groups.start, operator.key_groups.stop],
            "states": [meta.to_json() for meta in database.metas()],
        }

        def copy() -> list[FileHandle]:
            try:
                files = []
                for path in sorted(snapshot.iterdir()):
                    files.append(self._copy_file(request, store, path, database))
                size = sum(size for _, _, size in files)
                return [FileHandle(((operator.uid, operator.subtask),), size, database={**description, "files": files})]
            finally:
                remove()

        return self._in_thread(copy, remove)

    def _copy_file(
        self, request: CheckpointRequest, store: CheckpointStore, path: Path, database: Any
    ) -> tuple[str, str, int]:
        """Copy a file of a database, unless an earlier checkpoint has done so; its name, where it is, and its size."""
        size = path.stat().st_size
        if request.shared is not None and path.suffix == ".sst":
            target = f"{request.shared}/{database.unique_name(path.name)}"
            if target not in request.known_files:
                store.upload(path, target)
        else:
            target = f"{self._name()}-{path.name}"
            store.upload(path, target)
        return path.name, target, size

    def _canonical(
        self, store: CheckpointStore, operator: OperatorParts, view: Any, database: Any
    ) -> Callable[[], list[FileHandle]]:
        name = self._name()

        def write(stream: BinaryIO) -> int:
            writer = SnapshotWriter(stream, self._compress)
            for meta in view.metas():
                part = StatePart(meta, partial(view.entries, meta.name), True, database.namespaced, database.name)
                writer.add(
                    operator.uid, operator.subtask, part, operator.max_parallelism, f"operator '{operator.name}'"
                )
            return writer.finish()

        def run() -> list[FileHandle]:
            path = Path(tempfile.gettempdir()) / f"spry-{name}"
            try:
                size = _write_file(path, write)
                store.upload(path, name)
            finally:
                view.close()
                path.unlink(missing_ok=True)
            return [FileHandle(((operator.uid, operator.subtask),), size, name)]

        return run


def _written(handle: FileHandle, known: frozenset[str]) -> int:
    if handle.database is None:
        return handle.size
    return sum(size for _, path, size in handle.database["files"] if path not in known)
