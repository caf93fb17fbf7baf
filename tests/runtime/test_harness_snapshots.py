"""Snapshots of a harness, and harnesses that go on from them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from spry.common.errors import CheckpointError, JobExecutionError
from spry.common.keys import KeySelection, key_group_of, subtask_of_key_group
from spry.common.operators import MapOperator, ProcessOperator, ReduceOperator
from spry.datastream import CheckpointedFunction, CheckpointListener, KeyedProcessFunction, MapFunction
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from spry.runtime.testing import HarnessSnapshot, OperatorHarness


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(100)
        ctx.timer_service().register_processing_time_timer(50)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), timestamp, self.count.value()


def itself(value: Any) -> Any:
    return value


def test_state_and_timers_go_on() -> None:
    with OperatorHarness(Count(), key=itself, now=10) as harness:
        harness.push("a", "b", "a")
        harness.watermark(7)
        snapshot = harness.snapshot(checkpoint_id=3)
        harness.push("a")
    snapshot = pickle.loads(pickle.dumps(snapshot))
    with OperatorHarness(Count(), key=itself, now=20, restore=snapshot) as harness:
        assert harness.watermarks() == [7]
        harness.push("a")
        harness.set_processing_time(50)
        harness.watermark(100)
    assert sorted(harness.values()) == [("a", 50, 3), ("a", 100, 3), ("b", 50, 1), ("b", 100, 1)]


def taken(count: int, parallelism: int) -> list[HarnessSnapshot]:
    snapshots = []
    for subtask in range(parallelism):
        with OperatorHarness(Count(), key=itself, parallelism=parallelism, subtask=subtask) as harness:
            mine = [n for n in range(count) if subtask_of_key_group(key_group_of(n, 128), 128, parallelism) == subtask]
            harness.push(*mine)
            snapshots.append(harness.snapshot())
    return snapshots


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 3), (3, 2), (4, 4)])
def test_keys_go_to_the_subtasks_that_they_belong_to(before: int, after: int) -> None:
    snapshots, results = taken(40, before), []
    for subtask in range(after):
        with OperatorHarness(Count(), key=itself, parallelism=after, subtask=subtask, restore=snapshots) as harness:
            assert len(harness.keys("count")) == len(harness.event_time_timers())
            harness.watermark(100)
            results.extend(harness.values())
    assert sorted(results) == [(n, 100, 1) for n in range(40)]


class Buffer(MapFunction, CheckpointedFunction, CheckpointListener):
    def __init__(self) -> None:
        self.kept: list[Any] = []

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.even = store.get_list_state(ListStateDescriptor("even"))
        self.union = store.get_union_list_state(ListStateDescriptor("union"))
        self.broadcast = store.get_broadcast_state(MapStateDescriptor("broadcast"))
        self.restored = context.is_restored(), context.get_restored_checkpoint_id()
        self.kept = list(self.even.get())

    def snapshot_state(self, context: Any) -> None:
        self.even.update(self.kept)
        self.union.update([len(self.kept)])

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self.kept.append(f"complete {checkpoint_id}")

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        self.kept.append(f"aborted {checkpoint_id}")

    def map(self, value: Any) -> Any:
        self.kept.append(value)
        self.broadcast.put("last", value)
        return self.restored, self.kept[:], list(self.union.get()), dict(self.broadcast.items())


def test_operator_state_is_shared_out() -> None:
    snapshots = []
    for subtask in range(2):
        with OperatorHarness(Buffer(), parallelism=2, subtask=subtask) as harness:
            harness.push(*range(10 * subtask, 10 * subtask + 3))
            assert harness.values()[-1][0] == (False, None)
            snapshots.append(harness.snapshot(7))
    found = []
    for subtask in range(3):
        with OperatorHarness(Buffer(), parallelism=3, subtask=subtask, restore=snapshots) as harness:
            harness.push("x")
            found.append(harness.values()[0])
    assert [restored for restored, _, _, _ in found] == [(True, 7)] * 3
    assert [kept for _, kept, _, _ in found] == [[0, 1, "x"], [2, 10, "x"], [11, 12, "x"]]
    assert [union for _, _, union, _ in found] == [[3, 3]] * 3


def test_functions_hear_of_checkpoints() -> None:
    with OperatorHarness(Buffer()) as harness:
        harness.snapshot(1)
        harness.complete_checkpoint(1)
        harness.snapshot(2)
        harness.abort_checkpoint(2)
        harness.push("x")
        assert harness.values()[0][1] == ["complete 1", "aborted 2", "x"]


def test_a_chain_goes_on_as_a_whole() -> None:
    key = KeySelection.of_callable(itself)
    chain = [ProcessOperator(Numbered(), key=key), MapOperator(lambda pair: pair[1]), MapOperator(Buffer())]
    with OperatorHarness(chain) as harness:
        harness.push("a", "a")
        snapshot = harness.snapshot()
    with OperatorHarness(chain, restore=snapshot) as harness:
        harness.push("a")
        assert harness.values()[0][1] == [1, 2, 3]


class Numbered(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


def test_reduced_values_go_on() -> None:
    def reduce() -> ReduceOperator:
        return ReduceOperator(lambda a, b: (a[0], a[1] + b[1]), key=KeySelection.of_fields((0,)))

    with OperatorHarness(reduce()) as harness:
        harness.push(("a", 1), ("b", 2), ("a", 3))
        snapshot = harness.snapshot()
    with OperatorHarness(reduce(), restore=snapshot) as harness:
        harness.push(("a", 10), ("c", 1))
        assert harness.values() == [("a", 14), ("c", 1)]


def test_a_directory_takes_what_is_large(tmp_path: Path) -> None:
    with OperatorHarness(Numbered(), key=itself) as harness:
        harness.push(*range(6000))
        snapshot = harness.snapshot(directory=str(tmp_path))
    assert [handle.path for handle in snapshot.files] == [path.name for path in tmp_path.iterdir()]
    with OperatorHarness(Numbered(), key=itself, restore=snapshot) as harness:
        assert len(harness.keys("count")) == 6000
    next(tmp_path.iterdir()).unlink()
    with pytest.raises(JobExecutionError, match=r"slot-0.* is missing"):
        OperatorHarness(Numbered(), key=itself, restore=snapshot)


def test_a_finished_subtask_has_finished() -> None:
    with OperatorHarness(Numbered(), key=itself) as harness:
        harness.push("a")
        harness.end()
        snapshot = harness.snapshot()
    with OperatorHarness(Numbered(), key=itself, restore=snapshot) as harness:
        assert harness.ended


class Keeps(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("lock"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.state.update(value if value != "lock" else (i for i in "ab"))


def test_what_cannot_be_written_is_named() -> None:
    with OperatorHarness(Keeps(), key=itself, names=["keeper"]) as harness:
        harness.push("a", "lock")
        with pytest.raises(
            CheckpointError, match=r"operator 'keeper', state 'lock': the value .*generator.* of key 'lock'"
        ):
            harness.snapshot()
        harness.push("b")
        assert harness.keys("lock") == {"a", "b", "lock"}


def test_snapshots_of_one_checkpoint_belong_together() -> None:
    one, two = taken(3, 1), taken(3, 2)
    with pytest.raises(ValueError, match="not of one checkpoint"):
        OperatorHarness(Count(), key=itself, restore=[*one, *two])
    with pytest.raises(ValueError, match="max_parallelism=128, not 64"):
        OperatorHarness(Count(), key=itself, restore=one, max_parallelism=64)
