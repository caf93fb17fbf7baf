"""Watermarks of sources: per split, and sources that wait for others of their group."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest

from spry.common import Duration, Types, WatermarkStrategy
from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP, Watermark
from spry.common.errors import JobExecutionError
from spry.common.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from spry.common.watermark_strategy import WatermarkGenerator, WatermarkOutput
from spry.connectors.collection import CollectionSource
from spry.datastream import ProcessFunction
from spry.runtime.timestamps_and_watermarks import WatermarkOutputMultiplexer
from tests.local_job import program

Polls = list[list[tuple[str, int]]]
"""What a reader emits, poll by poll: (split, timestamp)."""


@dataclass(frozen=True)
class Split:
    name: str

    def split_id(self) -> str:
        return self.name


class Enumerator(SplitEnumerator[Split, None]):
    def __init__(self, context: SplitEnumeratorContext[Split], splits: list[str]) -> None:
        self.context, self.splits = context, splits

    def add_reader(self, subtask: int) -> None:
        for split in self.splits:
            self.context.assign_split(Split(split), subtask)

    def handle_split_request(self, subtask: int, requester_host: str | None) -> None: ...

    def snapshot_state(self, checkpoint_id: int) -> None: ...


class Reader(SourceReader[Split]):
    """Emits what the script says; splits have outputs of their own from the start."""

    def __init__(self, polls: Polls) -> None:
        self.polls = deque(polls)
        self.outputs: dict[str, ReaderOutput] = {}
        self.splits: list[str] = []

    def add_splits(self, splits: list[Split]) -> None:
        self.splits += [split.name for split in splits]

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        if not self.splits:
            return InputStatus.NOTHING_AVAILABLE
        for split in self.splits:
            if split not in self.outputs:
                self.outputs[split] = output.create_output_for_split(split)
        if not self.polls:
            return InputStatus.END_OF_INPUT
        for split, timestamp in self.polls.popleft():
            if timestamp == MAX_WATERMARK:
                output.release_output_for_split(split)
            else:
                self.outputs[split].collect(f"{split}{timestamp}", timestamp)
        return InputStatus.MORE_AVAILABLE

    def snapshot_state(self, checkpoint_id: int) -> list[Split]:
        return []


class Script(Source[Split, None]):
    def __init__(self, splits: list[str], polls: Polls, reader: type[Reader] = Reader) -> None:
        self.splits, self.polls, self.reader = splits, polls, reader

    def get_boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: SplitEnumeratorContext[Split]) -> Enumerator:
        return Enumerator(context, self.splits)

    def restore_enumerator(self, context: SplitEnumeratorContext[Split], checkpoint: None) -> Enumerator:
        return Enumerator(context, self.splits)

    def create_reader(self, context: SourceReaderContext) -> Reader:
        return self.reader(self.polls)


class AtOnce(WatermarkGenerator):
    """A watermark behind every record."""

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output: WatermarkOutput) -> None: ...


class Look(ProcessFunction):
    """Each record with the watermark that came before it."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        watermark = ctx.timer_service().current_watermark()
        yield value, None if watermark == MIN_TIMESTAMP else watermark


def seen(splits: list[str], polls: Polls) -> list[Any]:
    env, job = program(1)
    strategy = WatermarkStrategy.for_generator(AtOnce)
    result = job.collect(env.from_source(Script(splits, polls), strategy, "script").process(Look()))
    job.run()
    return result


def test_the_watermark_is_that_of_the_slowest_split() -> None:
    polls: Polls = [[("a", 10)], [("a", 20)], [("b", 5)], [("a", 30)], [("b", 25)], [("a", 31)]]
    expected = [("a10", None), ("a20", None), ("b5", None), ("a30", 5), ("b25", 5), ("a31", 25)]
    assert seen(["a", "b"], polls) == expected


def test_a_split_that_has_ended_holds_nobody_back() -> None:
    polls: Polls = [[("a", 10)], [("b", 5)], [("b", MAX_WATERMARK)], [("a", 11)], [("a", 12)]]
    assert seen(["a", "b"], polls) == [("a10", None), ("b5", None), ("a11", 10), ("a12", 11)]


def test_each_split_has_a_generator_of_its_own() -> None:
    """A split that is behind is not late because of another that is ahead."""
    env, job = program(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0))
    polls: Polls = [[("a", 1000)], [("b", 1)], [("a", 1001)], [("b", 2)], [("b", 3)]]
    result = job.collect(env.from_source(Script(["a", "b"], polls), strategy, "script").process(Look()))
    job.start()
    while not job.finished:
        job.clock.advance(1000)
        job.step(max_records=1)
    job.close()
    assert [value for value, _ in result] == ["a1000", "b1", "a1001", "b2", "b3"]
    assert all(watermark is None or watermark < int(value[1:]) for value, watermark in result)
    assert result[-1][1] == 1


def test_an_idle_split_is_left_out() -> None:
    env, job = program(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_seconds(5))
    polls: Polls = [[("a", 10)], [("a", 20)], [("a", 30)], [("b", 7)], [("a", 40)], [("a", 50)]]
    result = job.collect(env.from_source(Script(["a", "b"], polls), strategy, "script").process(Look()))
    job.start()
    while not job.finished:
        job.clock.advance(3000)
        job.step(max_records=1)
    job.close()
    # At 30, b has been silent for 5 seconds: a alone counts. Its late record brings b back, and time stands still.
    assert [value for value, _ in result] == ["a10", "a20", "a30", "b7", "a40", "a50"]
    watermarks = [watermark for _, watermark in result]
    assert watermarks[0] is None
    assert watermarks[3] is not None
    assert watermarks[3] == watermarks[4]


def test_the_assigner_sees_records_in_the_form_of_the_declared_type() -> None:
    env, job = program(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda row, _: row.at)
    rows = Types.ROW_NAMED(["name", "at"], [Types.STRING(), Types.LONG()])
    source = CollectionSource([("a", 5), ("b", 7)])
    stamped = env.from_source(source, strategy, "rows", rows).process(Stamps())
    result = job.collect(stamped)
    job.run()
    assert result == [5, 7]


class Stamps(ProcessFunction):
    """The timestamp of each record."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield ctx.timestamp()


def test_watermarks_of_splits() -> None:
    emitted: list[Any] = []

    class Target(WatermarkOutput):
        def emit_watermark(self, watermark: Watermark) -> None:
            emitted.append(watermark.timestamp)

        def mark_idle(self) -> None:
            emitted.append("idle")

        def mark_active(self) -> None: ...

    whole = WatermarkOutputMultiplexer(Target())
    a, b = whole.register("a"), whole.register("b")
    a.emit_watermark(Watermark(10))
    b.emit_watermark(Watermark(5))
    b.emit_watermark(Watermark(3))
    b.mark_idle()
    a.mark_idle()
    b.emit_watermark(Watermark(20))
    assert emitted == [5, 10, 10, "idle", 20]
    assert (whole.watermark_of("a"), whole.watermark_of("b")) == (10, 20)
    whole.unregister("b")
    assert emitted[-2:] == [10, "idle"]


# Alignment


def ticks(name: str, step: int, count: int = 20) -> Script:
    return Script([name], [[(name, step * n)] for n in range(1, count)])


def aligned(drift: int) -> WatermarkStrategy:
    return WatermarkStrategy.for_generator(AtOnce).with_watermark_alignment("group", Duration.of_millis(drift))


@pytest.mark.parametrize("drift", [0, 50, 1000])
def test_sources_wait_for_the_slowest_of_their_group(drift: int) -> None:
    """One source's time passes ten times as fast: it is never ahead by more than the drift and one record."""
    env, job = program(1)
    slow = env.from_source(ticks("s", 10), aligned(drift), "slow")
    fast = env.from_source(ticks("f", 100), aligned(drift), "fast")
    result = job.collect(slow.union(fast))
    job.start()
    reached = {"s": 0, "f": 0}
    while not job.finished:
        before = dict(reached)
        at = len(result)
        job.step(max_records=1)
        for value in result[at:]:
            reached[value[0]] = int(value[1:])
        if before["s"] and before["s"] < 190:
            assert reached["f"] <= before["s"] + drift + 100
    job.close()
    assert len(result) == 38


def test_sources_of_other_groups_do_not_wait() -> None:
    env, job = program(1)
    slow = env.from_source(ticks("s", 10), aligned(0), "slow")
    alone = env.from_source(ticks("f", 100), WatermarkStrategy.for_generator(AtOnce), "fast")
    result = job.collect(slow.union(alone))
    job.start()
    for _ in range(8):
        job.step(max_records=1)
    assert sum(value[0] == "f" for value in result) >= 6
    job.close()


class Pausing(Reader):
    """Leaves splits out that are to pause."""

    paused: set[str]
    said: list[Any]

    def __init__(self, polls: Polls) -> None:
        super().__init__(polls)
        self.paused = set()
        self.left = {"a": [100 * n for n in range(1, 10)], "b": [10 * n for n in range(1, 10)]}

    def pause_or_resume_splits(self, splits_to_pause: list[str], splits_to_resume: list[str]) -> None:
        self.paused = self.paused - set(splits_to_resume) | set(splits_to_pause)

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        if not self.splits:
            return InputStatus.NOTHING_AVAILABLE
        for split in self.splits:
            if split not in self.outputs:
                self.outputs[split] = output.create_output_for_split(split)
        for split in self.splits:
            if self.left[split] and split not in self.paused:
                timestamp = self.left[split].pop(0)
                self.outputs[split].collect(f"{split}{timestamp}", timestamp)
        return InputStatus.MORE_AVAILABLE if any(self.left.values()) else InputStatus.END_OF_INPUT


def test_splits_that_are_ahead_pause() -> None:
    env, job = program(1)
    result = job.collect(env.from_source(Script(["a", "b"], [], Pausing), aligned(0), "script"))
    job.start()
    for _ in range(6):
        job.step(max_records=2)
    assert [value for value in result if value[0] == "a"] == ["a100"]
    assert len(result) > 3
    job.close()


def test_splits_resume_when_there_is_nobody_to_wait_for() -> None:
    """Waiting does not make a split idle; and when the other falls silent, it goes on."""

    class FallsSilent(Pausing):
        def __init__(self, polls: Polls) -> None:
            super().__init__(polls)
            self.left["b"] = [10, 20]

        def poll_next(self, output: ReaderOutput) -> InputStatus:
            super().poll_next(output)
            return InputStatus.NOTHING_AVAILABLE if self.left["a"] else InputStatus.END_OF_INPUT

    env, job = program(1)
    strategy = aligned(0).with_idleness(Duration.of_seconds(1))
    result = job.collect(env.from_source(Script(["a", "b"], [], FallsSilent), strategy, "script"))
    job.start()
    for _ in range(60):
        if job.finished:
            break
        job.clock.advance(300)
        job.step(max_records=2)
    job.close()
    assert [value for value in result if value[0] == "a"] == [f"a{100 * n}" for n in range(1, 10)]


def test_a_source_that_waits_has_nothing_to_do() -> None:
    """Else its job would run one epoch after the other for nothing."""
    env, job = program(1)
    silent = env.from_source(Script(["s"], [[("s", 1)], *[[]] * 50]), aligned(0), "silent")
    ahead = env.from_source(ticks("f", 100), aligned(0), "ahead")
    job.collect(silent.union(ahead))
    job.start()
    backlogs = []
    for _ in range(8):
        for report in job.step(max_records=1):
            backlogs += [vertex.backlog for vertex in report.vertices if vertex.watermark == 100]
    job.close()
    assert backlogs
    assert not any(backlogs[1:])


class Says(WatermarkGenerator):
    """Emits what it is told."""

    def __init__(self, watermark: Any) -> None:
        self.watermark = watermark

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(self.watermark)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        output.emit_watermark(self.watermark)


def test_a_time_stands_for_a_watermark() -> None:
    env, job = program(1)
    strategy = WatermarkStrategy.for_generator(lambda: Says(7))
    result = job.collect(env.from_collection([1, 2]).assign_timestamps_and_watermarks(strategy).process(Look()))
    job.run()
    assert result == [(1, None), (2, 7)]


@pytest.mark.parametrize("watermark", [True, None, 1.5, "7"])
def test_what_is_no_watermark_is_refused(watermark: Any) -> None:
    env, job = program(1)
    strategy = WatermarkStrategy.for_generator(lambda: Says(watermark))
    job.collect(env.from_collection([1, 2]).assign_timestamps_and_watermarks(strategy))
    with pytest.raises(JobExecutionError, match="emit_watermark takes a Watermark, or its time in ms, not"):
        job.run()
