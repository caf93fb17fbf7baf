"""Keyed state on the Python heap: one dict per state, the current key in one place.

A state's table maps key -> value. The operator sets ``KeyContext.key`` before it calls the user's function; every state
object looks the key up there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

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

__all__ = ["HeapKeyedState", "KeyContext"]


class KeyContext:
    """The current key of one operator."""

    __slots__ = ("key",)

    def __init__(self) -> None:
        self.key: Any = None


class _HeapState(State):
    """A state whose values are in a dict."""

    __slots__ = ("_current", "_table")

    def __init__(self, table: dict[Any, Any], current: KeyContext) -> None:
        self._table = table
        self._current = current

    def clear(self) -> None:
        self._table.pop(self._current.key, None)


class _HeapValueState(_HeapState, ValueState[Any]):
    __slots__ = ()

    def value(self) -> Any:
        return self._table.get(self._current.key)

    def update(self, value: Any) -> None:
        if value is None:
            self._table.pop(self._current.key, None)
        else:
            self._table[self._current.key] = value


class _HeapListState(_HeapState, ListState[Any]):
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


class _HeapMapState(_HeapState, MapState[Any, Any]):
    __slots__ = ()

    def _map(self) -> dict[Any, Any]:
        found: dict[Any, Any] = self._table.get(self._current.key) or {}
        return found

    def get(self, key: Any) -> Any:
        return self._map().get(key)

    def put(self, key: Any, value: Any) -> None:
        self._table.setdefault(self._current.key, {})[key] = value

    def put_all(self, dict_value: dict[Any, Any]) -> None:
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


class _HeapReducingState(_HeapState, ReducingState[Any]):
    __slots__ = ("_reduce",)

    def __init__(self, table: dict[Any, Any], current: KeyContext, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(table, current)
        self._reduce = reduce

    def get(self) -> Any:
        return self._table.get(self._current.key)

    def add(self, value: Any) -> None:
        key = self._current.key
        self._table[key] = self._reduce(self._table[key], value) if key in self._table else value

    def merged(self, one: Any, other: Any) -> Any:
        return self._reduce(one, other)


class _HeapAggregatingState(_HeapState, AggregatingState[Any, Any]):
    __slots__ = ("_function",)

    def __init__(self, table: dict[Any, Any], current: KeyContext, function: Any) -> None:
        super().__init__(table, current)
        self._function = function

    def get(self) -> Any:
        key = self._current.key
        return self._function.get_result(self._table[key]) if key in self._table else None

    def add(self, value: Any) -> None:
        key = self._current.key
        accumulator = self._table[key] if key in self._table else self._function.create_accumulator()
        self._table[key] = self._function.add(value, accumulator)

    def merged(self, one: Any, other: Any) -> Any:
        return self._function.merge(one, other)


def _reduce_call(function: Any) -> Callable[[Any, Any], Any]:
    call: Callable[[Any, Any], Any] = getattr(function, "reduce", function)
    return call


class HeapKeyedState:
    """All keyed states of one operator's subtask."""

    def __init__(self, current: KeyContext) -> None:
        self._current = current
        self._tables: dict[str, dict[Any, Any]] = {}
        self._states: dict[str, tuple[type[StateDescriptor], Any]] = {}

    def table(self, name: str) -> dict[Any, Any]:
        """The table of a state, by the state's name."""
        return self._tables.setdefault(name, {})

    def _state(self, descriptor: StateDescriptor, create: Callable[[dict[Any, Any]], Any]) -> Any:
        kind, state = self._states.get(descriptor.name, (type(descriptor), None))
        if kind is not type(descriptor):
            raise ValueError(
                f"state '{descriptor.name}' is described by a {kind.__name__} and by a {type(descriptor).__name__}: "
                "give one of them another name"
            )
        if state is None:
            state = create(self.table(descriptor.name))
            self._states[descriptor.name] = (kind, state)
        return state

    def state(self, descriptor: StateDescriptor) -> Any:
        """The state that a descriptor of any kind describes."""
        known = self._states.get(getattr(descriptor, "name", ""))
        if known is not None and known[0] is type(descriptor):
            return known[1]  # Triggers ask for every element.
        creators: dict[type[StateDescriptor], Callable[[Any], Any]] = {
            ValueStateDescriptor: self.value_state,
            ListStateDescriptor: self.list_state,
            MapStateDescriptor: self.map_state,
            ReducingStateDescriptor: self.reducing_state,
            AggregatingStateDescriptor: self.aggregating_state,
        }
        for kind, create in creators.items():
            if isinstance(descriptor, kind):
                return create(descriptor)
        raise TypeError(f"a state descriptor is needed, such as ValueStateDescriptor(name), not {descriptor!r}")

    def merge(self, descriptor: StateDescriptor, target: Any, sources: list[Any]) -> None:
        """What a state holds for some keys becomes part of what it holds for another."""
        state = self.state(descriptor)
        if not isinstance(state, _HeapListState | _HeapReducingState | _HeapAggregatingState):
            raise TypeError(
                f"state '{descriptor.name}' is described by a {type(descriptor).__name__} and cannot be merged: "
                "use a list, a reducing or an aggregating state"
            )
        table = self.table(descriptor.name)
        for source in sources:
            if source in table:
                moved = table.pop(source)
                table[target] = state.merged(table[target], moved) if target in table else moved

    def value_state(self, descriptor: ValueStateDescriptor) -> ValueState[Any]:
        state: ValueState[Any] = self._state(descriptor, lambda table: _HeapValueState(table, self._current))
        return state

    def list_state(self, descriptor: ListStateDescriptor) -> ListState[Any]:
        state: ListState[Any] = self._state(descriptor, lambda table: _HeapListState(table, self._current))
        return state

    def map_state(self, descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        state: MapState[Any, Any] = self._state(descriptor, lambda table: _HeapMapState(table, self._current))
        return state

    def reducing_state(self, descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        reduce = _reduce_call(descriptor.reduce_function)
        state: ReducingState[Any] = self._state(
            descriptor, lambda table: _HeapReducingState(table, self._current, reduce)
        )
        return state

    def aggregating_state(self, descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        state: AggregatingState[Any, Any] = self._state(
            descriptor, lambda table: _HeapAggregatingState(table, self._current, descriptor.agg_function)
        )
        return state
