"""Time to live: state that expires.

Every value, list element and map entry is kept as ``(value, time of its last update)``. What has expired is not shown
any more and goes when it is met; what nobody meets goes by clean-up: a few entries per access, or when a full snapshot
is written, or (in RocksDB) in sweeps between epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from spry.common.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    MapState,
    ReducingState,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from spry.common.state_ttl import StateTtlConfig
from spry.runtime.blocks import detach
from spry.runtime.clock import Clock
from spry.runtime.state.meta import StateKind

if TYPE_CHECKING:
    from spry.runtime.state.keyed import KeyContext

__all__ = ["Ttl"]

_GONE = object()

Table = MutableMapping[Any, Any]


class Ttl:
    """The rules for one state that expires."""

    def __init__(self, config: StateTtlConfig, kind: StateKind, clock: Clock) -> None:
        strategies = config.get_cleanup_strategies()
        incremental = strategies.get_incremental_cleanup_strategy()
        compaction = strategies.get_rocksdb_compact_filter_cleanup_strategy()
        self.kind = kind
        self.clock = clock
        self.millis: int = config.get_ttl().to_milliseconds()
        self.updates_on_read = config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        self.shows_expired = config.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        self.cleans_full_snapshots: bool = strategies.in_full_snapshot()
        self.cleans_incrementally = incremental is not None and incremental.get_cleanup_size() > 0
        self.cleans_for_every_record = incremental is not None and incremental.run_cleanup_for_every_record()
        self.cleans_in_compaction = compaction is not None
        self.query_time_after: int = compaction.get_query_time_after_num_entries() if compaction is not None else 1000
        self._size: int = incremental.get_cleanup_size() if incremental is not None else 0
        self._table: Table | None = None
        self._round: Iterator[Any] = iter(())

    @staticmethod
    def of(descriptor: StateDescriptor, kind: StateKind, clock: Clock) -> Ttl | None:
        """The rules that a descriptor asks for; None if its state does not expire."""
        config = descriptor.ttl_config
        return Ttl(config, kind, clock) if config.is_enabled() else None

    # Whether something has expired

    def is_expired(self, stamp: int, now: int) -> bool:
        """Whether a value that was updated then has expired."""
        return stamp + self.millis <= now

    def rest(self, held: Any, now: int) -> Any:
        """What is left of what a table holds for a key; ``None`` if nothing is. ``held`` itself if nothing expired."""
        oldest = now - self.millis
        if self.kind is StateKind.LIST:
            kept = [pair for pair in held if pair[1] > oldest]
            return held if len(kept) == len(held) else kept or None
        if self.kind is StateKind.MAP:
            left = {key: pair for key, pair in held.items() if pair[1] > oldest}
            return held if len(left) == len(held) else left or None
        return held if held[1] > oldest else None

    def unexpired(self, items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        """The items of a table without what has expired."""
        now = self.clock()
        for key, held in items:
            left = self.rest(held, now)
            if left is not None:
                yield key, left

    # Clean-up, a few entries at a time

    def attach(self, table: Table) -> None:
        """Clean this table with every access."""
        self._table = table

    def clean(self) -> None:
        """Look at the next few entries, and remove what has expired."""
        table = self._table
        if table is None:
            return
        now = self.clock()
        for _ in range(self._size):
            key = next(self._round, _GONE)
            if key is _GONE:
                self._round = iter(list(table))  # As of now: the table changes while it is gone through.
                return
            held = table.get(key)
            if held is None:
                continue
            left = self.rest(held, now)
            if left is None:
                del table[key]
            elif left is not held:
                table[key] = left

    # States

    def create_state(self, descriptor: StateDescriptor, table: Table, current: KeyContext) -> Any:
        """The state object for a descriptor."""
        if isinstance(descriptor, ReducingStateDescriptor):
            function = descriptor.reduce_function
            return TtlReducingState(self, table, current, getattr(function, "reduce", function))
        if isinstance(descriptor, AggregatingStateDescriptor):
            return TtlAggregatingState(self, table, current, descriptor.agg_function)
        if isinstance(descriptor, ValueStateDescriptor):
            return TtlValueState(self, table, current, descriptor.get_default_value())
        return (TtlListState if self.kind is StateKind.LIST else TtlMapState)(self, table, current)


class _TtlState:
    """What states that expire share."""

    def __init__(self, ttl: Ttl, table: Table, current: KeyContext) -> None:
        self._ttl = ttl
        self._table = table
        self._current = current
        self._accessed: Callable[[], None] = ttl.clean if ttl.cleans_incrementally else _nothing

    def clear(self) -> None:
        self._accessed()
        self._table.pop(self._current.key, None)

    def _stamped(self, value: Any) -> tuple[Any, int]:
        return value, self._ttl.clock()

    def _single(self) -> Any:
        """The one value of the current key as it may be shown; None if there is none."""
        self._accessed()
        key = self._current.key
        held = self._table.get(key)
        if held is None:
            return None
        value, stamp = held
        ttl = self._ttl
        now = ttl.clock()
        if ttl.is_expired(stamp, now):
            self._table.pop(key, None)
            return value if ttl.shows_expired else None
        if ttl.updates_on_read:
            self._table[key] = (value, now)
        return value

    def _live(self) -> Any:
        """The one value of the current key if it may be shown, to be updated."""
        self._accessed()
        held, ttl = self._table.get(self._current.key), self._ttl
        if held is None or (ttl.is_expired(held[1], ttl.clock()) and not ttl.shows_expired):
            return None
        return held[0]

    def _merged(self, one: tuple[Any, int], other: tuple[Any, int], merge: Callable[[Any, Any], Any]) -> Any:
        """Two values with their times as one. What has expired does not count, and the time begins anew."""
        ttl = self._ttl
        now = ttl.clock()
        live = [value for value, stamp in (one, other) if ttl.shows_expired or not ttl.is_expired(stamp, now)]
        if not live:
            return one
        return (merge(*live) if len(live) == 2 else live[0]), now


class TtlValueState(_TtlState, ValueState[Any]):
    """A value that expires."""

    def __init__(self, ttl: Ttl, table: Table, current: KeyContext, default: Any) -> None:
        super().__init__(ttl, table, current)
        self._default = default

    def value(self) -> Any:
        found = self._single()
        return found if found is not None or self._default is None else detach(self._default)

    def update(self, value: Any) -> None:
        self._accessed()
        if value is None:
            self._table.pop(self._current.key, None)
        else:
            self._table[self._current.key] = self._stamped(value)


class TtlListState(_TtlState, ListState[Any]):
    """A list whose elements expire one by one."""

    def get(self) -> Iterable[Any]:
        self._accessed()
        key, ttl = self._current.key, self._ttl
        held = self._table.get(key)
        if not held:
            return []
        now = ttl.clock()
        left = ttl.rest(held, now)
        if left is None:
            self._table.pop(key, None)
        elif ttl.updates_on_read:
            self._table[key] = [(value, now) for value, _ in left]
        elif left is not held and not ttl.shows_expired:
            self._table[key] = left
        shown = held if ttl.shows_expired else left or ()
        return [value for value, _ in shown]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def _append(self, values: list[Any]) -> None:
        now, key = self._ttl.clock(), self._current.key
        held = self._table.get(key) or []
        held.extend([(value, now) for value in values])
        self._table[key] = held

    def add(self, value: Any) -> None:
        if value is None:
            raise ValueError("None cannot be added to a list state")
        self._accessed()
        self._append([value])

    def add_all(self, values: list[Any]) -> None:
        self._accessed()
        if values:
            self._append(values)

    def update(self, values: list[Any]) -> None:
        self._accessed()
        self._table.pop(self._current.key, None)
        if values:
            self._append(values)

    def merged(self, one: Any, other: Any) -> Any:
        return [*one, *other]


class TtlMapState(_TtlState, MapState[Any, Any]):
    """A map whose entries expire one by one."""

    def _map(self) -> dict[Any, tuple[Any, int]]:
        self._accessed()
        held: dict[Any, tuple[Any, int]] = self._table.get(self._current.key) or {}
        return held

    def _drop(self, held: dict[Any, Any], keys: list[Any]) -> None:
        for key in keys:
            del held[key]
        if held:
            self._table[self._current.key] = held
        else:
            self._table.pop(self._current.key, None)

    def _find(self, key: Any) -> Any:
        """The entry's value as it may be shown, ``_GONE`` if there is none."""
        held = self._map()
        if key not in held:
            return _GONE
        value, stamp = held[key]
        ttl = self._ttl
        now = ttl.clock()
        if ttl.is_expired(stamp, now):
            self._drop(held, [key])
            return value if ttl.shows_expired else _GONE
        if ttl.updates_on_read:
            held[key] = (value, now)
            self._table[self._current.key] = held
        return value

    def _all(self) -> list[tuple[Any, Any]]:
        held = self._map()
        if not held:
            return []
        ttl = self._ttl
        now = ttl.clock()
        expired = [key for key, (_, stamp) in held.items() if ttl.is_expired(stamp, now)]
        shown = [(k, v) for k, (v, stamp) in held.items() if ttl.shows_expired or not ttl.is_expired(stamp, now)]
        if ttl.updates_on_read:
            for key, (value, stamp) in list(held.items()):
                if not ttl.is_expired(stamp, now):
                    held[key] = (value, now)
            self._table[self._current.key] = held
        if expired:
            self._drop(held, expired)
        return shown

    def get(self, key: Any) -> Any:
        found = self._find(key)
        return None if found is _GONE else found

    def put(self, key: Any, value: Any) -> None:
        self.put_all({key: value})

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        held = self._map()
        now = self._ttl.clock()
        held.update({key: (value, now) for key, value in dict_value.items()})
        if held:
            self._table[self._current.key] = held

    def remove(self, key: Any) -> None:
        held = self._map()
        if key in held:
            self._drop(held, [key])

    def contains(self, key: Any) -> bool:
        return self._find(key) is not _GONE

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._all()

    def keys(self) -> Iterable[Any]:
        return [key for key, _ in self._all()]

    def values(self) -> Iterable[Any]:
        return [value for _, value in self._all()]

    def is_empty(self) -> bool:
        return not self._map()  # As in Flink: what has expired counts until it is met.


class TtlReducingState(_TtlState, ReducingState[Any]):
    """A reduced value that expires as a whole."""

    def __init__(self, ttl: Ttl, table: Table, current: KeyContext, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(ttl, table, current)
        self._reduce = reduce

    def get(self) -> Any:
        return self._single()

    def add(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        before = self._live()
        self._table[self._current.key] = self._stamped(value if before is None else self._reduce(before, value))

    def merged(self, one: Any, other: Any) -> Any:
        return self._merged(one, other, self._reduce)


class TtlAggregatingState(_TtlState, AggregatingState[Any, Any]):
    """An accumulator that expires as a whole."""

    def __init__(self, ttl: Ttl, table: Table, current: KeyContext, function: Any) -> None:
        super().__init__(ttl, table, current)
        self._function = function

    def get(self) -> Any:
        found = self._single()
        return None if found is None else self._function.get_result(found)

    def add(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        before = self._live()
        accumulator = self._function.create_accumulator() if before is None else before
        self._table[self._current.key] = self._stamped(self._function.add(value, accumulator))

    def merged(self, one: Any, other: Any) -> Any:
        return self._merged(one, other, self._function.merge)


def _nothing() -> None:
    """No clean-up."""
