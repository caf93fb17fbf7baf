"""Operator state: lists and maps of a whole subtask, always in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spry.common.checkpoint import OperatorStateStore
from spry.common.errors import StateMigrationError
from spry.common.state import BroadcastState, ListState, ListStateDescriptor, MapStateDescriptor
from spry.runtime.state.meta import StateKind, StateMeta, type_text

__all__ = ["OperatorStateBackend"]


class _List(ListState[Any]):
    def __init__(self) -> None:
        self.elements: list[Any] = []

    def get(self) -> Iterable[Any]:
        return list(self.elements)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def add(self, value: Any) -> None:
        if value is None:
            raise ValueError("None cannot be added to a list state")
        self.elements.append(value)

    def add_all(self, values: list[Any]) -> None:
        self.elements.extend(values)

    def update(self, values: list[Any]) -> None:
        self.elements[:] = values

    def clear(self) -> None:
        self.elements.clear()


class _Broadcast(BroadcastState[Any, Any]):
    def __init__(self) -> None:
        self.map: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        return self.map.get(key)

    def contains(self, key: Any) -> bool:
        return key in self.map

    def items(self) -> Iterable[tuple[Any, Any]]:
        return list(self.map.items())

    def keys(self) -> Iterable[Any]:
        return list(self.map)

    def values(self) -> Iterable[Any]:
        return list(self.map.values())

    def is_empty(self) -> bool:
        return not self.map

    def put(self, key: Any, value: Any) -> None:
        self.map[key] = value

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        self.map.update(dict_value)

    def remove(self, key: Any) -> None:
        self.map.pop(key, None)

    def clear(self) -> None:
        self.map.clear()


class OperatorStateBackend(OperatorStateStore):
    """The operator states of one operator's subtask."""

    def __init__(self, operator: str) -> None:
        self._operator = operator
        self._states: dict[str, tuple[StateMeta, _List | _Broadcast]] = {}
        self._asked: set[str] = set()

    def _state(self, descriptor: Any, kind: StateKind) -> Any:
        name = descriptor.name
        known = self._states.get(name)
        meta = StateMeta(name, kind, type_text(descriptor))
        if known is None:
            known = (meta, _Broadcast() if kind is StateKind.BROADCAST else _List())
        elif known[0].kind is not kind:
            raise StateMigrationError(
                f"operator '{self._operator}': operator state '{name}' is of kind '{known[0].kind.value}' and cannot "
                f"be of kind '{kind.value}', too: give the new one another name"
            )
        elif name not in self._asked and None not in (known[0].type, meta.type) and known[0].type != meta.type:
            raise StateMigrationError(
                f"operator '{self._operator}': the elements of operator state '{name}' were {known[0].type} in the "
                f"checkpoint and are {meta.type} now: give the state another name"
            )
        self._asked.add(name)
        self._states[name] = (meta, known[1])
        return known[1]

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        state: ListState[Any] = self._state(state_descriptor, StateKind.OPERATOR_LIST)
        return state

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        state: ListState[Any] = self._state(state_descriptor, StateKind.UNION_LIST)
        return state

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        state: BroadcastState[Any, Any] = self._state(state_descriptor, StateKind.BROADCAST)
        return state

    def get_registered_state_names(self) -> set[str]:
        return {name for name, (meta, _) in self._states.items() if meta.kind is not StateKind.BROADCAST}

    def get_registered_broadcast_state_names(self) -> set[str]:
        return {name for name, (meta, _) in self._states.items() if meta.kind is StateKind.BROADCAST}

    # Snapshots

    def snapshot(self) -> list[tuple[StateMeta, list[Any]]]:
        """Every state with its elements as they are now; those of a broadcast state are pairs."""
        return [
            (meta, list(state.map.items()) if isinstance(state, _Broadcast) else list(state.elements))
            for meta, state in self._states.values()
        ]

    def restore(self, meta: StateMeta, elements: list[Any]) -> None:
        """Take in what a snapshot has for this subtask."""
        if meta.kind is StateKind.BROADCAST:
            broadcast = _Broadcast()
            broadcast.map.update(elements)
            self._states[meta.name] = (meta, broadcast)
        else:
            held = _List()
            held.elements.extend(elements)
            self._states[meta.name] = (meta, held)
