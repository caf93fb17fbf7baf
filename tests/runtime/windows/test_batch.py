"""Windows and timers in batch mode: key by key, by timestamp, and time ends with each key."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP
from spry.datastream import KeyedProcessFunction, ProcessWindowFunction
from spry.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from spry.runtime.testing import OperatorHarness, StreamElement
from spry.runtime.timers import TimerQueue, drain
from tests import journal
from tests.local_job import program
from tests.runtime.windows.programs import Bounds, Numbers, each_operator, window


def batch(description: Any, *records: Any, key: Any = None) -> OperatorHarness:
    """Runs the description over (value, timestamp) records to the end."""
    harness = OperatorHarness(description, key, batch=True)
    harness.push_timestamped(*records)
    assert harness.elements() == [], "nothing happens before the input has ended"
    harness.end()
    return harness


RECORDS = ((("a", 3), 12), (("b", 9), 1), (("a", 2), 7), (("a", 1), 2))


@each_operator
def test_windows_fire_key_by_key_and_nothing_is_late(trigger: Any) -> None:
    harness = batch(window(TumblingEventTimeWindows(10), trigger=trigger), *RECORDS)
    assert harness.elements() == [
        StreamElement(("a", [1, 2]), 9),
        StreamElement(("a", [3]), 19),
        StreamElement(("b", [9]), 9),
    ]


@each_operator
@pytest.mark.parametrize("incremental", [True, False])
def test_each_key_starts_anew(trigger: Any, incremental: bool) -> None:
    for assigner in (SlidingEventTimeWindows(100, 10), EventTimeSessionWindows(6), SlidingEventTimeWindows(20, 10)):
        described = window(assigner, None if incremental else Bounds(), min if incremental else None, trigger)
        alone = [batch(described, *[r for r in RECORDS if r[0][0] == key]).values() for key in "ab"]
        assert batch(described, *RECORDS).values() == [*alone[0], *alone[1]]


@each_operator
def test_lateness_changes_nothing(trigger: Any) -> None:
    harness = batch(window(TumblingEventTimeWindows(10), None, Numbers(), trigger, allowed_lateness=5), *RECORDS)
    assert harness.values() == [[1, 2], [3], [9]]


def test_processing_time_windows_fire_at_the_end_of_their_key() -> None:
    for assigner in (TumblingProcessingTimeWindows(10), ProcessingTimeSessionWindows(10)):
        assert batch(window(assigner), *RECORDS).values() == [("a", [1, 2, 3]), ("b", [9])]


def test_count_windows_that_are_not_full_give_nothing() -> None:
    assert batch(window(CountTumblingWindowAssigner(2)), *RECORDS).values() == [("a", [1, 2])]


class Times(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield context.current_watermark()

    def clear(self, context: Any) -> None:
        journal.note(context.current_watermark())


@each_operator
def test_event_time_has_ended_when_windows_fire(trigger: Any) -> None:
    journal.reset()
    harness = batch(window(TumblingEventTimeWindows(10), Times(), trigger=trigger), *RECORDS)
    assert harness.values() == journal.reset() == [MAX_WATERMARK] * 3


def test_continuous_triggers_end_with_the_key() -> None:
    by_event, by_clock = ContinuousEventTimeTrigger(10), ContinuousProcessingTimeTrigger(10)
    for trigger, own in ((by_event, TumblingEventTimeWindows(30)), (by_clock, TumblingProcessingTimeWindows(30))):
        for assigner in (GlobalWindows(), own):
            harness = batch(window(assigner, trigger=trigger), *RECORDS)
            assert [value for value in harness.values() if value[0] == "b"][-1] == ("b", [9])
            assert harness.ended


class Timers(KeyedProcessFunction):
    """Sets a timer of each kind per element; each timer sets another one."""

    def process_element(self, value: Any, ctx: Any) -> None:
        assert ctx.timer_service().current_watermark() == MIN_TIMESTAMP
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 100)
        ctx.timer_service().register_processing_time_timer(10**15 + ctx.timestamp())
        if value[1] == 3:
            ctx.timer_service().delete_event_time_timer(102)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield (
            ctx.get_current_key(),
            ctx.time_domain().name[0],
            timestamp % 1000,
            ctx.timer_service().current_watermark(),
        )
        ctx.timer_service().register_event_time_timer(timestamp + 1)
        ctx.timer_service().register_processing_time_timer(timestamp + 1)


def test_timers_fire_at_the_end_of_their_key_and_those_that_they_set_do_not() -> None:
    harness = batch(Timers(), *RECORDS, key=lambda value: value[0])
    assert [value[:3] for value in harness.values()] == [
        ("a", "E", 107),
        ("a", "E", 112),
        ("a", "P", 2),
        ("a", "P", 7),
        ("a", "P", 12),
        ("b", "E", 101),
        ("b", "P", 1),
    ]
    assert {value[3] for value in harness.values()} == {MAX_WATERMARK}
    assert harness.event_time_timers() == harness.processing_time_timers() == []


def test_draining_leaves_out_what_is_deleted_or_set_meanwhile() -> None:
    event, processing = TimerQueue(), TimerQueue()
    for time, key in ((3, "a"), (1, "b"), (5, "c")):
        event.register(time, key)
    processing.register(2, "a")
    fired = []
    for queue, time, key in drain(event, processing):
        fired.append((queue is event, time, key))
        event.delete(5, "c")
        event.register(4, "d")
        processing.register(9, "e")
    assert fired == [(True, 1, "b"), (True, 3, "a"), (False, 2, "a")]
    assert len(event) == len(processing) == 0


def test_windows_over_a_whole_program() -> None:
    env, job = program(2, batch=True, max_records=3)
    stream = env.from_collection([(str(number % 3), number) for number in range(12)])
    counted = job.collect(stream.key_by(lambda value: value[0]).count_window(2).sum(1))
    everything = job.collect(stream.count_window_all(4).sum(1))
    job.run()
    assert sorted(counted) == [("0", 3), ("0", 15), ("1", 5), ("1", 17), ("2", 7), ("2", 19)]
    assert sorted(total for _, total in everything) == [6, 22, 38]
