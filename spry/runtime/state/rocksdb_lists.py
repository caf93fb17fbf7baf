"""List state in RocksDB: a row for each time that something was appended to a list and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from spry.runtime.state.keyed import ListStateOfTable
from spry.runtime.state.rocksdb_tables import RocksTable, Rows, Writer, runs
from spry.runtime.state.ttl import Ttl, TtlListState

__all__ = ["ListStateOfRocks", "RocksListTable", "TtlListStateOfRocks"]

_MANY_ROWS = 32
"""A list that is read from so many rows is written as one again, unless they are large."""
_LARGE_ROW = 1000


class RocksListTable(RocksTable):
    """A table of lists, which can be appended to without being read.

    ``hot`` has lists that were set as a whole. What was appended to others waits for the next flush, which writes it as
    a row of its own, numbered by the database's count of writes.
    """

    def __init__(self, rows: Rows, bound: int) -> None:
        super().__init__(rows, bound)
        self._tails: dict[Any, list[Any]] = {}
        self._waiting = 0
        """About how many elements and keys a flush has to write."""
        self._kept = 0
        """How many elements are in ``_clean``."""

    # One key

    def load(self, key: Any) -> bool:
        raise NotImplementedError("a list that is read does not become hot")

    def append(self, key: Any, values: Iterable[Any]) -> None:
        """Add to the end of a list."""
        self._make_room()
        if key in self._gone:
            target = self.hot.setdefault(key, [])
        else:
            target = self.hot[key] if key in self.hot else self._tails.setdefault(key, [])
        size = len(target)
        target.extend(values)
        self._waiting += len(target) - size

    def get(self, key: Any, default: Any = None) -> Any:
        if key in self.hot:
            return self.hot[key]
        if key in self._gone:
            return default
        stored = self._clean.get(key)
        if stored is None:
            stored = self._read(key)
        tail = self._tails.get(key)
        return (stored + tail if tail else stored) or default

    def _read(self, key: Any) -> list[Any]:
        stored: list[Any] = []
        count = 0
        for _, payload in self.rows.starting(self.rows.prefix(key)):
            stored.extend(self.rows.loads(payload))
            count += 1
        if count >= _MANY_ROWS and len(stored) < count * _LARGE_ROW:
            stored.extend(self._tails.pop(key, ()))
            self.hot[key] = stored
            self._waiting += len(stored)
        elif stored:
            if self._kept > self._limit:
                self.trim(self.bound)
            self._keep(key, stored)
        return stored

    def __contains__(self, key: Any) -> bool:
        return key in self._tails or self.get(key) is not None

    def __getitem__(self, key: Any) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.discard(key)
        if value:
            self.hot[key] = value
            self._waiting += len(value)

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        self.discard(key)

    def discard(self, key: Any) -> None:
        """Remove a list, if there is one."""
        self._make_room()
        self._tails.pop(key, None)
        self._drop(key)
        self.hot.pop(key, None)
        self._gone.add(key)
        self._waiting += 1

    # All of them

    def decoded(self, rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[Any, Any]]:
        for prefix, group in runs(rows):
            whole: list[Any] = []
            for _, payload in group:
                whole.extend(self.rows.loads(payload))
            yield self.rows.decoded_prefix(prefix, payload), whole

    def copy(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        # Numbered anew: below what this database will number rows with, for each row that is copied is a write.
        first = self.rows.writes()
        super().copy((row[:-8] + n.to_bytes(8, "big"), payload) for n, (row, payload) in enumerate(rows, first))

    def __len__(self) -> int:
        self.flush()
        return sum(1 for _ in runs(self.rows.scan()))

    def __bool__(self) -> bool:
        return bool(self._tails) or super().__bool__()

    def estimate(self) -> int:
        return self.rows.estimate() + len(self.hot) + len(self._tails)

    # The cache

    def _make_room(self) -> None:
        if self._waiting >= self._limit:
            self.flush()

    def _keep(self, key: Any, stored: list[Any]) -> None:
        self._clean[key] = stored
        self._kept += len(stored)

    def _drop(self, key: Any) -> None:
        self._kept -= len(self._clean.pop(key, ()))

    def cached(self) -> int:
        return self._kept + self._waiting

    def forget(self) -> None:
        super().forget()
        self._tails.clear()
        self._waiting = self._kept = 0

    def flush(self) -> None:
        hot, tails, rows = self.hot, self._tails, self.rows
        if not (hot or tails or self._gone):
            return
        number = rows.writes().to_bytes(8, "big")
        with rows.writer() as writer:
            for key in {*self._gone, *hot}:
                for row, _ in rows.starting(rows.prefix(key)):
                    writer.delete(row)
            for key, values in chain(hot.items(), tails.items()):
                writer.put(rows.prefix(key) + number, rows.payload(key, values))
        for key, tail in tails.items():
            if key in self._clean:
                self._clean[key].extend(tail)
                self._kept += len(tail)
        for key, values in hot.items():
            self._keep(key, values)
        hot.clear()
        tails.clear()
        self._gone.clear()
        self._waiting = 0
        self.trim(self.bound)

    def trim(self, size: int) -> None:
        while self._kept > size:
            self._drop(next(iter(self._clean)))

    # Time to live

    def sweep_row(self, row: bytes, payload: bytes, ttl: Ttl, now: int, writer: Writer) -> None:
        ((key, held),) = self.decoded([(row, payload)])
        if key in self.hot or key in self._gone:
            return
        left = ttl.rest(held, now)
        if left is held:
            return
        self._drop(key)
        if left is None:
            writer.delete(row)
        else:
            writer.put(row, self.rows.payload(key, left))


class ListStateOfRocks(ListStateOfTable):
    """A list that is appended to without being read."""

    __slots__ = ()
    _table: RocksListTable

    def clear(self) -> None:
        self._table.discard(self._current.key)

    def add(self, value: Any) -> None:
        if value is None:
            raise ValueError("None cannot be added to a list state")
        self._table.append(self._current.key, (value,))

    def add_all(self, values: list[Any]) -> None:
        if values:
            self._table.append(self._current.key, values)


class TtlListStateOfRocks(TtlListState):
    """A list whose elements expire one by one, and that is appended to without being read."""

    _table: RocksListTable

    def clear(self) -> None:
        self._table.discard(self._current.key)

    def _append(self, values: list[Any]) -> None:
        now = self._ttl.clock()
        self._table.append(self._current.key, [(value, now) for value in values])

    def update(self, values: list[Any]) -> None:
        self._table.discard(self._current.key)
        if values:
            self._append(values)
