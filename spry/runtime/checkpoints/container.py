"""A snapshot file: the states of some subtasks, written once, read in parts.

Layout, in this order:

* ``SPRYSNAP`` and a byte that is the version of this layout;
* chunks, each a length, a CRC-32 (both four bytes, little endian) and a payload. The payload of keyed state is a
  pickled pair of lists, keys and values; of operator state it is one element; it may be compressed with zlib;
* the index, as JSON: for every state its operator, subtask and description, and where its chunks are. Each chunk of
  keyed state belongs to one key group, so that whoever needs some key groups reads only their chunks;
* the index's offset (eight bytes), length and CRC-32 (four bytes each), and ``SPRYSNAP`` again.
"""

from __future__ import annotations

import io
import json
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from spry.common.errors import CheckpointError, StateMigrationError
from spry.common.keys import key_group_of
from spry.runtime.state.meta import StateMeta
from spry.runtime.state.schema import StateEncoder, check_classes, decode_state

__all__ = ["SnapshotReader", "SnapshotWriter", "StatePart", "StoredState", "hash_fingerprint"]

_MAGIC = b"SPRYSNAP"
_VERSION = 1
_HEAD = struct.Struct("<II")
_FOOT = struct.Struct("<QII8s")
_ENTRIES = 1024
_NO_GROUP = -1


def hash_fingerprint() -> str:
    """What keys are hashed with. Key groups mean nothing to a process that hashes in another way."""
    return f"{sys.hash_info.algorithm}-{sys.hash_info.width}-{hash('spry'):x}"


@dataclass(slots=True)
class StatePart:
    """One state of one operator's subtask on its way into a snapshot."""

    meta: StateMeta
    entries: Callable[[], Iterable[Any]]
    """Of keyed state (key, value) pairs, of operator state elements."""
    keyed: bool = True
    namespaced: bool = False
    """Keys are pairs, of which the first decides on the key group."""
    store: str = ""
    """Which of the operator's backends the state is in."""
    count: int = 0
    """About how many entries there are."""


class SnapshotWriter:
    """Writes a snapshot file."""

    def __init__(self, stream: BinaryIO, compress: bool = False) -> None:
        self._stream = stream
        self._compress = compress
        self._states: list[dict[str, Any]] = []
        self._offset = 0
        self._write(_MAGIC + bytes([_VERSION]))

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._offset += len(data)

    def add(self, operator: str, subtask: int, part: StatePart, max_parallelism: int, where: str = "") -> None:
        """Write a state; ``where`` is how messages call it."""
        encoder = StateEncoder()
        extents: list[list[int]] = []
        chunks = _by_key_group(part, max_parallelism) if part.keyed else _in_order(part)
        for group, count, content in chunks:
            try:
                payload = encoder.encode(content)
            except CheckpointError as error:
                raise CheckpointError(
                    f"{where or operator}, state '{part.meta.name}': {_culprit(content, error)}"
                ) from None
            if self._compress:
                payload = zlib.compress(payload, 1)
            extents.append([group, self._offset, len(payload), count])
            self._write(_HEAD.pack(len(payload), zlib.crc32(payload)))
            self._write(payload)
        self._states.append(
            {
                "operator": operator,
                "subtask": subtask,
                "store": part.store,
                "keyed": part.keyed,
                "namespaced": part.namespaced,
                **part.meta.to_json(),
                "classes": encoder.classes,
                "extents": extents,
            }
        )

    def finish(self) -> int:
        """Write the index; gives the size of the file."""
        index = {"fingerprint": hash_fingerprint(), "compressed": self._compress, "states": self._states}
        payload = json.dumps(index, separators=(",", ":")).encode()
        offset = self._offset
        self._write(payload)
        self._write(_FOOT.pack(offset, len(payload), zlib.crc32(payload), _MAGIC))
        return self._offset


def _by_key_group(part: StatePart, max_parallelism: int) -> Iterator[tuple[int, int, Any]]:
    """The entries in runs of one key group each."""
    waiting: dict[int, tuple[list[Any], list[Any]]] = {}
    namespaced = part.namespaced
    for key, value in part.entries():
        group = key_group_of(key[0] if namespaced else key, max_parallelism)
        run = waiting.get(group)
        if run is None:
            run = waiting[group] = ([], [])
        keys, values = run
        keys.append(key)
        values.append(value)
        if len(keys) >= _ENTRIES:
            del waiting[group]
            yield group, len(keys), run
    for group, run in sorted(waiting.items()):
        yield group, len(run[0]), run


def _in_order(part: StatePart) -> Iterator[tuple[int, int, Any]]:
    """The elements one by one: at a restore each may go to another subtask."""
    for element in part.entries():
        yield _NO_GROUP, 1, element


def _culprit(content: Any, error: CheckpointError) -> str:
    """Which entry it is that cannot be pickled."""
    from spry.runtime.failures import cut_repr

    if not (isinstance(content, tuple) and len(content) == 2 and isinstance(content[0], list)):
        return f"the element {cut_repr(content)} cannot be written: {error}"
    for key, value in zip(*content, strict=True):
        try:
            StateEncoder().encode((key, value))
        except CheckpointError as own:
            return f"the value {cut_repr(value)} of key {cut_repr(key)} cannot be written: {own}"
    return str(error)


@dataclass(frozen=True, slots=True)
class StoredState:
    """A state in a snapshot file."""

    operator: str
    subtask: int
    store: str
    keyed: bool
    namespaced: bool
    meta: StateMeta
    classes: dict[str, dict[str, str]] = field(repr=False)
    extents: tuple[tuple[int, int, int, int], ...] = field(repr=False)
    """(key group or -1, offset, length, entries) of every chunk."""

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(extent[2] for extent in self.extents)

    @property
    def count(self) -> int:
        """Of keys, or of elements."""
        return sum(extent[3] for extent in self.extents)


class SnapshotReader:
    """Reads a snapshot file."""

    def __init__(self, stream: BinaryIO, name: str, original: Callable[[], BinaryIO] | None = None) -> None:
        self._stream = stream
        self._name = name
        self._original = original
        """If this is a copy: opens what it is a copy of, for when it is damaged."""
        self.size = stream.seek(0, io.SEEK_END)
        if self.size < _FOOT.size + len(_MAGIC) + 1:
            raise self._corrupt(f"it has {self.size} bytes only")
        stream.seek(0)
        head = stream.read(len(_MAGIC) + 1)
        if head[:-1] != _MAGIC:
            raise self._corrupt("it is not a snapshot file")
        if head[-1] != _VERSION:
            raise CheckpointError(f"the file {name} has version {head[-1]} of the layout; this Spry reads {_VERSION}")
        stream.seek(self.size - _FOOT.size)
        offset, length, checksum, magic = _FOOT.unpack(stream.read(_FOOT.size))
        if magic != _MAGIC or offset + length > self.size:
            raise self._corrupt("its end is missing")
        stream.seek(offset)
        payload = stream.read(length)
        if zlib.crc32(payload) != checksum:
            raise self._corrupt("its index does not have the checksum that it should")
        index = json.loads(payload)
        self.fingerprint: str = index["fingerprint"]
        self._compressed: bool = index["compressed"]
        self.states = [
            StoredState(
                given["operator"],
                given["subtask"],
                given["store"],
                given["keyed"],
                given["namespaced"],
                StateMeta.from_json(given),
                given["classes"],
                tuple(tuple(extent) for extent in given["extents"]),
            )
            for given in index["states"]
        ]

    def _corrupt(self, why: str) -> CheckpointError:
        return CheckpointError(f"the file {self._name} is corrupt: {why}")

    def entries(
        self,
        state: StoredState,
        groups: range | None,
        max_parallelism: int,
        where: str = "",
        decode: Callable[[bytes], Any] = decode_state,
    ) -> Iterator[tuple[Any, Any]]:
        """The (key, value) pairs of a keyed state that belong to these key groups (None: all)."""
        if decode is decode_state:
            check_classes(where, state.classes)
        same = self.fingerprint == hash_fingerprint()
        for group, offset, length, _ in state.extents:
            if groups is not None and same and group not in groups:
                continue
            keys, values = self._decoded(decode, offset, length, where)
            if groups is None or same:
                yield from zip(keys, values, strict=True)
                continue
            for key, value in zip(keys, values, strict=True):
                if key_group_of(key[0] if state.namespaced else key, max_parallelism) in groups:
                    yield key, value

    def elements(self, state: StoredState, where: str = "", decode: Callable[[bytes], Any] = decode_state) -> list[Any]:
        """The elements of an operator state."""
        if decode is decode_state:
            check_classes(where, state.classes)
        return [self._decoded(decode, offset, length, where) for _, offset, length, _ in state.extents]

    def _decoded(self, decode: Callable[[bytes], Any], offset: int, length: int, where: str) -> Any:
        """What is in a chunk; errors say ``where`` it belongs."""
        place = f"{where}: " if where else ""
        try:
            return decode(self._chunk(offset, length))
        except CheckpointError as error:
            raise type(error)(f"{place}{error}") from None
        except OSError:
            raise  # The store has failed, which says nothing of the checkpoint.
        except Exception as error:
            raise StateMigrationError(
                f"{place}a value in the checkpoint cannot be read any more: {type(error).__name__}: {error}"
            ) from error

    def _chunk(self, offset: int, length: int) -> bytes:
        self._stream.seek(offset)
        head = self._stream.read(_HEAD.size)
        payload = self._stream.read(length)
        if len(head) < _HEAD.size or len(payload) < length or _HEAD.unpack(head) != (length, zlib.crc32(payload)):
            if self._original is not None:
                self._stream, self._original = self._original(), None
                return self._chunk(offset, length)
            raise self._corrupt(f"what is at byte {offset} does not have the checksum that it should")
        return zlib.decompress(payload) if self._compressed else payload
