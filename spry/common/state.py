"""Keyed state: what a function remembers per key, and the descriptors that name it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from spry.common.state_ttl import StateTtlConfig

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "ValueState",
    "ValueStateDescriptor",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class State(ABC):
    """State of the current key."""

    @abstractmethod
    def clear(self) -> None:
        """Forget the current key's value."""


class ValueState(State, Generic[T]):
    """One value per key."""

    @abstractmethod
    def value(self) -> T:
        """The current key's value; the descriptor's default value, or None, if there is none."""

    @abstractmethod
    def update(self, value: T) -> None:
        """Replace it. None clears."""


class AppendingState(State, Generic[IN, OUT]):
    """State that values are added to."""

    @abstractmethod
    def get(self) -> OUT: ...

    @abstractmethod
    def add(self, value: IN) -> None: ...


class MergingState(AppendingState[IN, OUT]):
    """Appending state of several namespaces that can be merged."""


class ListState(MergingState[T, Iterable[T]]):
    """A list per key."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace the list."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Append all of them."""


class ReducingState(MergingState[T, T]):
    """One value per key that every added value is reduced into."""


class AggregatingState(MergingState[IN, OUT]):
    """One accumulator per key."""


class MapState(State, Generic[K, V]):
    """A map per key."""

    @abstractmethod
    def get(self, key: K) -> V | None: ...

    @abstractmethod
    def put(self, key: K, value: V) -> None: ...

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None: ...

    @abstractmethod
    def remove(self, key: K) -> None: ...

    @abstractmethod
    def contains(self, key: K) -> bool: ...

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]: ...

    @abstractmethod
    def keys(self) -> Iterable[K]: ...

    @abstractmethod
    def values(self) -> Iterable[V]: ...

    @abstractmethod
    def is_empty(self) -> bool: ...

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class ReadOnlyBroadcastState(State, Generic[K, V]):
    """A map that is the same in all subtasks, for those who may not change it."""

    @abstractmethod
    def get(self, key: K) -> V | None: ...

    @abstractmethod
    def contains(self, key: K) -> bool: ...

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]: ...

    @abstractmethod
    def keys(self) -> Iterable[K]: ...

    @abstractmethod
    def values(self) -> Iterable[V]: ...

    @abstractmethod
    def is_empty(self) -> bool: ...


class BroadcastState(ReadOnlyBroadcastState[K, V]):
    """A map that is the same in all subtasks: each applies the same changes."""

    @abstractmethod
    def put(self, key: K, value: V) -> None: ...

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None: ...

    @abstractmethod
    def remove(self, key: K) -> None: ...


class StateDescriptor:
    """Names a state. Within one operator a name belongs to one state."""

    def __init__(self, name: str, type_info: Any = None) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"a state needs a non-empty name, not {name!r}")
        self.name = name
        self.type_info = type_info
        self.ttl_config = StateTtlConfig.DISABLED
        self.queryable_state_name: str | None = None

    def get_name(self) -> str:
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let the state expire. See :class:`~spry.common.state_ttl.StateTtlConfig`."""
        if not isinstance(ttl_config, StateTtlConfig):
            raise TypeError(
                f"state '{self.name}': enable_time_to_live takes a StateTtlConfig, such as "
                f"StateTtlConfig.new_builder(Time.hours(1)).build(), not {ttl_config!r}"
            )
        if ttl_config.is_enabled() and self.is_queryable():
            raise ValueError(f"state '{self.name}' is open to queries, so it cannot expire: choose one of them")
        self.ttl_config = ttl_config

    def get_ttl_config(self) -> StateTtlConfig:
        """Whether and when the state expires."""
        return self.ttl_config

    def set_queryable(self, queryable_state_name: str) -> None:
        """Let a client read the state of a running job by this name, which no other state of the job may have."""
        if not isinstance(queryable_state_name, str) or not queryable_state_name:
            raise ValueError(f"state '{self.name}' needs a non-empty name for queries, not {queryable_state_name!r}")
        if self.is_queryable():
            raise ValueError(f"state '{self.name}' is open to queries as '{self.queryable_state_name}' already")
        if self.ttl_config.is_enabled():
            raise ValueError(f"state '{self.name}' expires, so it cannot be open to queries: choose one of them")
        self.queryable_state_name = queryable_state_name

    def is_queryable(self) -> bool:
        """Whether a client can read the state of a running job."""
        return self.queryable_state_name is not None

    def get_queryable_state_name(self) -> str | None:
        """The name for queries, ``None`` if the state is not open to them."""
        return self.queryable_state_name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class ValueStateDescriptor(StateDescriptor):
    """Describes a :class:`ValueState`.

    :param default_value: What a key has that nothing was written for. Each reader gets a copy.
    """

    def __init__(self, name: str, value_type_info: Any = None, default_value: Any = None) -> None:
        super().__init__(name, value_type_info)
        self.default_value = default_value

    def get_default_value(self) -> Any:
        """What a key has that nothing was written for."""
        return self.default_value


class ListStateDescriptor(StateDescriptor):
    """Describes a :class:`ListState`."""

    def __init__(self, name: str, elem_type_info: Any = None) -> None:
        super().__init__(name, elem_type_info)


class MapStateDescriptor(StateDescriptor):
    """Describes a :class:`MapState`."""

    def __init__(self, name: str, key_type_info: Any = None, value_type_info: Any = None) -> None:
        super().__init__(name, value_type_info)
        self.key_type_info = key_type_info


class ReducingStateDescriptor(StateDescriptor):
    """Describes a :class:`ReducingState`: a name and how two values become one."""

    def __init__(self, name: str, reduce_function: Callable[[Any, Any], Any] | Any, type_info: Any = None) -> None:
        super().__init__(name, type_info)
        if not callable(reduce_function) and not hasattr(reduce_function, "reduce"):
            raise TypeError(f"state '{name}': a ReduceFunction or a callable of two values is needed")
        self.reduce_function = reduce_function

    def get_reduce_function(self) -> Any:
        return self.reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """Describes an :class:`AggregatingState`: a name and an AggregateFunction."""

    def __init__(self, name: str, agg_function: Any, state_type_info: Any = None) -> None:
        super().__init__(name, state_type_info)
        for method in ("create_accumulator", "add", "get_result"):
            if not hasattr(agg_function, method):
                raise TypeError(f"state '{name}': an AggregateFunction is needed; {agg_function!r} has no {method}()")
        self.agg_function = agg_function

    def get_agg_function(self) -> Any:
        return self.agg_function
