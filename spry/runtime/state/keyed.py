"""Keyed state: the state objects that functions use, over tables that a backend keeps.

A state's table maps key -> value, as a dict does. The operator sets ``KeyContext.key`` before it calls the user's
function; every state object looks the key up there. Where state belongs to a key and something else (a window), what is
set there is a pair, and the key is its first part: the backend is *namespaced*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

from spry.common.context import KeyedStateStore
from spry.common.errors import StateMigrationError
from spry.common.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from spry.runtime.blocks import detach
from spry.runtime.clock import Clock
from spry.runtime.state.latency import LatencyTracking
from spry.runtime.state.meta import StateKind, StateMeta, type_text
from spry.runtime.state.schema import adapt_rows
from spry.runtime.state.ttl import Ttl

__all__ = ["KeyContext", "KeyedStateBackend", "StateStore", "Table"]

Table = MutableMapping[Any, Any]
"""What a state holds, by key. Also of what a backend keeps on disk: it behaves as a dict does, and like one it gives
objects that may be changed in place, if they are set again afterwards."""


class KeyContext:
    """The current key of one operator."""

    __slots__ = ("key",)

    def __init__(self) -> None:
        self.key: Any = None


class TableState(State):
    """A state whose values are in a table."""

    __slots__ = ("_current", "_table")

    def __init__(self, table: Table, current: KeyContext) -> None:
        self._table = table
        self._current = current

    def clear(self) -> None:
        self._table.pop(self._current.key, None)


class ValueStateOfTable(TableState, ValueState[Any]):
    __slots__ = ()

    def value(self) -> Any:
        return self._table.get(self._current.key)

    def update(self, value: Any) -> None:
        if value is None:
            self._table.pop(self._current.key, None)
        else:
            self._table[self._current.key] = value


class ValueStateWithDefault(ValueStateOfTable):
    """A value state that gives something for keys that nothing was written for."""

    __slots__ = ("_default",)

    def __init__(self, table: Table, current: KeyContext, default: Any) -> None:
        super().__init__(table, current)
        self._default = default

    def value(self) -> Any:
        found = self._table.get(self._current.key)
        return found if found is not None else detach(self._default)


class ListStateOfTable(TableState, ListState[Any]):
    __slots__ = ()

    def get(self) -> Iterable[Any]:
        return list(self._table.get(self._current.key, ()))

    def __iter__(self) -> Any:
        return iter(self.get())

    def add(self, value: Any) -> None:
        if value is None:
            raise ValueError("None cannot be added to a list state")
        self._table.setdefault(self._current.key, []).append(value)

    def add_all(self, values: list[Any]) -> None:
        if values:
            self._table.setdefault(self._current.key, []).extend(values)

    def update(self, values: list[Any]) -> None:
        if values:
            self._table[self._current.key] = list(values)
        else:
            self.clear()

    def merged(self, one: Any, other: Any) -> Any:
        return [*one, *other]


class MapStateOfTable(TableState, MapState[Any, Any]):
    __slots__ = ()

    def _map(self) -> dict[Any, Any]:
        found: dict[Any, Any] = self._table.get(self._current.key) or {}
        return found

    def get(self, key: Any) -> Any:
        return self._map().get(key)

    def put(self, key: Any, value: Any) -> None:
        self._table.setdefault(self._current.key, {})[key] = value

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        if dict_value:
            self._table.setdefault(self._current.key, {}).update(dict_value)

    def remove(self, key: Any) -> None:
        current = self._map()
        if key in current:
            del current[key]
            if not current:
                self.clear()

    def contains(self, key: Any) -> bool:
        return key in self._map()

    def items(self) -> Iterable[tuple[Any, Any]]:
        return list(self._map().items())

    def keys(self) -> Iterable[Any]:
        return list(self._map())

    def values(self) -> Iterable[Any]:
        return list(self._map().values())

    def is_empty(self) -> bool:
        return not self._map()


class ReducingStateOfTable(TableState, ReducingState[Any]):
    __slots__ = ("_reduce",)

    def __init__(self, table: Table, current: KeyContext, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(table, current)
        self._reduce = reduce

    def get(self) -> Any:
        return self._table.get(self._current.key)

    def add(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        table, key = self._table, self._current.key
        before = table.get(key)
        table[key] = value if before is None else self._reduce(before, value)

    def merged(self, one: Any, other: Any) -> Any:
        return self._reduce(one, other)


class AggregatingStateOfTable(TableState, AggregatingState[Any, Any]):
    __slots__ = ("_function",)

    def __init__(self, table: Table, current: KeyContext, function: Any) -> None:
        super().__init__(table, current)
        self._function = function

    def get(self) -> Any:
        accumulator = self._table.get(self._current.key)
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        table, function, key = self._table, self._function, self._current.key
        accumulator = table.get(key)
        table[key] = function.add(value, function.create_accumulator() if accumulator is None else accumulator)

    def merged(self, one: Any, other: Any) -> Any:
        return self._function.merge(one, other)


def _reduce_call(function: Any) -> Callable[[Any, Any], Any]:
    call: Callable[[Any, Any], Any] = getattr(function, "reduce", function)
    return call


class KeyedStateBackend(ABC):
    """All keyed states of one operator's subtask. Subclasses say where tables are."""

    has_files = False
    """Whether its snapshots may be files of its own; then it has ``native_snapshot`` and ``adopt``."""

    def __init__(self, current: KeyContext, clock: Clock, name: str = "", namespaced: bool = False) -> None:
        self.current = current
        self.clock = clock
        self.name = name
        """Comes before the names of the states in a snapshot, if an operator has several backends."""
        self.namespaced = namespaced
        self.operator = ""
        """The operator's name, for messages."""
        self.expires = True
        """Whether state with time to live expires; in batch mode it does not."""
        self.cleaners: list[Callable[[], None]] = []
        """What is to be called for every record, so that expired state goes."""
        self._tables: dict[str, Table] = {}
        self._metas: dict[str, StateMeta] = {}
        self._restored: dict[str, StateMeta] = {}
        self._states: dict[str, tuple[type[StateDescriptor], Any]] = {}
        self._ttls: dict[str, Ttl] = {}
        self.latency: LatencyTracking | None = None
        """Measures how long accesses to states take, if that is wanted."""
        self.queryable: dict[str, str] = {}
        """What a state is called in queries -> the state's name."""

    # Tables

    @abstractmethod
    def create_table(self, name: str) -> Table:
        """A new, empty table."""

    def native_snapshot(self, directory: Path) -> list[str]:
        """Put what there is into a new directory; gives the names of the files there."""
        raise NotImplementedError

    def adopt(self, directory: Path, metas: list[StateMeta], key_groups: range, all_groups: bool) -> None:
        """Take in a native snapshot: as a whole, or what it has of some key groups."""
        raise NotImplementedError

    def table(self, name: str, kind: StateKind = StateKind.INTERNAL) -> Table:
        """The table of a state, by the state's name."""
        found = self._tables.get(name)
        if found is None:
            found = self._tables[name] = self.create_table(name)
        if name not in self._metas:
            self._metas[name] = StateMeta(name, kind)
        return found

    # States

    def state(self, descriptor: StateDescriptor) -> Any:
        """The state that a descriptor of any kind describes."""
        name = getattr(descriptor, "name", "")
        kind, state = self._states.get(name, (type(descriptor), None))
        if kind is not type(descriptor):
            raise ValueError(
                f"state '{name}' is described by a {kind.__name__} and by a {type(descriptor).__name__}: "
                "give one of them another name"
            )
        if state is None:
            state = self._create(descriptor)
            if self.latency is not None:
                state = self.latency.track(name, state)
            self._states[name] = (kind, state)
        return state

    def _create(self, descriptor: StateDescriptor) -> Any:
        kind = _kind_of(descriptor)
        ttl = Ttl.of(descriptor, kind, self.clock) if self.expires else None
        name = descriptor.name
        meta = StateMeta(name, kind, type_text(descriptor), ttl is not None)
        self._check_restored(meta, descriptor)
        self._metas[name] = meta
        if descriptor.queryable_state_name is not None:
            self.queryable[descriptor.queryable_state_name] = name
        if ttl is not None:
            self._ttls[name] = ttl
            self.clean_up(ttl, name)
            return self.create_ttl_state(descriptor, kind, ttl)
        return self.create_state(descriptor, kind)

    def create_state(self, descriptor: StateDescriptor, kind: StateKind) -> Any:
        """The state object for a descriptor without time to live."""
        table, current = self.table(descriptor.name), self.current
        if isinstance(descriptor, ValueStateDescriptor):
            default = descriptor.get_default_value()
            return (
                ValueStateOfTable(table, current) if default is None else ValueStateWithDefault(table, current, default)
            )
        if isinstance(descriptor, ListStateDescriptor):
            return ListStateOfTable(table, current)
        if isinstance(descriptor, MapStateDescriptor):
            return MapStateOfTable(table, current)
        if isinstance(descriptor, ReducingStateDescriptor):
            return ReducingStateOfTable(table, current, _reduce_call(descriptor.reduce_function))
        assert isinstance(descriptor, AggregatingStateDescriptor)
        return AggregatingStateOfTable(table, current, descriptor.agg_function)

    def clean_up(self, ttl: Ttl, name: str) -> None:
        """See to it that what has expired goes, also if nobody meets it."""
        if ttl.cleans_incrementally:
            ttl.attach(self.table(name))
            if ttl.cleans_for_every_record:
                self.cleaners.append(ttl.clean)

    def create_ttl_state(self, descriptor: StateDescriptor, kind: StateKind, ttl: Ttl) -> Any:
        """The state object for a descriptor with time to live."""
        return ttl.create_state(descriptor, self.table(descriptor.name), self.current)

    def value_state(self, descriptor: ValueStateDescriptor) -> ValueState[Any]:
        state: ValueState[Any] = self.state(descriptor)
        return state

    def list_state(self, descriptor: ListStateDescriptor) -> ListState[Any]:
        state: ListState[Any] = self.state(descriptor)
        return state

    def map_state(self, descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        state: MapState[Any, Any] = self.state(descriptor)
        return state

    def reducing_state(self, descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        state: ReducingState[Any] = self.state(descriptor)
        return state

    def aggregating_state(self, descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        state: AggregatingState[Any, Any] = self.state(descriptor)
        return state

    def merge(self, descriptor: StateDescriptor, target: Any, sources: list[Any]) -> None:
        """What a state holds for some keys becomes part of what it holds for another."""
        state = self.state(descriptor)
        merged = getattr(state, "merged", None)
        if merged is None:
            raise TypeError(
                f"state '{descriptor.name}' is described by a {type(descriptor).__name__} and cannot be merged: "
                "use a list, a reducing or an aggregating state"
            )
        table = self.table(descriptor.name)
        for source in sources:
            if source in table:
                moved = table.pop(source)
                table[target] = merged(table[target], moved) if target in table else moved

    # Queries

    def lookup(self, name: str, key: Any) -> Any:
        """What a state holds for a key, as its state object shows it, for queries from outside."""
        _, state = self._states[name]
        known, self.current.key = self.current.key, key
        try:
            if isinstance(state, ValueState):
                return state.value()
            if isinstance(state, MapState):
                return dict(state.items()) or None
            found = state.get()
            return (list(found) or None) if isinstance(state, ListState) else found
        finally:
            self.current.key = known

    # Snapshots

    def metas(self) -> list[StateMeta]:
        """What there is, also of a restored snapshot what nothing has asked for."""
        return list(self._metas.values())

    def entries(self, name: str) -> Iterator[tuple[Any, Any]]:
        """All (key, value) of a state, in the form that every backend restores from."""
        items: Iterable[tuple[Any, Any]] = self._tables[name].items()
        ttl = self._ttls.get(name)
        return ttl.unexpired(items) if ttl is not None and ttl.cleans_full_snapshots else iter(items)

    def count(self, name: str) -> int:
        """About how many entries a state has."""
        return len(self._tables[name])

    def restore(self, meta: StateMeta, entries: Iterable[tuple[Any, Any]]) -> None:
        """Take in a part of a state from a snapshot. All parts are in before the first state is asked for."""
        self._restored[meta.name] = meta
        table = self.table(meta.name, meta.kind)
        self._metas[meta.name] = meta
        for key, value in entries:
            table[key] = value

    def _check_restored(self, meta: StateMeta, descriptor: StateDescriptor) -> None:
        before = self._restored.get(meta.name)
        if before is None or before.kind is StateKind.INTERNAL:
            return
        where = f"operator '{self.operator}', state '{meta.name}'"
        if before.kind is not meta.kind:
            raise StateMigrationError(
                f"{where}: it was a {before.kind.value} state in the checkpoint and is described as a "
                f"{meta.kind.value} state now: give the new one another name"
            )
        if before.ttl != meta.ttl:
            was, now = ("had", "has none") if before.ttl else ("had no", "has one")
            raise StateMigrationError(
                f"{where}: it {was} time to live in the checkpoint and {now} now. Time to live cannot be turned on or "
                "off for existing state: keep the setting, or give the state another name"
            )
        fit = adapt_rows(where, before.type, meta.type, descriptor, meta.kind, meta.ttl)
        if fit is not None:
            self.convert(meta.name, fit)

    def convert(self, name: str, fit: Callable[[Any], Any]) -> None:
        """Replace every value of a state."""
        table = self.table(name)
        for key in list(table):
            table[key] = fit(table[key])

    # Life

    def end_epoch(self) -> None:
        """Called at the end of every epoch."""

    def dispose(self) -> None:
        """Called at the end, when nobody uses the states any more."""


def _kind_of(descriptor: Any) -> StateKind:
    for cls, kind in _KINDS.items():
        if isinstance(descriptor, cls):
            return kind
    raise TypeError(f"a state descriptor is needed, such as ValueStateDescriptor(name), not {descriptor!r}")


_KINDS: dict[type[StateDescriptor], StateKind] = {
    ValueStateDescriptor: StateKind.VALUE,
    ListStateDescriptor: StateKind.LIST,
    MapStateDescriptor: StateKind.MAP,
    ReducingStateDescriptor: StateKind.REDUCING,
    AggregatingStateDescriptor: StateKind.AGGREGATING,
}


class StateStore(KeyedStateStore):
    """Keyed state as functions see it."""

    def __init__(self, states: KeyedStateBackend) -> None:
        self._states = states

    def get_state(self, state_descriptor: ValueStateDescriptor) -> Any:
        return self._states.value_state(state_descriptor)

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> Any:
        return self._states.list_state(state_descriptor)

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> Any:
        return self._states.map_state(state_descriptor)

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> Any:
        return self._states.reducing_state(state_descriptor)

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> Any:
        return self._states.aggregating_state(state_descriptor)
