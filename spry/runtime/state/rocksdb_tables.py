"""Tables in RocksDB, with caches that make them nearly as quick as dicts for the keys that are in use.

Rows begin with two bytes of key group, so that the rows of a range of key groups lie together; then comes the key. What
is set stays in a cache and is written when the cache is full and before a snapshot.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, ItemsView, Iterable, Iterator, MutableMapping, ValuesView
from functools import cached_property
from itertools import groupby, islice
from typing import Any

from rocksdict import ReadOptions, WriteBatch, WriteOptions

from spry.common.errors import CheckpointError
from spry.runtime.state.row_keys import decode_key, key_bytes
from spry.runtime.state.schema import StateEncoder, decode_state
from spry.runtime.state.ttl import Ttl

__all__ = ["ABSENT", "RocksTable", "Rows", "Writer", "end_of", "is_atomic", "runs", "scan"]

ABSENT: Any = object()
"""Stands for what is not there, where None may be."""

_ATOMIC = frozenset({int, str, float, bool, bytes, type(None), complex})
_PROTOCOL = 5
_CARRIES_KEY = 0x4B
_MARK = bytes([_CARRIES_KEY])
_ROWS_PER_LOOK = 32
"""So many rows are swept between two looks at the clock."""


def is_atomic(value: Any) -> bool:
    """Whether nobody can change it."""
    cls = value.__class__
    if cls is not tuple:
        return cls in _ATOMIC
    return _ATOMIC.issuperset(map(type, value)) or all(map(is_atomic, value))


def end_of(prefix: bytes) -> bytes | None:
    """The first row key after all those that begin with the prefix; None if there is none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else None


class Rows:
    """The rows of one state: a column family, and what keys and values look like in it.

    The database is opened when it is first needed: until then a snapshot may take its place.
    """

    def __init__(
        self,
        connect: Callable[[], tuple[Any, Any, Any]],
        group_of: Callable[[Any], int],
        max_parallelism: int,
        encoder: StateEncoder,
        where: str,
        batch_size: int = 2 << 20,
    ) -> None:
        self._connect = connect
        self._group_of = group_of
        self._groups = [group.to_bytes(2, "big") for group in range(max_parallelism)]
        self._encoder = encoder
        self._where = where
        self.batch_size = batch_size

    @cached_property
    def _connection(self) -> tuple[Any, Any, Any]:
        return self._connect()

    @cached_property
    def family(self) -> Any:
        """The column family."""
        return self._connection[1]

    @cached_property
    def get(self) -> Callable[[bytes], bytes | None]:
        """Gives a row, None if there is none."""
        get: Callable[[bytes], bytes | None] = self.family.get
        return get

    def close(self) -> None:
        """Let go of the database."""
        if "_connection" in self.__dict__:
            self.family.close()
            for name in ("_connection", "family", "get"):
                self.__dict__.pop(name, None)
        self._connect = _closed

    # Keys

    def key(self, key: Any) -> bytes:
        """The row key of a key that has one row."""
        return self._groups[self._group_of(key)] + key_bytes(key)[0]

    def prefix(self, key: Any) -> bytes:
        """What the row keys of a key begin with that has several."""
        held = key_bytes(key)[0]
        return self._groups[self._group_of(key)] + len(held).to_bytes(4, "big") + held

    @staticmethod
    def prefix_of(row: bytes) -> bytes:
        """What :meth:`prefix` has put at the front of a row's key."""
        return row[: 6 + int.from_bytes(row[2:6], "big")]

    # Values

    def dumps(self, value: Any) -> bytes:
        """A value as bytes."""
        if is_atomic(value):
            return pickle.dumps(value, _PROTOCOL)
        try:
            return self._encoder.encode(value)
        except CheckpointError as error:
            raise CheckpointError(f"{self._where}: {error}") from None

    def row(self, key: Any, value: Any) -> tuple[bytes, bytes]:
        """The row of a key that has one row."""
        held, plain = key_bytes(key)
        payload = self.dumps(value)
        return self._groups[self._group_of(key)] + held, payload if plain else self._carry(key) + payload

    def payload(self, key: Any, value: Any) -> bytes:
        """What a row holds; with the key, if that cannot be read back from the row's key."""
        return self.dumps(value) if key_bytes(key)[1] else self._carry(key) + self.dumps(value)

    def _carry(self, key: Any) -> bytes:
        held = self.dumps(key)
        return _MARK + len(held).to_bytes(4, "big") + held

    @staticmethod
    def loads(payload: bytes) -> Any:
        """The value of a row."""
        try:
            if payload[0] == _CARRIES_KEY:
                return pickle.loads(memoryview(payload)[5 + int.from_bytes(payload[1:5], "big") :])
            return pickle.loads(payload)
        except (ImportError, AttributeError):
            return decode_state(Rows._split(payload)[1])

    @staticmethod
    def carried(payload: bytes) -> Any:
        """The key that a row carries, ``ABSENT`` if it does not need to."""
        if payload[0] != _CARRIES_KEY:
            return ABSENT
        return decode_state(Rows._split(payload)[0])

    @staticmethod
    def _split(payload: bytes) -> tuple[bytes, bytes]:
        if payload[0] != _CARRIES_KEY:
            return b"", payload
        end = 5 + int.from_bytes(payload[1:5], "big")
        return payload[5:end], payload[end:]

    # Reading and writing

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """All rows from a key on, up to another, as they are now."""
        return scan(self.family, start, end)

    def starting(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The rows whose keys begin so."""
        return scan(self.family, prefix, end_of(prefix))

    def writer(self) -> Writer:
        """Something to write with."""
        return Writer(self._connection, self.batch_size)

    def writes(self) -> int:
        """How many writes the database has seen."""
        count: int = self._connection[0].latest_sequence_number()
        return count

    def delete_all(self) -> None:
        """Remove every row."""
        database, _, handle = self._connection
        batch = WriteBatch(raw_mode=True)
        batch.delete_range(b"", b"\xff" * 8, handle)
        database.write(batch, _UNLOGGED)

    def decoded_prefix(self, prefix: bytes, payload: bytes) -> Any:
        """The key of a row whose key begins so."""
        key = self.carried(payload)
        return decode_key(prefix, 6)[0] if key is ABSENT else key

    def estimate(self) -> int:
        """About how many rows there are."""
        if "_connection" not in self.__dict__:
            return 0
        return self.family.property_int_value("rocksdb.estimate-num-keys") or 0


def _closed() -> tuple[Any, Any, Any]:
    raise RuntimeError("the database is closed")


def scan(source: Any, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
    """The rows of a column family or of a snapshot of one, from a key on, up to another."""
    options = ReadOptions()
    if end is not None:
        options.set_iterate_upper_bound(end)
    # Made now, not when the first row is asked for: it sees what there is now.
    return _holding(source.items(from_key=start or None, read_opt=options), options, source)


def _holding(rows: Iterator[tuple[bytes, bytes]], *needed: Any) -> Iterator[tuple[bytes, bytes]]:
    """An iterator of the binding points to the bounds in its options, but does not keep them alive."""
    yield from rows


def _unlogged() -> WriteOptions:
    # What is lost with the process comes back from a checkpoint: a log of its own would be written in vain.
    options: Any = WriteOptions()
    options.disable_wal = True
    given: WriteOptions = options
    return given


_UNLOGGED = _unlogged()


class Writer:
    """Writes rows in batches. Use as a context."""

    def __init__(self, connection: tuple[Any, Any, Any], batch_size: int) -> None:
        self._database, _, self._handle = connection
        self._limit = batch_size
        self._size = 0
        self._start()

    def _start(self) -> None:
        self._batch = WriteBatch(raw_mode=True)
        self._batch.set_default_column_family(self._handle)

    def put(self, row: bytes, payload: bytes) -> None:
        """Set a row."""
        self._batch[row] = payload
        self._size += len(row) + len(payload)
        if self._size > self._limit:
            self.flush()

    def delete(self, row: bytes) -> None:
        """Remove a row."""
        del self._batch[row]
        self._size += len(row)
        if self._size > self._limit:
            self.flush()

    def flush(self) -> None:
        """Write what there is."""
        if self._size:
            self._database.write(self._batch, _UNLOGGED)
            self._size = 0
            self._start()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is None:
            self.flush()


class RocksTable(MutableMapping[Any, Any]):
    """A table with a row per key.

    ``hot`` has what was touched since the last flush, and is all that most accesses need. Whoever is in a hurry may use
    it directly: a key is there if ``key in hot or load(key)``, and is set by ``hot[key] = value``.

    What is in ``hot`` counts as changed, for it may have been changed in place; but what cannot be changed is only
    written if it is another object than the one that was loaded.
    """

    def __init__(self, rows: Rows, bound: int) -> None:
        self.rows = rows
        self.hot: dict[Any, Any] = {}
        self.bound = bound
        """So many values stay in memory after a flush; before, there may be twice as many that are to be written."""
        self._limit = 2 * bound
        self._clean: dict[Any, Any] = {}
        """What was used before the last flush, as it is in the database."""
        self._loaded: dict[Any, Any] = {}
        """Values that cannot be changed, as they were loaded."""
        self._gone: set[Any] = set()
        """What is to be deleted, unless it is in ``hot`` again."""
        self._missing: set[Any] = set()
        """What the database certainly does not have."""
        self._cursor = b""

    # One key

    def load(self, key: Any) -> bool:
        """Bring what is not in ``hot`` there; False if there is nothing."""
        if key in self._gone or key in self._missing:
            return False
        if len(self.hot) + len(self._gone) + len(self._missing) >= self._limit:
            self.flush()
        value = self._clean.pop(key, ABSENT)
        if value is ABSENT:
            payload = self.rows.get(self.rows.key(key))
            if payload is None:
                self._missing.add(key)
                return False
            value = self.rows.loads(payload)
        self.hot[key] = value
        if is_atomic(value):
            self._loaded[key] = value
        return True

    def __contains__(self, key: Any) -> bool:
        return key in self.hot or self.load(key)

    def __getitem__(self, key: Any) -> Any:
        if key in self.hot or self.load(key):
            return self.hot[key]
        raise KeyError(key)

    def get(self, key: Any, default: Any = None) -> Any:
        hot = self.hot
        return hot[key] if key in hot or self.load(key) else default

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self.hot) >= self._limit:
            self.flush()  # Before, so that who gets what is set here may still change it.
        self.hot[key] = value

    def __delitem__(self, key: Any) -> None:
        if key not in self.hot and not self.load(key):
            raise KeyError(key)
        del self.hot[key]
        self._clean.pop(key, None)
        if key in self._missing:
            self._missing.remove(key)
        else:
            self._gone.add(key)

    # All of them

    def stored(self) -> Iterator[tuple[Any, Any]]:
        """Everything, as it is now. The table may change meanwhile."""
        self.flush()
        return self.decoded(self.rows.scan())

    def decoded(self, rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[Any, Any]]:
        """The keys and values that rows of this table say."""
        loads, carried = self.rows.loads, self.rows.carried
        for row, payload in rows:
            key = carried(payload)
            yield (decode_key(row, 2)[0] if key is ABSENT else key), loads(payload)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.stored())

    def items(self) -> ItemsView[Any, Any]:
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        return _Values(self)

    def __len__(self) -> int:
        self.flush()
        return sum(1 for _ in self.rows.scan())

    def __bool__(self) -> bool:
        return bool(self.hot) or next(self.stored(), None) is not None

    def copy(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Take in rows of a table of the same kind."""
        with self.rows.writer() as writer:
            for row, payload in rows:
                writer.put(row, payload)

    def clear(self) -> None:
        self.forget()
        self.rows.delete_all()

    def estimate(self) -> int:
        """About how many there are."""
        return self.rows.estimate() + len(self.hot)

    # The cache

    def cached(self) -> int:
        """How many values are in memory."""
        return len(self.hot) + len(self._clean)

    def forget(self) -> None:
        """Empty the cache, without writing."""
        self.hot.clear()
        self._clean.clear()
        self._loaded.clear()
        self._gone.clear()
        self._missing.clear()

    def flush(self) -> None:
        """Write what has changed."""
        hot, loaded, rows, clean = self.hot, self._loaded, self.rows, self._clean
        self._missing.clear()
        if not hot and not self._gone:
            return
        with rows.writer() as writer:
            for key in self._gone:
                if key not in hot:
                    writer.delete(rows.key(key))
                    clean.pop(key, None)
            for key, value in hot.items():
                if loaded.get(key, ABSENT) is not value:
                    writer.put(*rows.row(key, value))
        clean.update(hot)
        hot.clear()
        loaded.clear()
        self._gone.clear()
        self.trim(self.bound)

    def trim(self, size: int) -> None:
        """Keep no more than so many of the values that need not be written: those that were used last."""
        excess = len(self._clean) - size
        if excess > 0:
            self._clean = dict(islice(self._clean.items(), excess, None))

    # Time to live

    def sweep(self, ttl: Ttl, until: float) -> None:
        """Remove what has expired from the rows after those of the last sweep, until ``time.perf_counter()`` is so."""
        now = ttl.clock()
        with self.rows.writer() as writer:
            for count, (row, payload) in enumerate(self.rows.scan(self._cursor)):
                if count and count % ttl.query_time_after == 0:
                    now = ttl.clock()
                if count and count % _ROWS_PER_LOOK == 0 and time.perf_counter() >= until:
                    self._cursor = row
                    return
                self.sweep_row(row, payload, ttl, now, writer)
            self._cursor = b""

    def sweep_row(self, row: bytes, payload: bytes, ttl: Ttl, now: int, writer: Writer) -> None:
        """Remove what a row has that has expired. What is in ``hot`` is newer than the row."""
        ((key, held),) = self.decoded([(row, payload)])
        if key not in self.hot and key not in self._gone and ttl.rest(held, now) is None:
            writer.delete(row)
            self._clean.pop(key, None)


def runs(rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, Iterator[tuple[bytes, bytes]]]]:
    """The rows of keys that have several: (prefix, rows) by key."""
    return groupby(rows, lambda row: Rows.prefix_of(row[0]))


class _Items(ItemsView[Any, Any]):
    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self._mapping.stored()  # type: ignore[attr-defined, no-any-return]


class _Values(ValuesView[Any]):
    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping.stored())  # type: ignore[attr-defined]
