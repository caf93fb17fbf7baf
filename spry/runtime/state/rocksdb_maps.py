"""Map state in RocksDB: a row per entry, so that an access touches one entry, however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from spry.runtime.state.keyed import MapStateOfTable
from spry.runtime.state.rocksdb_tables import ABSENT, RocksTable, Rows, Writer, is_atomic, runs
from spry.runtime.state.row_keys import decode_key, key_bytes
from spry.runtime.state.ttl import Ttl, TtlMapState

__all__ = ["MapStateOfRocks", "RocksMapTable", "TtlMapStateOfRocks"]

_AT_ONCE = 1000
"""So many entries of a map are read at once; if there are more, the others are read as they are asked for."""


class _Touched:
    """What was touched of one key's map since the last flush."""

    __slots__ = ("gone", "held", "void")

    def __init__(self, void: bool = False) -> None:
        self.held: dict[Any, Any] = {}
        self.gone: set[Any] = set()
        self.void = void
        """Whether the database's entries do not count any more."""


class RocksMapTable(RocksTable):
    """A table of maps, as a whole and by entries. ``hot`` has what was touched of them."""

    hot: dict[Any, _Touched]
    _clean: dict[Any, dict[Any, Any]]

    def __init__(self, rows: Rows, bound: int) -> None:
        super().__init__(rows, bound)
        self._waiting = 0
        """About how many entries a flush has to write."""
        self._kept = 0
        """How many entries are in ``_clean``."""

    def load(self, key: Any) -> bool:
        raise NotImplementedError("maps are loaded by entries")

    # Entries

    def find(self, key: Any, entry: Any) -> Any:
        """An entry's value, or ``ABSENT``."""
        touched = self.hot.get(key)
        if touched is not None:
            if entry in touched.held:
                return touched.held[entry]
            if touched.void or entry in touched.gone:
                return ABSENT
        clean = self._clean.get(key)
        if clean is not None and entry in clean:
            return clean[entry]
        self._make_room()
        payload = self.rows.get(self._row(self.rows.prefix(key), entry))
        value = ABSENT if payload is None else self.rows.loads(payload)
        if value is ABSENT or is_atomic(value):
            self._keep(key, entry, value)
        else:
            self._touch(key).held[entry] = value  # It may be changed in place.
        return value

    def put(self, key: Any, entry: Any, value: Any) -> None:
        """Set an entry."""
        self._make_room()
        touched = self.hot.get(key)
        if touched is None:
            touched = self._touch(key)
        touched.held[entry] = value
        self._waiting += 1

    def remove(self, key: Any, entry: Any) -> None:
        """Remove an entry, if it is there."""
        self._make_room()
        touched = self._touch(key)
        touched.held.pop(entry, None)
        touched.gone.add(entry)

    def entries(self, key: Any) -> Iterator[tuple[Any, Any]]:
        """All entries of a map as they are now, also if it changes meanwhile."""
        touched = self.hot.get(key)
        if touched is None:
            return self._stored(key)
        held = dict(touched.held)
        if touched.void:
            return iter(held.items())
        hidden = held.keys() | touched.gone
        return chain(held.items(), (pair for pair in self._stored(key) if pair[0] not in hidden))

    def _stored(self, key: Any) -> Iterator[tuple[Any, Any]]:
        prefix = self.rows.prefix(key)
        rows = self.rows.starting(prefix)  # Made here, not when the first row is asked for.
        return (self._entry(prefix, row, payload) for row, payload in rows)

    def discard(self, key: Any) -> None:
        """Remove a map, if there is one."""
        self._make_room()
        self._kept -= len(self._clean.pop(key, ()))
        self.hot[key] = _Touched(void=True)
        self._waiting += 1

    def _touch(self, key: Any) -> _Touched:
        self._waiting += 1
        return self.hot.setdefault(key, _Touched())

    # Rows

    def _row(self, prefix: bytes, entry: Any) -> bytes:
        return prefix + key_bytes(entry)[0]

    def _entry(self, prefix: bytes, row: bytes, payload: bytes) -> tuple[Any, Any]:
        carried = self.rows.carried(payload)
        entry = decode_key(row, len(prefix))[0] if carried is ABSENT else carried[1]
        return entry, self.rows.loads(payload)

    # Maps as a whole

    def get(self, key: Any, default: Any = None) -> Any:
        return dict(self.entries(key)) or default

    def __contains__(self, key: Any) -> bool:
        return next(self.entries(key), None) is not None

    def __getitem__(self, key: Any) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.discard(key)
        for entry, held in value.items():
            self.put(key, entry, held)

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        self.discard(key)

    def decoded(self, rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[Any, Any]]:
        for prefix, group in runs(rows):
            entries: dict[Any, Any] = {}
            for row, payload in group:
                entry, value = self._entry(prefix, row, payload)
                entries[entry] = value
            yield self._key(prefix, payload), entries

    def _key(self, prefix: bytes, payload: bytes) -> Any:
        carried = self.rows.carried(payload)
        return decode_key(prefix, 6)[0] if carried is ABSENT else carried[0]

    def __len__(self) -> int:
        self.flush()
        return sum(1 for _ in runs(self.rows.scan()))

    def estimate(self) -> int:
        return self.rows.estimate() + self._waiting

    def __bool__(self) -> bool:
        return next(self.stored(), None) is not None

    # The cache

    def _make_room(self) -> None:
        if self._waiting >= self._limit:
            self.flush()
        elif self._kept >= self._limit:
            self.trim(self.bound)

    def _keep(self, key: Any, entry: Any, value: Any) -> None:
        self._clean.setdefault(key, {})[entry] = value
        self._kept += 1

    def cached(self) -> int:
        return self._kept + self._waiting

    def forget(self) -> None:
        super().forget()
        self._waiting = self._kept = 0

    def flush(self) -> None:
        rows = self.rows
        if not self.hot:
            return
        with rows.writer() as writer:
            for key, touched in self.hot.items():
                prefix = rows.prefix(key)
                clean = self._clean.pop(key, {})
                self._kept -= len(clean)
                if touched.void:
                    for row, _ in rows.starting(prefix):
                        writer.delete(row)
                else:
                    for entry in touched.gone:
                        if entry not in touched.held and clean.get(entry) is not ABSENT:
                            writer.delete(self._row(prefix, entry))
                for entry, value in touched.held.items():
                    writer.put(self._row(prefix, entry), rows.payload((key, entry), value))
                clean.update(dict.fromkeys(touched.gone, ABSENT))
                clean.update(touched.held)
                if clean:
                    self._clean[key] = clean
                    self._kept += len(clean)
        self.hot.clear()
        self._waiting = 0
        self.trim(self.bound)

    def trim(self, size: int) -> None:
        while self._kept > size:
            key = next(iter(self._clean))
            kept = self._clean[key]
            excess = self._kept - size
            self._kept -= len(kept)
            if len(kept) > excess:
                self._clean[key] = kept = dict(islice(kept.items(), excess, None))
                self._kept += len(kept)
            else:
                del self._clean[key]

    # Time to live

    def sweep_row(self, row: bytes, payload: bytes, ttl: Ttl, now: int, writer: Writer) -> None:
        prefix = self.rows.prefix_of(row)
        entry, (_, stamp) = self._entry(prefix, row, payload)
        if not ttl.is_expired(stamp, now):
            return
        key = self._key(prefix, payload)
        touched = self.hot.get(key)
        if touched is not None and (touched.void or entry in touched.held or entry in touched.gone):
            return
        writer.delete(row)
        clean = self._clean.get(key, {})
        if entry in clean:
            clean[entry] = ABSENT


def _listed(entries: Iterator[Any]) -> Iterable[Any]:
    """A list, if there are not too many."""
    first = list(islice(entries, _AT_ONCE))
    return first if len(first) < _AT_ONCE else chain(first, entries)


class MapStateOfRocks(MapStateOfTable):
    """A map of which every access touches only its entry."""

    __slots__ = ()
    _table: RocksMapTable

    def clear(self) -> None:
        self._table.discard(self._current.key)

    def get(self, key: Any) -> Any:
        found = self._table.find(self._current.key, key)
        return None if found is ABSENT else found

    def put(self, key: Any, value: Any) -> None:
        self._table.put(self._current.key, key, value)

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        for key, value in dict_value.items():
            self._table.put(self._current.key, key, value)

    def remove(self, key: Any) -> None:
        self._table.remove(self._current.key, key)

    def contains(self, key: Any) -> bool:
        return self._table.find(self._current.key, key) is not ABSENT

    def items(self) -> Iterable[tuple[Any, Any]]:
        return _listed(self._table.entries(self._current.key))

    def keys(self) -> Iterable[Any]:
        return _listed(key for key, _ in self._table.entries(self._current.key))

    def values(self) -> Iterable[Any]:
        return _listed(value for _, value in self._table.entries(self._current.key))

    def is_empty(self) -> bool:
        return self._current.key not in self._table


class TtlMapStateOfRocks(TtlMapState):
    """A map whose entries expire one by one, and of which an access touches only its entry."""

    _table: RocksMapTable

    def clear(self) -> None:
        self._table.discard(self._current.key)

    def _find(self, key: Any) -> Any:
        table, current, ttl = self._table, self._current.key, self._ttl
        held = table.find(current, key)
        if held is ABSENT:
            return ABSENT
        value, stamp = held
        now = ttl.clock()
        if ttl.is_expired(stamp, now):
            table.remove(current, key)
            return value if ttl.shows_expired else ABSENT
        if ttl.updates_on_read:
            table.put(current, key, (value, now))
        return value

    def _met(self) -> Iterator[tuple[Any, Any]]:
        """The entries that may be shown; what the rules say about entries that are met is done to each."""
        table, current, ttl = self._table, self._current.key, self._ttl
        now = ttl.clock()
        for key, (value, stamp) in table.entries(current):
            if ttl.is_expired(stamp, now):
                table.remove(current, key)
                if not ttl.shows_expired:
                    continue
            elif ttl.updates_on_read:
                table.put(current, key, (value, now))
            yield key, value

    def _all(self) -> list[tuple[Any, Any]]:
        return list(self._met())

    def get(self, key: Any) -> Any:
        found = self._find(key)
        return None if found is ABSENT else found

    def contains(self, key: Any) -> bool:
        return self._find(key) is not ABSENT

    def put(self, key: Any, value: Any) -> None:
        self._table.put(self._current.key, key, self._stamped(value))

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        for key, value in dict_value.items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        self._table.remove(self._current.key, key)

    def is_empty(self) -> bool:
        return self._current.key not in self._table
