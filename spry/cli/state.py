"""``spry state``: looking into checkpoints and savepoints, without the program that they are of."""

from __future__ import annotations

import argparse
import io
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from spry.common.errors import CheckpointError
from spry.common.plan import FileHandle
from spry.runtime.checkpoints.container import SnapshotReader, StoredState
from spry.runtime.checkpoints.metadata import CheckpointMetadata, find_checkpoint, load_metadata
from spry.runtime.checkpoints.storage import open_checkpoint_store
from spry.runtime.state.schema import decode_shown

__all__ = ["state"]

_WIDTH = 400


def state(arguments: argparse.Namespace) -> int:
    """Carry the command out; gives the exit code."""
    try:
        metadata = load_metadata(find_checkpoint(arguments.path))
        kind = "Savepoint" if metadata.savepoint else "Checkpoint"
        print(f"{kind} {metadata.checkpoint_id} of job {metadata.job_id} ({metadata.job_name}), {metadata.path}")
        operators = sorted(metadata.operators.items(), key=lambda item: item[1].name)
        wanted = [uid for uid, info in operators if arguments.operator in (None, uid, info.name)]
        if not wanted:
            known = ", ".join(f"'{info.name}' (uid {uid})" for uid, info in operators)
            raise CheckpointError(f"there is no operator '{arguments.operator}' in it, but {known}")
        for uid in wanted:
            _show(metadata, uid, arguments)
    except (CheckpointError, OSError) as error:
        sys.stderr.write(f"spry: {error}\n")
        return 1
    return 0


def _show(metadata: CheckpointMetadata, uid: str, arguments: argparse.Namespace) -> None:
    info = metadata.operators[uid]
    print(f"\n{info.name}  uid {uid}, parallelism {info.parallelism} of at most {info.max_parallelism}")
    if uid in metadata.sources:
        print(f"  enumerator of the source: {len(metadata.sources[uid])} bytes")
    found: dict[tuple[str, str], list[tuple[FileHandle, StoredState]]] = {}
    for handle in metadata.files:
        if handle.database is not None:
            if handle.database["operator"] == uid:
                names = ", ".join(given["name"] for given in handle.database["states"])
                subtask = handle.database["subtask"]
                print(f"  subtask {subtask}: RocksDB files of {handle.size} bytes (states: {names})")
        elif any(operator == uid for operator, _ in handle.operators):
            with _reader(metadata, handle) as reader:
                for stored in reader.states:
                    if stored.operator == uid:
                        found.setdefault((stored.store, stored.meta.name), []).append((handle, stored))
    for (_, name), parts in sorted(found.items()):
        if arguments.state is not None and arguments.state != name:
            continue
        count, size = sum(part.count for _, part in parts), sum(part.size for _, part in parts)
        what = "keys" if parts[0][1].keyed else "elements"
        ttl = ", expires" if parts[0][1].meta.ttl else ""
        print(f"  {name}  ({parts[0][1].meta.kind.value}{ttl})  {count} {what}, {size} bytes")
        if arguments.what == "cat":
            _print_entries(metadata, parts, arguments.limit)


def _print_entries(metadata: CheckpointMetadata, parts: list[tuple[FileHandle, StoredState]], limit: int) -> None:
    shown = 0
    for handle, stored in parts:
        with _reader(metadata, handle) as reader:
            for text in _entries(reader, stored):
                if shown == limit:
                    print("    ...")
                    return
                print(f"    {text}")
                shown += 1


def _entries(reader: SnapshotReader, stored: StoredState) -> Iterator[str]:
    if not stored.keyed:
        yield from (_cut(repr(element)) for element in reader.elements(stored, decode=decode_shown))
        return
    for key, value in reader.entries(stored, None, 1, decode=decode_shown):
        yield f"{_cut(repr(key))} -> {_cut(repr(value))}"


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


@contextmanager
def _reader(metadata: CheckpointMetadata, handle: FileHandle) -> Iterator[SnapshotReader]:
    if handle.inline is not None:
        yield SnapshotReader(io.BytesIO(handle.inline), "in the metadata")
        return
    assert metadata.directory is not None and handle.path is not None
    store = open_checkpoint_store(metadata.directory)
    try:
        stream = store.open(handle.path)
    except FileNotFoundError:
        raise CheckpointError(f"the file {metadata.directory}/{handle.path} is missing") from None
    with stream:
        try:
            yield SnapshotReader(stream, f"{metadata.directory}/{handle.path}")
        except pickle.UnpicklingError as error:
            raise CheckpointError(f"the file {metadata.directory}/{handle.path} is corrupt: {error}") from None
