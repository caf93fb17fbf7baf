"""Reading a checkpoint: what of it belongs to a subtask, at whatever parallelism."""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from spry.common.elements import MIN_TIMESTAMP
from spry.common.errors import CheckpointError, StateMigrationError
from spry.common.keys import key_group_range
from spry.common.plan import FileHandle, OperatorSnapshot, RestoreState
from spry.runtime.checkpoints.container import SnapshotReader, StoredState
from spry.runtime.checkpoints.context import CONTENTS, OPERATOR, StateInitializationContext
from spry.runtime.checkpoints.storage import open_checkpoint_store
from spry.runtime.state.meta import StateKind, StateMeta

if TYPE_CHECKING:
    from spry.runtime.context import SubtaskContext

__all__ = ["Restorer", "share_of"]

_MISSING_PAUSES = (0.2, 0.8)


def share_of(parts: dict[int, list[Any]], old: int, subtask: int, parallelism: int) -> list[Any]:
    """A subtask's share of a list state: what it had, or an equal share if the parallelism has changed.

    >>> share_of({0: ["a", "b", "c"], 1: ["d"]}, 2, 0, 3), share_of({0: ["a", "b", "c"], 1: ["d"]}, 2, 2, 3)
    (['a', 'b'], ['d'])
    """
    if old == parallelism:
        return parts.get(subtask, [])
    everything = [element for index in sorted(parts) for element in parts[index]]
    size, larger = divmod(len(everything), parallelism)
    start = subtask * size + min(subtask, larger)
    return everything[start : start + size + (subtask < larger)]


class Restorer:
    """Gives the operators of a slot what a checkpoint has for them. Files stay open until it is closed."""

    def __init__(self, state: RestoreState) -> None:
        self._state = state
        self._store = open_checkpoint_store(state.directory) if state.directory is not None else None
        self._open = ExitStack()
        self._readers: dict[int, SnapshotReader] = {}

    def close(self) -> None:
        self._open.close()

    def operator(self, uid: str) -> list[OperatorSnapshot]:
        """What is known of an operator's subtasks, by subtask."""
        return sorted((o for o in self._state.operators if o.uid == uid), key=lambda o: o.subtask)

    def watermark(self, uid: str, subtask: int, parallelism: int) -> OperatorSnapshot | None:
        """How far event time had come at an operator, and whether it had finished; None if it was not there."""
        known = self.operator(uid)
        if not known:
            return None
        if len(known) == parallelism:
            return known[subtask]
        running = [o for o in known if not o.finished]
        lowest = min((o.watermark for o in running or known), default=MIN_TIMESTAMP)
        idle = all(o.idle for o in running) if running else False
        return OperatorSnapshot(uid, known[0].name, subtask, lowest, idle, not running)

    def restore(self, context: SubtaskContext) -> StateInitializationContext:
        """Fill an operator's backends; gives what else there is for it."""
        uid, vertex = context.operator.uid, context.vertex
        groups = key_group_range(context.subtask, vertex.max_parallelism, vertex.parallelism)
        old = self._state.parallelism.get(uid)
        if old is None:
            return StateInitializationContext(self._state.checkpoint_id)
        where = f"operator '{context.operator.name}'"
        keyed: dict[str, list[tuple[Any, Any]]] = {}
        lists: dict[tuple[str, str], tuple[StateMeta, dict[int, list[Any]]]] = {}
        for handle in self._state.files:
            if handle.database is not None:
                if handle.database["operator"] == uid:
                    self._adopt(context, handle, groups)
                continue
            if not any(operator == uid for operator, _ in handle.operators):
                continue
            reader = self._reader(handle)
            for state in reader.states:
                if state.operator != uid:
                    continue
                place = f"{where}, state '{state.meta.name}'"
                if not state.keyed:
                    _, parts = lists.setdefault((state.store, state.meta.name), (state.meta, {}))
                    parts[state.subtask] = reader.elements(state, place)
                elif state.store == OPERATOR:
                    entries = reader.entries(state, groups, vertex.max_parallelism, place)
                    keyed.setdefault(state.meta.name, []).extend(entries)
                else:
                    self._fill(context, reader, state, groups, place, keyed)
        own: dict[str, list[Any]] = {}
        unions: dict[str, list[Any]] = {}
        for (store, name), (meta, parts) in lists.items():
            elements = self._elements(meta, parts, old, context.subtask, vertex.parallelism)
            if store != OPERATOR:
                context.operator_states.restore(meta, elements)
            elif meta.kind is StateKind.UNION_LIST:
                unions[name] = elements
            else:
                own[name] = elements
        known = self.watermark(uid, context.subtask, vertex.parallelism)
        return StateInitializationContext(
            self._state.checkpoint_id, own, unions, keyed, known.watermark if known is not None else None
        )

    @staticmethod
    def _elements(meta: StateMeta, parts: dict[int, list[Any]], old: int, subtask: int, parallelism: int) -> list[Any]:
        if meta.kind is StateKind.UNION_LIST:
            return [element for index in sorted(parts) for element in parts[index]]
        if meta.kind is StateKind.BROADCAST:
            return parts.get(subtask % old, [])
        return share_of(parts, old, subtask, parallelism)

    def _fill(
        self,
        context: SubtaskContext,
        reader: SnapshotReader,
        state: StoredState,
        groups: range,
        place: str,
        keyed: dict[str, list[tuple[Any, Any]]],
    ) -> None:
        for backend in context.keyed_backends:
            if backend.name == state.store:
                entries = reader.entries(state, groups, context.vertex.max_parallelism, place)
                backend.restore(state.meta, entries)
                return
        if state.store == CONTENTS:  # Of windows, which another backend keeps in another way.
            entries = reader.entries(state, groups, context.vertex.max_parallelism, place)
            keyed.setdefault(state.meta.name, []).extend(entries)
            return
        raise StateMigrationError(
            f"{place}: the operator was another kind of operator when the checkpoint was taken: give it another uid"
        )

    # Files

    def _reader(self, handle: FileHandle) -> SnapshotReader:
        known = self._readers.get(id(handle))
        if known is None:
            known = self._readers[id(handle)] = self._open_reader(handle)
        return known

    def _open_reader(self, handle: FileHandle) -> SnapshotReader:
        if handle.inline is not None:
            return SnapshotReader(
                io.BytesIO(handle.inline), f"in the metadata of checkpoint {self._state.checkpoint_id}"
            )
        assert self._store is not None and handle.path is not None
        name = f"{self._store.url.rstrip('/')}/{handle.path}"
        if handle.local is not None and Path(handle.local).is_file():
            with contextlib.suppress(CheckpointError, OSError):  # It is a copy only.
                copy = self._open.enter_context(open(handle.local, "rb"))  # noqa: SIM115
                reader = SnapshotReader(copy, name, partial(self._open_file, name, handle.path))
                if reader.size == handle.size:
                    return reader
        reader = SnapshotReader(self._open_file(name, handle.path), name)
        if reader.size != handle.size:
            raise CheckpointError(f"the file {name} has {reader.size} bytes and should have {handle.size}")
        return reader

    def _open_file(self, name: str, path: str) -> BinaryIO:
        assert self._store is not None
        for pause in (*_MISSING_PAUSES, None):
            try:
                return self._open.enter_context(self._store.open(path))
            except FileNotFoundError:
                if pause is not None:
                    time.sleep(pause)  # A store that is away for a moment has not lost its files.
        raise CheckpointError(f"the file {name} of checkpoint {self._state.checkpoint_id} is missing")

    # Databases

    def _adopt(self, context: SubtaskContext, handle: FileHandle, groups: range) -> None:
        database = handle.database
        assert database is not None and self._store is not None
        held = range(*database["groups"])
        if not _overlap(held, groups):
            return
        backend = next((b for b in context.keyed_backends if b.name == database["store"] and b.has_files), None)
        if backend is None:
            raise StateMigrationError(
                f"operator '{context.operator.name}': checkpoint {self._state.checkpoint_id} was taken with the state "
                "backend 'rocksdb' and can only be restored with it: take a savepoint in canonical form to change "
                "the backend"
            )
        metas = [StateMeta.from_json(meta) for meta in database["states"]]
        with tempfile.TemporaryDirectory(prefix="spry-restore-") as temporary:
            directory = Path(temporary) / "db"
            directory.mkdir()
            for name, path, size in database["files"]:
                self._fetch(path, size, directory / name)
            backend.adopt(directory, metas, groups, held.start >= groups.start and held.stop <= groups.stop)

    def _fetch(self, path: str, size: int, target: Path) -> None:
        assert self._store is not None
        name = f"{self._store.url.rstrip('/')}/{path}"
        source = self._open_file(name, path)
        with open(target, "wb") as file:
            for block in _blocks(source):
                file.write(block)
        source.close()
        if target.stat().st_size != size:
            raise CheckpointError(f"the file {name} has {target.stat().st_size} bytes and should have {size}")


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _blocks(stream: Any) -> Iterator[bytes]:
    while block := stream.read(1 << 20):
        yield block
