"""Checkpoints of operators whose state is in RocksDB, and what goes on from them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import spry.runtime.testing as harnesses
from spry.common.keys import KeySelection
from spry.common.operators import ReduceOperator, WindowOperator
from spry.common.plan import CheckpointRequest, EpochCommand, RestoreState, SlotReport, SlotSnapshot
from spry.datastream import KeyedProcessFunction, RuntimeContext
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from spry.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from spry.runtime.testing import OperatorHarness
from tests.runtime.windows.test_properties import Numbers, WithWindow

KEYS = [f"key {n}" for n in range(200)]


class Visits(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))
        self.pages = runtime_context.get_list_state(ListStateDescriptor("pages"))
        self.times = runtime_context.get_map_state(MapStateDescriptor("times"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        key, page = value
        self.count.update((self.count.value() or 0) + 1)
        self.pages.add(page)
        self.times[page] = (self.times[page] or 0) + 1
        yield key, self.count.value(), list(self.pages.get()), dict(self.times.items())


class Job:
    """Runs an operator with one backend or the other, from checkpoint to checkpoint."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.restore: RestoreState | None = None
        self.running: list[OperatorHarness] = []
        self.known: frozenset[str] = frozenset()
        plan = harnesses._harness_plan
        monkeypatch.setattr(harnesses, "_harness_plan", lambda *a: replace(plan(*a), restore=self.restore))

    def start(self, what: Any, backend: str = "rocksdb", parallelism: int = 1) -> list[OperatorHarness]:
        given = {"state.backend.type": backend, "spry.state.rocksdb.cache-entries": "10"}
        key = (lambda record: record[0]) if isinstance(what, KeyedProcessFunction) else None
        self.running = [
            OperatorHarness(what, key, parallelism=parallelism, subtask=subtask, configuration=given)
            for subtask in range(parallelism)
        ]
        return self.running

    def checkpoint(self, number: int = 1, canonical: bool = False) -> list[SlotSnapshot]:
        """A checkpoint of all subtasks. They end, and the next ones go on from it."""
        request = CheckpointRequest(
            number, 0, str(self.directory), None if canonical else "shared", canonical, canonical, self.known
        )
        taken = []
        for harness in self.running:
            report = harness._slot.end_epoch(EpochCommand("harness", 0, 10 + number, checkpoint=request))
            taken.append(_wait(harness, report))
        operators = tuple(operator for snapshot in taken for operator in snapshot.operators)
        files = tuple(file for snapshot in taken for file in snapshot.files)
        self.restore = RestoreState(number, str(self.directory), files, operators, {"uid-0": len(taken)})
        self.known = frozenset(
            path for file in files if file.database is not None for _, path, _ in file.database["files"]
        )
        return taken

    def stop(self) -> None:
        for harness in self.running:
            harness.close()
        self.running = []


def _wait(harness: OperatorHarness, report: SlotReport) -> SlotSnapshot:
    for _ in range(1000):
        assert harness._slot.failure is None
        for snapshot in report.snapshots:
            assert snapshot.error is None, snapshot.error
            return snapshot
        time.sleep(0.01)
        report = harness._slot.report(99)
    raise TimeoutError


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    made = Job(tmp_path / "checkpoints", monkeypatch)
    made.directory.mkdir()
    yield made
    made.stop()


def visits(harnesses: list[OperatorHarness], page: str) -> dict[Any, Any]:
    """Every key visits a page, in the subtask that knows it; what comes out, by key."""
    known = [harness.keys("count") for harness in harnesses]
    for key in KEYS:
        owners = [harness for harness, keys in zip(harnesses, known, strict=True) if key in keys] or harnesses[:1]
        assert len(owners) == 1
        owners[0].push((key, page))
    return {key: rest for harness in harnesses for key, *rest in harness.values()}


@pytest.mark.parametrize("path", [["rocksdb"], ["rocksdb", "rocksdb"], ["hashmap", "rocksdb"], ["rocksdb", "hashmap"]])
@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_state_goes_on(job: Job, path: list[str], canonical: bool, parallelism: int) -> None:
    if not canonical and "hashmap" in path:
        pytest.skip("a native snapshot stays with its backend")
    visits(job.start(Visits(), path[0]), "a")
    for number, backend in enumerate([*path[1:], *path], 1):
        job.checkpoint(number, canonical)
        job.stop()
        found = visits(job.start(Visits(), backend, parallelism if number % 2 else 1), f"page {number}")
        expected = ["a", *(f"page {n + 1}" for n in range(number))]
        assert found == {key: [number + 1, expected, dict.fromkeys(expected, 1)] for key in KEYS}


def test_checkpoints_write_what_is_new(job: Job) -> None:
    running = job.start(Visits())
    visits(running, "x" * 1000)
    (first,) = job.checkpoint(1)
    running[0].push((KEYS[0], "new"))
    (second,) = job.checkpoint(2)
    assert second.written < first.written / 2


def test_a_reduction_goes_on(job: Job) -> None:
    def total() -> ReduceOperator:
        return ReduceOperator(lambda a, b: (a[0], a[1] + b[1]), key=KeySelection.of_fields((0,)))

    (harness,) = job.start(total())
    harness.push(*[(key, 1) for key in KEYS])
    job.checkpoint()
    job.stop()
    (harness,) = job.start(total())
    harness.push(*[(key, 1) for key in KEYS])
    assert harness.values() == [(key, 2) for key in KEYS]


@pytest.mark.parametrize("assigner", [TumblingEventTimeWindows(10), EventTimeSessionWindows(5)])
@pytest.mark.parametrize("before", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("after", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("canonical", [False, True])
def test_windows_go_on(job: Job, assigner: Any, before: str, after: str, canonical: bool) -> None:
    if not canonical and before == "rocksdb" != after:
        pytest.skip("a native snapshot stays with its backend")

    def windows() -> WindowOperator:
        trigger = assigner.get_default_trigger(None)
        return WindowOperator(assigner, trigger, Numbers(), WithWindow(), key=KeySelection.of_fields((0,)))

    (harness,) = job.start(windows(), before)
    harness.push_timestamped(*[((key, n), n) for key in "abc" for n in (0, 2, 4, 14)])
    harness.watermark(1)
    job.checkpoint(1, canonical)
    job.stop()
    (harness,) = job.start(windows(), after)
    harness.push_timestamped(*[((key, 6), 6) for key in "abc"])
    harness.watermark(100)
    first, second = ((0, 10), (10, 20)) if isinstance(assigner, TumblingEventTimeWindows) else ((0, 11), (14, 19))
    expected = [(key, *first, (0, 2, 4, 6)) for key in "abc"] + [(key, *second, (14,)) for key in "abc"]
    assert sorted(harness.values()) == sorted(expected)
