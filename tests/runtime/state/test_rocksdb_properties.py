"""State in RocksDB, against state in memory: whatever is done, with snapshots, restores and full caches in between."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spry.common.state_ttl import StateTtlConfig
from spry.common.time import Time
from spry.common.types import Row
from spry.datastream import AggregateFunction
from spry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from spry.runtime.state.heap import HeapKeyedStateBackend
from spry.runtime.state.keyed import KeyContext
from spry.runtime.state.rocksdb import RocksDBKeyedStateBackend
from spry.runtime.testing import ManualClock
from tests.runtime.state.backends import CACHE, GROUPS, Databases

KEYS = ["a", "b", 1, True, 1.0, 2, None, ("x", 1), ("x", True), Row(k=1), frozenset([1, 2])]
VALUES = [0, "v", None, [], [1], {"k": [2]}, ("t", 1), ("t", [1]), True, 1.0, Row(a=1)]


class Gather(AggregateFunction):
    """Changes its accumulator in place."""

    def create_accumulator(self) -> Any:
        return []

    def add(self, value: Any, accumulator: Any) -> Any:
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return list(accumulator)

    def merge(self, one: Any, other: Any) -> Any:
        return one + other


def descriptors(ttl: StateTtlConfig | None) -> dict[str, Any]:
    known = {
        "value": ValueStateDescriptor("value"),
        "list": ListStateDescriptor("list"),
        "map": MapStateDescriptor("map"),
        "reducing": ReducingStateDescriptor("reducing", lambda a, b: (a, b)),
        "gathered": AggregatingStateDescriptor("gathered", Gather()),
    }
    if ttl is not None:
        for descriptor in known.values():
            descriptor.enable_time_to_live(ttl)
    return known


class Both:
    """The same states in memory and in RocksDB."""

    def __init__(self, root: Path, cache: int, ttl: StateTtlConfig | None) -> None:
        self.clock = ManualClock()
        self.current = KeyContext()
        self.databases = Databases(root, self.clock, **{CACHE: cache})
        self.ttl = ttl
        self.heap = HeapKeyedStateBackend(self.current, self.clock)
        self.rocks = self.databases.create(self.current)

    def restored(self, backend: Any, source: Any) -> Any:
        for meta in source.metas():
            backend.restore(meta, list(source.entries(meta.name)))
        return backend

    def call(self, state: str, key: Any, method: str, *arguments: Any) -> None:
        self.current.key = key
        results = []
        for backend in (self.heap, self.rocks):
            result = getattr(backend.state(descriptors(self.ttl)[state]), method)(*arguments)
            if method == "items":
                result = {key: repr(value) for key, value in result}
            elif method == "keys":
                result = set(result)
            elif method == "values":
                result = sorted(map(repr, result))
            else:
                result = repr(list(result) if state == "list" and method == "get" else result)
            results.append(result)
        assert results[0] == results[1]

    def prepare(self) -> None:
        self.rocks.prepare()

    def end_epoch(self) -> None:
        self.rocks.end_epoch()

    def advance(self) -> None:
        self.clock.advance(4)

    def restart(self) -> None:
        """From a native snapshot, whole."""
        snapshot = self.databases.directory()
        self.rocks.native_snapshot(snapshot)
        self.rocks, before = self.databases.create(self.current), self.rocks
        self.rocks.adopt(snapshot, before.metas(), range(GROUPS), True)

    def rescale(self) -> None:
        """To two subtasks, and back to one."""
        halves = [range(GROUPS // 2), range(GROUPS // 2, GROUPS)]
        snapshot = self.databases.directory()
        self.rocks.native_snapshot(snapshot)
        parts: list[RocksDBKeyedStateBackend] = []
        for groups in halves:
            parts.append(self.databases.create(self.current))
            parts[-1].adopt(snapshot, self.rocks.metas(), groups, False)
        self.rocks, metas = self.databases.create(self.current), self.rocks.metas()
        for part in parts:
            snapshot = self.databases.directory()
            part.native_snapshot(snapshot)
            self.rocks.adopt(snapshot, metas, range(GROUPS), True)

    def change_backends(self) -> None:
        """Through the canonical form, each into the other, and from a view that stays what it was."""
        view = self.rocks.frozen()
        self.rocks.current.key = "a"
        self.rocks.state(descriptors(self.ttl)["value"]).update("changed since")
        heap = self.restored(HeapKeyedStateBackend(self.current, self.clock), view)
        view.close()
        self.rocks = self.restored(self.databases.create(self.current), self.heap)
        self.heap = heap

    def compare(self) -> None:
        for name in descriptors(self.ttl):
            for backend in (self.heap, self.rocks):
                backend.state(descriptors(self.ttl)[name])
            known = dict(self.heap.entries(name))
            assert dict(self.rocks.entries(name)) == known
            table = self.rocks.table(name)
            assert len(table) == len(dict(table.items()))


keys, values = st.sampled_from(KEYS), st.sampled_from(VALUES)
present = st.sampled_from([value for value in VALUES if value is not None])
entries = st.sampled_from(["e", "f", 1, True, ("g", 2), Row(z=1)])
calls = st.one_of(
    st.tuples(st.just("value"), keys, st.just("value")),
    st.tuples(st.just("value"), keys, st.just("update"), values),
    st.tuples(st.just("list"), keys, st.just("get")),
    st.tuples(st.just("list"), keys, st.just("add"), present),
    st.tuples(st.just("list"), keys, st.sampled_from(["add_all", "update"]), st.lists(present, max_size=3)),
    st.tuples(st.just("map"), keys, st.sampled_from(["get", "contains", "remove"]), entries),
    st.tuples(st.just("map"), keys, st.just("put"), entries, values),
    st.tuples(st.just("map"), keys, st.just("put_all"), st.dictionaries(entries, values, max_size=3)),
    st.tuples(st.just("map"), keys, st.sampled_from(["items", "keys", "values", "is_empty"])),
    st.tuples(st.sampled_from(["reducing", "gathered"]), keys, st.just("add"), present),
    st.tuples(st.sampled_from(["reducing", "gathered"]), keys, st.just("get")),
    st.tuples(st.sampled_from(["value", "list", "map", "reducing", "gathered"]), keys, st.just("clear")),
)
happenings = st.sampled_from(
    ["prepare"] * 4 + ["end_epoch"] * 4 + ["advance"] * 4 + ["restart", "rescale", "change_backends", "compare"]
)
programs = st.lists(calls | calls | calls | happenings, max_size=60)
relaxed = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def run(program: list[Any], cache: int, ttl: StateTtlConfig | None) -> None:
    with tempfile.TemporaryDirectory() as root:
        both = Both(Path(root), cache, ttl)
        try:
            for step in program:
                if isinstance(step, str):
                    getattr(both, step)()
                else:
                    both.call(*step)
            both.compare()
        finally:
            both.databases.close()


caches = st.sampled_from([0, 1, 3, 1000])


@given(programs, caches)
@relaxed
def test_state_is_what_it_would_be_in_memory(program: list[Any], cache: int) -> None:
    run(program, cache, None)


@given(programs, caches, st.booleans(), st.booleans())
@relaxed
def test_state_that_expires_is_what_it_would_be_in_memory(
    program: list[Any], cache: int, on_read: bool, shows_expired: bool
) -> None:
    ttl = StateTtlConfig.new_builder(Time.milliseconds(10)).disable_cleanup_in_background()
    if on_read:
        ttl.update_ttl_on_read_and_write()
    if shows_expired:
        ttl.return_expired_if_not_cleaned_up()
    run(program, cache, ttl.build())


@given(programs, caches, st.booleans())
@relaxed
def test_nobody_notices_the_removal_of_what_has_expired(program: list[Any], cache: int, on_read: bool) -> None:
    ttl = StateTtlConfig.new_builder(Time.milliseconds(10)).cleanup_full_snapshot()
    if on_read:
        ttl.update_ttl_on_read_and_write()
    run([step for step in program if step[2] != "is_empty"], cache, ttl.build())
