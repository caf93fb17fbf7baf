"""What is particular to state in RocksDB: caches, rows, snapshots."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spry.common.errors import CheckpointError, StateMigrationError
from spry.common.state_ttl import StateTtlConfig
from spry.common.time import Time
from spry.common.typeinfo import Types
from spry.common.types import Row
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from spry.runtime.state.meta import StateKind, StateMeta
from spry.runtime.state.rocksdb import RocksDBKeyedStateBackend
from spry.runtime.testing import ManualClock
from tests.runtime.state.backends import CACHE, GROUPS, Databases

ALL = range(GROUPS)
LOW, HIGH = range(GROUPS // 2), range(GROUPS // 2, GROUPS)


@pytest.fixture
def databases(tmp_path: Path) -> Iterator[Databases]:
    made = Databases(tmp_path)
    yield made
    made.close()


def stored(backend: RocksDBKeyedStateBackend, name: str) -> int:
    """How many rows a state has."""
    backend.prepare()
    rows: Any = backend.table(name)
    return sum(1 for _ in rows.rows.scan())


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir() if path.suffix == ".sst")


class Reads:
    """Counts how often a table asks the database."""

    def __init__(self, table: Any) -> None:
        self.count = 0
        get = table.rows.get

        def counted(row: bytes) -> bytes | None:
            self.count += 1
            return get(row)

        table.rows.get = counted


# Tables


def test_a_table_is_a_mapping(databases: Databases) -> None:
    table = databases.create().table("t")
    assert not table
    assert "a" not in table
    assert table.get("a", 1) == 1
    with pytest.raises(KeyError):
        table["a"]
    with pytest.raises(KeyError):
        del table["a"]
    table.update({"a": 1, "b": None, ("c", 1): [1]})
    assert table
    assert len(table) == 3
    assert set(table) == {"a", "b", ("c", 1)}
    assert dict(table) == {"a": 1, "b": None, ("c", 1): [1]}
    assert sorted(map(str, table.values())) == ["1", "None", "[1]"]
    assert table["b"] is None
    assert table.pop("a") == 1
    assert table.pop("a", 0) == 0
    assert table.setdefault(("c", 1), []) == [1]
    table.clear()
    assert len(table) == 0
    assert "b" not in table
    table["b"] = 2
    assert dict(table.items()) == {"b": 2}


def test_the_database_is_made_when_it_is_needed(databases: Databases) -> None:
    backend = databases.create()
    backend.state(ValueStateDescriptor("v"))
    backend.prepare()
    backend.end_epoch()
    assert backend.count("v") == 0
    assert list(backend.directory.iterdir()) == []
    assert list(backend.frozen().entries("v")) == []
    backend.table("v")["a"] = 1
    backend.prepare()
    assert (backend.directory / "CURRENT").exists()


def test_values_in_use_are_not_read_from_the_database(databases: Databases) -> None:
    backend = databases.create()
    table: Any = backend.table("t")
    reads = Reads(table)
    for _ in range(3):
        for key in "abc":
            table[key] = table.get(key, 0) + 1
        backend.prepare()
    assert reads.count == 3, "once each, to see that they are not there"
    assert dict(table) == dict.fromkeys("abc", 3)


def test_what_has_not_changed_is_not_written_again(databases: Databases) -> None:
    backend = databases.create()
    table: Any = backend.table("t")
    table.update({n: (n, "x") for n in range(10)})
    backend.prepare()
    writes = table.rows.writes()
    for n in range(10):
        assert table[n] == (n, "x")
    backend.prepare()
    assert table.rows.writes() == writes
    table[3] = (3, "y")
    backend.prepare()
    assert table.rows.writes() == writes + 1


def test_what_comes_and_goes_between_snapshots_is_never_written(databases: Databases) -> None:
    backend = databases.create()
    table: Any = backend.table("t")
    table["stays"] = 1
    backend.prepare()
    writes = table.rows.writes()
    for n in range(100):
        if n not in table:
            table[n] = n
        table.pop(n)
    backend.prepare()
    assert table.rows.writes() == writes


def test_values_may_be_changed_in_place(databases: Databases) -> None:
    backend = databases.create(**{CACHE: 2})
    table = backend.table("t")
    for round in range(3):
        for key in range(10):
            table.setdefault(key, []).append(round)
    backend.end_epoch()
    assert dict(table) == {key: [0, 1, 2] for key in range(10)}


def test_state_larger_than_the_cache(databases: Databases) -> None:
    backend = databases.create(**{CACHE: 100})
    counts: Any = backend.state(ValueStateDescriptor("counts"))
    lists: Any = backend.state(ListStateDescriptor("lists"))
    maps: Any = backend.state(MapStateDescriptor("maps"))
    for n in range(6000):
        backend.current.key = n % 2000
        counts.update((counts.value() or 0) + 1)
        lists.add(n)
        maps.put(n, str(n))
        if n % 500 == 0:
            backend.end_epoch()
        for table in backend._rocks.values():
            assert table.cached() <= 400
    assert dict(backend.entries("counts")) == dict.fromkeys(range(2000), 3)
    assert all(held == [key, key + 2000, key + 4000] for key, held in backend.entries("lists"))
    assert all(sorted(held) == [key, key + 2000, key + 4000] for key, held in backend.entries("maps"))
    assert backend.count("counts") >= 1500
    backend.end_epoch()
    assert sum(table.cached() for table in backend._rocks.values()) <= 100


def test_keys_come_back_as_they_were(databases: Databases) -> None:
    table = databases.create().table("t")
    keys = [True, 2.0, Row(a=1), ("x", False), "text"]
    table.update(dict.fromkeys(keys, 1))
    assert sorted(map(repr, table)) == sorted(map(repr, keys))
    assert table[1] == 1
    assert table[2] == 1


def test_a_value_that_cannot_be_written(databases: Databases) -> None:
    backend = databases.create()
    backend.operator = "Count"
    backend.state(ValueStateDescriptor("locks"))
    backend.table("locks")["a"] = threading.Lock()
    with pytest.raises(CheckpointError, match=r"operator 'Count', state 'locks': it cannot be pickled"):
        backend.prepare()


def test_states_with_awkward_names(databases: Databases) -> None:
    backend = databases.create()
    names = ["default", "a/b", "", "ß€", "x" * 300, '"]\n[# \\ = :']
    for name in names:
        backend.table(name)["k"] = name
    backend.prepare()
    snapshot = databases.directory()
    backend.native_snapshot(snapshot)
    again = databases.create()
    again.adopt(snapshot, backend.metas(), ALL, True)
    assert [dict(again.entries(name)) for name in names] == [{"k": name} for name in names]


# Lists and maps


def test_lists_are_appended_to_without_being_read(databases: Databases) -> None:
    backend = databases.create()
    state: Any = backend.state(ListStateDescriptor("l"))
    table: Any = backend.table("l")
    backend.current.key = "a"
    written = []
    for n in range(5):
        state.add_all(list(range(n * 100, n * 100 + 100)))
        before = table.rows.writes()
        backend.prepare()
        written.append(table.rows.writes() - before)
    assert written == [1] * 5
    assert stored(backend, "l") == 5
    assert not table._clean
    assert list(state.get()) == list(range(500))
    state.clear()
    assert list(state.get()) == []
    assert stored(backend, "l") == 0


def test_lists_in_many_rows_are_put_together_when_they_are_read(databases: Databases) -> None:
    backend = databases.create()
    state: Any = backend.state(ListStateDescriptor("l"))
    backend.current.key = "a"
    for n in range(40):
        state.add(n)
        backend.prepare()
    state.add(40)
    assert list(state.get()) == list(range(41))
    assert stored(backend, "l") == 1
    state.add(41)
    assert list(state.get()) == list(range(42))


def test_the_order_of_a_list_survives_rescaling(databases: Databases) -> None:
    backend = databases.create()
    state: Any = backend.state(ListStateDescriptor("l"))
    for round in range(5):
        for key in range(50):
            backend.current.key = key
            state.add(round)
        backend.prepare()
    for _ in range(3):
        snapshot = databases.directory()
        backend.native_snapshot(snapshot)
        metas, backend = backend.metas(), databases.create(backend.current)
        for groups in (HIGH, LOW):
            backend.adopt(snapshot, metas, groups, False)
    state = backend.state(ListStateDescriptor("l"))
    for key in range(50):
        backend.current.key = key
        state.add(5)
    backend.prepare()
    assert dict(backend.entries("l")) == {key: [0, 1, 2, 3, 4, 5] for key in range(50)}


def test_an_access_to_a_map_touches_one_row(databases: Databases) -> None:
    backend = databases.create()
    state: Any = backend.state(MapStateDescriptor("m"))
    table: Any = backend.table("m")
    backend.current.key = "a"
    state.put_all({n: str(n) for n in range(1000)})
    backend.prepare()
    table.forget()
    reads, writes = Reads(table), table.rows.writes()
    assert state.get(5) == "5"
    assert state.get(5) == "5"
    assert not state.contains(-1)
    assert not state.contains(-1)
    assert reads.count == 2
    state.put(7, "new")
    state.remove(8)
    backend.prepare()
    assert table.rows.writes() == writes + 2
    assert len(list(state.keys())) == 999


def test_a_map_is_seen_as_it_was_when_it_was_asked_for(databases: Databases) -> None:
    backend = databases.create(**{CACHE: 10})
    state: Any = backend.state(MapStateDescriptor("m"))
    backend.current.key = "a"
    state.put_all(dict.fromkeys(range(5000), 1))
    items = state.items()
    state.clear()
    assert sum(value for _, value in items) == 5000
    assert state.is_empty()


def test_entries_of_maps_may_be_removed_while_they_are_gone_through(databases: Databases) -> None:
    backend = databases.create(**{CACHE: 10})
    state: Any = backend.state(MapStateDescriptor("m"))
    backend.current.key = "a"
    state.put_all(dict.fromkeys(range(3000), 1))
    for key in state:
        state.remove(key)
    assert state.is_empty()


# Snapshots


def filled(databases: Databases, **configuration: Any) -> RocksDBKeyedStateBackend:
    backend = databases.create(**configuration)
    values: Any = backend.state(ValueStateDescriptor("v"))
    lists: Any = backend.state(ListStateDescriptor("l"))
    maps: Any = backend.state(MapStateDescriptor("m"))
    for key in range(100):
        backend.current.key = key
        values.update(key)
        lists.add_all([key, key])
        maps.put("k", key)
    return backend


EXPECTED: dict[str, Any] = {
    "v": {key: key for key in range(100)},
    "l": {key: [key, key] for key in range(100)},
    "m": {key: {"k": key} for key in range(100)},
}


def contents(backend: Any) -> dict[str, Any]:
    return {meta.name: dict(backend.entries(meta.name)) for meta in backend.metas()}


def test_a_native_snapshot_is_as_it_was(databases: Databases) -> None:
    backend = filled(databases)
    snapshot = databases.directory()
    names = backend.native_snapshot(snapshot)
    assert sorted(os.listdir(snapshot)) == names
    backend.table("v")[1] = "later"
    backend.table("l").clear()
    again = databases.create()
    again.adopt(snapshot, backend.metas(), ALL, True)
    assert contents(again) == EXPECTED
    assert again.metas() == backend.metas()
    again.current.key = 7
    assert again.state(ValueStateDescriptor("v")).value() == 7
    with pytest.raises(StateMigrationError, match="it was a list state"):
        again.state(MapStateDescriptor("l"))


def test_rescaling(databases: Databases) -> None:
    backend = filled(databases)
    snapshot = databases.directory()
    backend.native_snapshot(snapshot)
    parts = []
    for groups in (LOW, HIGH):
        part = databases.create()
        part.adopt(snapshot, backend.metas(), groups, False)
        parts.append(contents(part))
    for name, expected in EXPECTED.items():
        assert parts[0][name] and parts[1][name]
        assert not parts[0][name].keys() & parts[1][name].keys()
        assert parts[0][name] | parts[1][name] == expected


def test_namespaced_rows_are_grouped_by_the_key(databases: Databases) -> None:
    plain, namespaced = databases.create(), databases.create(namespaced=True)
    for key in range(50):
        plain.table("t")[key] = 1
        for window in range(3):
            namespaced.table("t")[(key, window)] = 1
    found = []
    for backend in (plain, namespaced):
        snapshot = databases.directory()
        backend.native_snapshot(snapshot)
        part = databases.create(namespaced=backend.namespaced)
        part.adopt(snapshot, backend.metas(), LOW, False)
        found.append(set(part.table("t")))
    assert found[1] == {(key, window) for key in found[0] for window in range(3)}


def test_files_that_did_not_change_keep_their_names(databases: Databases) -> None:
    backend = filled(databases)
    first, second = databases.directory(), databases.directory()
    backend.native_snapshot(first)
    backend.table("v")[1] = "later"
    backend.native_snapshot(second)
    old = {path.name: path.stat() for path in first.iterdir() if path.suffix == ".sst"}
    new = {path.name: path.stat() for path in second.iterdir() if path.suffix == ".sst"}
    assert old.keys() < new.keys()
    assert all(new[name].st_ino == old[name].st_ino for name in old), "hard links"
    added = sum(new[name].st_size for name in new.keys() - old.keys())
    assert added < size_of(first)


def test_files_have_unique_names_over_restarts(databases: Databases) -> None:
    backend = filled(databases)
    snapshot = databases.directory()
    names = [name for name in backend.native_snapshot(snapshot) if name.endswith(".sst")]
    known = {name: backend.unique_name(name) for name in names}
    assert len(set(known.values())) == len(names)
    # Both go on from there, and number new files alike.
    again = databases.create()
    again.adopt(snapshot, backend.metas(), ALL, True)
    assert {name: again.unique_name(name) for name in names} == known
    seen = []
    for one in (backend, again):
        one.table("v")[1] = "later"
        later = databases.directory()
        files = {name for name in one.native_snapshot(later) if name.endswith(".sst")}
        seen.append({one.unique_name(name) for name in files - set(names)})
    assert seen[0] and seen[1]
    assert not seen[0] & seen[1]
    third = databases.create()
    third.adopt(later, again.metas(), ALL, True)
    assert {name: third.unique_name(name) for name in names} == known, "also at the second restart"


def test_a_view_stays_as_it_was_while_the_owner_writes(databases: Databases) -> None:
    backend = filled(databases, **{CACHE: 5})
    view = backend.frozen()
    found: dict[str, Any] = {}
    reader = threading.Thread(target=lambda: found.update(contents(view)))
    reader.start()
    for round in range(20):
        for key in range(100):
            backend.table("v")[key] = round
            backend.table("l").pop(key, None)
        backend.end_epoch()
    reader.join()
    view.close()
    assert found == EXPECTED


def test_a_view_outlives_its_backend(databases: Databases) -> None:
    backend = filled(databases)
    view = backend.frozen()
    backend.dispose()
    assert contents(view) == EXPECTED


def test_nothing_was_ever_kept(databases: Databases) -> None:
    backend = databases.create()
    backend.state(ValueStateDescriptor("v"))
    snapshot = databases.directory()
    assert backend.native_snapshot(snapshot) == []
    again = databases.create()
    again.adopt(snapshot, backend.metas(), ALL, True)
    assert again.metas() == [StateMeta("v", StateKind.VALUE)]
    assert contents(again) == {"v": {}}


@dataclass
class Visit:
    page: str
    seconds: int = 0


def test_classes_of_values_are_noted(databases: Databases) -> None:
    backend = databases.create()
    backend.table("t")["a"] = [Visit("x", 1)]
    snapshot = databases.directory()
    backend.native_snapshot(snapshot)
    (fields,) = backend.encoder.classes.values()
    assert fields == {"page": "str", "seconds": "int"}
    again = databases.create()
    again.adopt(snapshot, backend.metas(), ALL, True)
    assert again.encoder.classes == backend.encoder.classes
    assert again.table("t")["a"] == [Visit("x", 1)]
    identity = snapshot / "SPRY"
    identity.write_text(identity.read_text().replace('"seconds": "int"', '"seconds": "str"'))
    with pytest.raises(StateMigrationError, match="field 'seconds' of class Visit was str"):
        databases.create().adopt(snapshot, backend.metas(), ALL, True)


def test_rows_are_fitted_to_their_declared_type(databases: Databases) -> None:
    def typed(*names: str) -> dict[str, Any]:
        row = Types.ROW_NAMED(list(names), [Types.INT()] * len(names))
        return {
            "v": ValueStateDescriptor("v", row),
            "l": ListStateDescriptor("l", row),
            "m": MapStateDescriptor("m", Types.STRING(), row),
        }

    backend = databases.create(**{CACHE: 3})
    states = {name: backend.state(descriptor) for name, descriptor in typed("a", "b").items()}
    for key in range(20):
        backend.current.key = key
        states["v"].update(Row(a=key, b=1))
        states["l"].add(Row(a=key, b=1))
        states["m"].put("e", Row(a=key, b=1))
    snapshot = databases.directory()
    backend.native_snapshot(snapshot)
    again = databases.create(**{CACHE: 3})
    again.adopt(snapshot, backend.metas(), ALL, True)
    states = {name: again.state(descriptor) for name, descriptor in typed("c", "a").items()}
    for key in range(20):
        again.current.key = key
        assert states["v"].value() == Row(c=None, a=key)
        assert list(states["l"].get()) == [Row(c=None, a=key)]
        assert states["m"].get("e") == Row(c=None, a=key)


def test_states_of_one_key_are_merged_into_those_of_another(databases: Databases) -> None:
    backend = databases.create(namespaced=True)
    descriptor = ListStateDescriptor("l")
    state: Any = backend.state(descriptor)
    for window in range(3):
        backend.current.key = ("a", window)
        state.add(window)
        backend.prepare()
    backend.merge(descriptor, ("a", 2), [("a", 0), ("a", 1), ("a", 9)])
    assert {key: sorted(held) for key, held in backend.entries("l")} == {("a", 2): [0, 1, 2]}


def test_queries(databases: Databases) -> None:
    backend = filled(databases)
    assert [backend.lookup(name, 5) for name in "vlm"] == [5, [5, 5], {"k": 5}]
    assert [backend.lookup(name, "nobody") for name in "vlm"] == [None, None, None]


# Time to live


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep goes through everything, however busy the machine is."""
    monkeypatch.setattr("spry.runtime.state.rocksdb._SWEEP_SECONDS", 60)


def expiring(databases: Databases, descriptor: Any, *, background: bool = True) -> tuple[Any, Any, ManualClock]:
    clock = databases.clock
    assert isinstance(clock, ManualClock)
    ttl = StateTtlConfig.new_builder(Time.milliseconds(10))
    descriptor.enable_time_to_live((ttl if background else ttl.disable_cleanup_in_background()).build())
    backend = databases.create()
    return backend, backend.state(descriptor), clock


def test_what_has_expired_goes_between_epochs(databases: Databases, patient: None) -> None:
    backend, values, clock = expiring(databases, ValueStateDescriptor("v"))
    for key in range(100):
        backend.current.key = key
        values.update(key)
    backend.prepare()
    clock.advance(8)
    backend.current.key = 1
    values.update("again")
    clock.advance(8)
    backend.end_epoch()
    assert stored(backend, "v") == 1
    assert values.value() == "again"
    backend.current.key = 2
    assert values.value() is None


def test_elements_and_entries_that_have_expired_go_one_by_one(databases: Databases, patient: None) -> None:
    backend, lists, clock = expiring(databases, ListStateDescriptor("l"))
    maps = backend.state(_with_ttl(MapStateDescriptor("m")))
    for step in range(4):
        for key in range(10):
            backend.current.key = key
            lists.add(step)
            maps.put(step, step)
        backend.prepare()
        clock.advance(5)
    clock.now = 17  # What was written at 0 and 5 has expired, and what was written at 10 and 15 has not.
    assert stored(backend, "l") == stored(backend, "m") == 40
    backend.end_epoch()
    assert stored(backend, "l") == stored(backend, "m") == 20
    backend.current.key = 3
    assert list(lists.get()) == [2, 3]
    assert sorted(maps.keys()) == [2, 3]


def _with_ttl(descriptor: Any) -> Any:
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(10)).build())
    return descriptor


def test_a_sweep_goes_on_where_the_last_one_stopped(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    backend, values, clock = expiring(databases, ValueStateDescriptor("v"))
    for key in range(100):
        backend.current.key = key
        values.update(key)
    backend.prepare()
    clock.advance(20)
    monkeypatch.setattr("spry.runtime.state.rocksdb._SWEEP_SECONDS", -1)
    left = []
    for _ in range(4):
        backend.end_epoch()
        left.append(stored(backend, "v"))
    assert left == [68, 36, 4, 0]


def test_without_clean_up_in_the_background_what_has_expired_stays(databases: Databases) -> None:
    backend, values, clock = expiring(databases, ValueStateDescriptor("v"), background=False)
    backend.current.key = "a"
    values.update(1)
    clock.advance(20)
    backend.end_epoch()
    assert stored(backend, "v") == 1
    assert not backend.cleaners


def test_scans_end_where_they_should(databases: Databases) -> None:
    """The bounds of an iterator must live as long as it does, which the binding does not see to."""
    table: Any = databases.create().table("t")
    with table.rows.writer() as writer:
        for n in range(1000):
            writer.put(n.to_bytes(5, "big"), b"")
    for _ in range(50):
        scans = [table.rows.scan(b"", (500).to_bytes(5, "big")) for _ in range(3)]
        writer.put(b"other", b"")
        writer.flush()
        assert [sum(1 for _ in scan) for scan in scans] == [500] * 3
