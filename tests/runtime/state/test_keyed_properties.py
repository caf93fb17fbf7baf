"""Keyed state beside plain Python models: random operations on several keys, a clock moved by hand, and restarts.

A restart writes a snapshot of every subtask, and goes on from these at another parallelism.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spry.common import Time
from spry.datastream import AggregateFunction, KeyedProcessFunction
from spry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from tests.runtime.subtasks import Subtasks

TTL = 10
quick = settings(deadline=None, max_examples=100)


# The models


class Model:
    """What is held for each key, every value with the time of its last update."""

    def __init__(self, ttl: StateTtlConfig | None) -> None:
        self.expires = ttl is not None
        self.on_read = ttl is not None and ttl.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        self.shows = (
            ttl is not None and ttl.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        )
        self.cleans_snapshots = ttl is not None and ttl.get_cleanup_strategies().in_full_snapshot()
        self.held: dict[Any, Any] = {}
        self.now = 0

    def dead(self, stamp: int) -> bool:
        return self.expires and stamp + TTL <= self.now

    def clear(self, key: Any) -> None:
        self.held.pop(key, None)

    def restart(self) -> None:
        """What has expired is not there after a restart, if snapshots are cleaned."""
        if self.cleans_snapshots:
            self.prune()

    def prune(self) -> None:
        self.held = {key: pair for key, pair in self.held.items() if not self.dead(pair[1])}

    def read(self, key: Any) -> Any:
        """The one value of a key."""
        if key not in self.held:
            return None
        value, stamp = self.held[key]
        if self.dead(stamp):
            del self.held[key]
            return value if self.shows else None
        if self.on_read:
            self.held[key] = value, self.now
        return value

    def before(self, key: Any) -> Any:
        """The one value of a key that another one is added to."""
        value, stamp = self.held.get(key, (None, 0))
        return value if self.shows or not self.dead(stamp) else None


class ValueModel(Model):
    def value(self, key: Any) -> Any:
        return self.read(key)

    def update(self, key: Any, value: Any) -> None:
        self.held[key] = value, self.now
        if value is None:
            del self.held[key]


class ListModel(Model):
    def prune(self) -> None:
        for key, pairs in list(self.held.items()):
            self.held[key] = [pair for pair in pairs if not self.dead(pair[1])]

    def get(self, key: Any) -> list[Any]:
        pairs = self.held.get(key, [])
        left = [pair for pair in pairs if not self.dead(pair[1])]
        shown = pairs if self.shows else left
        if not left:
            self.held.pop(key, None)
        elif self.on_read:
            self.held[key] = [(value, self.now) for value, _ in left]
        return [value for value, _ in shown]

    def add(self, key: Any, value: Any) -> None:
        self.add_all(key, [value])

    def add_all(self, key: Any, values: list[Any]) -> None:
        self.held[key] = self.held.get(key, []) + [(value, self.now) for value in values]

    def update(self, key: Any, values: list[Any]) -> None:
        self.held[key] = [(value, self.now) for value in values]


class MapModel(Model):
    def prune(self) -> None:
        for key, entries in list(self.held.items()):
            self.held[key] = {name: pair for name, pair in entries.items() if not self.dead(pair[1])}

    def _find(self, key: Any, name: Any) -> tuple[bool, Any]:
        entries = self.held.get(key, {})
        if name not in entries:
            return False, None
        value, stamp = entries[name]
        if self.dead(stamp):
            del entries[name]
            return self.shows, value if self.shows else None
        if self.on_read:
            entries[name] = value, self.now
        return True, value

    def get(self, key: Any, name: Any) -> Any:
        return self._find(key, name)[1]

    def contains(self, key: Any, name: Any) -> bool:
        return self._find(key, name)[0]

    def put(self, key: Any, name: Any, value: Any) -> None:
        self.put_all(key, {name: value})

    def put_all(self, key: Any, values: dict[Any, Any]) -> None:
        entries = self.held.setdefault(key, {})
        entries.update({name: (value, self.now) for name, value in values.items()})

    def remove(self, key: Any, name: Any) -> None:
        self.held.get(key, {}).pop(name, None)

    def items(self, key: Any) -> list[Any]:
        found = {name: self._find(key, name) for name in list(self.held.get(key, {}))}
        return [(name, value) for name, (is_there, value) in found.items() if is_there]

    def keys(self, key: Any) -> list[Any]:
        return [name for name, _ in self.items(key)]

    def values(self, key: Any) -> list[Any]:
        return [value for _, value in self.items(key)]

    def is_empty(self, key: Any) -> bool:
        return not self.held.get(key)


class ReducingModel(Model):
    def get(self, key: Any) -> Any:
        return self.read(key)

    def add(self, key: Any, value: Any) -> None:
        before = self.before(key)
        self.held[key] = value if before is None else before + value, self.now


class AggregatingModel(Model):
    def get(self, key: Any) -> Any:
        accumulator = self.read(key)
        return None if accumulator is None else len(accumulator)

    def add(self, key: Any, value: Any) -> None:
        self.held[key] = [*(self.before(key) or []), value], self.now


# The states


class Count(AggregateFunction):
    def create_accumulator(self) -> list[Any]:
        return []

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator: list[Any]) -> int:
        return len(accumulator)

    def merge(self, acc_a: list[Any], acc_b: list[Any]) -> list[Any]:
        return acc_a + acc_b


DESCRIPTORS: dict[str, Callable[[], Any]] = {
    "get_state": lambda: ValueStateDescriptor("state"),
    "get_list_state": lambda: ListStateDescriptor("state"),
    "get_map_state": lambda: MapStateDescriptor("state"),
    "get_reducing_state": lambda: ReducingStateDescriptor("state", lambda a, b: a + b),
    "get_aggregating_state": lambda: AggregatingStateDescriptor("state", Count()),
}


class Steps(KeyedProcessFunction):
    """Does what elements say, (key, method, arguments), and gives what comes of it."""

    def __init__(self, kind: str, ttl: StateTtlConfig | None) -> None:
        self.kind, self.ttl = kind, ttl

    def open(self, runtime_context: Any) -> None:
        descriptor = DESCRIPTORS[self.kind]()
        if self.ttl is not None:
            descriptor.enable_time_to_live(self.ttl)
        self.state = getattr(runtime_context, self.kind)(descriptor)

    def process_element(self, value: Any, ctx: Any) -> Any:
        key, method, arguments = value
        for _ in range(2):  # Reading has consequences, too.
            yield key, method, getattr(self.state, method)(*arguments)


values = st.one_of(st.integers(-3, 3), st.text("ab", max_size=2), st.lists(st.integers(0, 2), max_size=2))
numbers = st.integers(-3, 3)
names = st.one_of(st.integers(0, 2), st.sampled_from(["x", ("y", 1)]))


def methods(**given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """(method, arguments), of these methods or clear."""
    calls = [st.tuples(st.just(name), arguments) for name, arguments in given.items()]
    return st.one_of(*calls, *calls, *calls, st.just(("clear", ())))


nothing = st.just(())
KINDS: dict[str, tuple[type[Model], st.SearchStrategy[Any]]] = {
    "get_state": (ValueModel, methods(value=nothing, update=st.tuples(st.one_of(st.none(), values)))),
    "get_list_state": (
        ListModel,
        methods(
            get=nothing,
            add=st.tuples(values),
            add_all=st.tuples(st.lists(values, max_size=3)),
            update=st.tuples(st.lists(values, max_size=3)),
        ),
    ),
    "get_map_state": (
        MapModel,
        methods(
            get=st.tuples(names),
            contains=st.tuples(names),
            put=st.tuples(names, st.one_of(st.none(), values)),
            put_all=st.tuples(st.dictionaries(names, values, max_size=3)),
            remove=st.tuples(names),
            items=nothing,
            keys=nothing,
            values=nothing,
            is_empty=nothing,
        ),
    ),
    "get_reducing_state": (ReducingModel, methods(get=nothing, add=st.tuples(numbers))),
    "get_aggregating_state": (AggregatingModel, methods(get=nothing, add=st.tuples(numbers))),
}


def ttl(on_read: bool, shows: bool, cleanup: str) -> StateTtlConfig:
    builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
    builder = builder.update_ttl_on_read_and_write() if on_read else builder.update_ttl_on_create_and_write()
    builder = builder.return_expired_if_not_cleaned_up() if shows else builder.never_return_expired()
    if cleanup == "incremental":
        return builder.cleanup_incrementally(2, True).build()
    if cleanup == "snapshot":
        builder = builder.cleanup_full_snapshot()
    return builder.disable_cleanup_in_background().build()


TTLS = {
    f"{'read' if on_read else 'write'}-{'shown' if shows else 'hidden'}-{cleanup}": ttl(on_read, shows, cleanup)
    for on_read in (False, True)
    for shows in (False, True)
    for cleanup in ("none", "snapshot", "incremental")
    if not (shows and cleanup == "incremental")  # What it removes, and when, is its own affair: it must not be seen.
}
keys = st.sampled_from(["a", "b", 1, ("c", 2), None])
BACKENDS: dict[str, dict[str, str]] = {
    "hashmap": {"state.backend.type": "hashmap"},
    "rocksdb": {"state.backend.type": "rocksdb", "spry.state.rocksdb.cache-entries": "3"},
}
restarts = st.tuples(st.just("restart"), st.integers(1, 3))
switches = st.tuples(st.just("switch"), st.integers(1, 3), st.sampled_from(list(BACKENDS)))
waits = st.tuples(st.just("wait"), st.sampled_from([4, 6, TTL - 1, TTL]))


def run(kind: str, config: StateTtlConfig | None, steps: list[Any], backend: str = "hashmap") -> None:
    model = KINDS[kind][0](config)
    incremental = config is not None and config.get_cleanup_strategies().get_incremental_cleanup_strategy() is not None
    state = Subtasks(lambda: Steps(kind, config), key=lambda step: step[0], configuration=BACKENDS[backend])
    expected = []
    for step in steps:
        if step[0] == "restart":
            state.restart(step[1])
            if backend == "hashmap":
                model.restart()
        elif step[0] == "switch":
            backend = step[2]
            state.restart(step[1], configuration=BACKENDS[backend], canonical=True)
            model.restart()
        elif step[0] == "wait":
            model.now += step[1]
            state.set_time(model.now)
        else:
            key, (method, arguments) = step
            if method == "is_empty" and incremental:
                continue
            state.push((key, method, arguments))
            expected.extend((key, method, getattr(model, method)(key, *arguments)) for _ in range(2))
    assert by_key(state.finished()) == by_key(expected)


def by_key(results: list[Any]) -> dict[Any, list[Any]]:
    """What came of each key's steps, in their order. A map's entries come in any order."""
    found: dict[Any, list[Any]] = {}
    for key, method, result in results:
        in_any_order = method in ("items", "keys", "values")
        found.setdefault(key, []).append(sorted(result, key=repr) if in_any_order else result)
    return found


@pytest.mark.parametrize("kind", list(KINDS))
@quick
@given(data=st.data())
def test_state(kind: str, data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.one_of(*[st.tuples(keys, KINDS[kind][1])] * 6, restarts), max_size=40))
    run(kind, None, steps)


@pytest.mark.parametrize("config", TTLS.values(), ids=TTLS)
@pytest.mark.parametrize("kind", list(KINDS))
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_state_that_expires(kind: str, config: StateTtlConfig, data: st.DataObject) -> None:
    calls = st.tuples(st.sampled_from(["a", 1]), KINDS[kind][1])
    run(
        kind,
        config,
        data.draw(st.lists(st.one_of(calls, calls, calls, calls, waits, waits, restarts), min_size=30, max_size=60)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("ttl_name", [None, "write-hidden-snapshot", "read-shown-none"])
@pytest.mark.parametrize("kind", list(KINDS))
@settings(deadline=None, max_examples=4)
@given(data=st.data())
def test_state_on_disk_and_from_one_backend_to_the_other(kind: str, ttl_name: str | None, data: st.DataObject) -> None:
    calls = st.tuples(st.sampled_from(["a", 1, ("b", 2)]), KINDS[kind][1])
    steps = st.lists(st.one_of(*[calls] * 6, waits, restarts, switches), min_size=30, max_size=60)
    run(kind, TTLS[ttl_name] if ttl_name is not None else None, data.draw(steps), "rocksdb")
