"""Windows by the clock, with a clock that is held."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.time import Time
from spry.datastream.window import (
    CountEvictor,
    CountTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowStagger,
)
from spry.runtime.testing import OperatorHarness, StreamElement
from tests.runtime.windows.programs import Bounds, Numbers, window


class SlowProcessingTimeTrigger(ProcessingTimeTrigger):
    """The default trigger under another name, for which the general operator is chosen."""


each_operator = pytest.mark.parametrize("trigger", [None, SlowProcessingTimeTrigger()], ids=["quick", "general"])


@each_operator
def test_a_window_fires_at_its_last_moment(trigger: Any) -> None:
    with OperatorHarness(window(TumblingProcessingTimeWindows(10), trigger=trigger), now=103) as harness:
        harness.push(("a", 1), ("b", 2))
        assert harness.next_wake_up() == 109
        harness.set_processing_time(108)
        harness.push(("a", 3))
        assert harness.values() == []
        harness.set_processing_time(109)
        assert harness.elements() == [StreamElement(("a", [1, 3]), 109), StreamElement(("b", [2]), 109)]
        assert harness.next_wake_up() is None


@each_operator
def test_timestamps_and_watermarks_do_not_matter(trigger: Any) -> None:
    with OperatorHarness(window(TumblingProcessingTimeWindows(10), trigger=trigger), now=103) as harness:
        harness.watermark(10**12)
        harness.push_timestamped((("a", 1), 5))
        harness.watermark(10**13)
        assert harness.values() == []
        harness.set_processing_time(109)
        assert harness.values() == [("a", [1])]


@each_operator
def test_offsets_and_sliding_windows(trigger: Any) -> None:
    description = window(SlidingProcessingTimeWindows(20, 10, 3), Bounds(), trigger=trigger)
    with OperatorHarness(description, now=101) as harness:
        harness.push(("a", 1))
        harness.set_processing_time(103)
        harness.push(("a", 2))
        harness.set_processing_time(1000)
        assert harness.values() == [("a", 83, 103, [1]), ("a", 93, 113, [1, 2]), ("a", 103, 123, [2])]


@each_operator
def test_between_windows_with_a_long_slide_elements_are_in_none_and_not_late(trigger: Any) -> None:
    with OperatorHarness(window(SlidingProcessingTimeWindows(5, 10), trigger=trigger), now=107) as harness:
        harness.push(("a", 1))
        harness.set_processing_time(1000)
        assert harness.values() == []
        assert harness.subtask.report().metrics["Window.numLateRecordsDropped"] == 0


@each_operator
def test_windows_of_the_future_do_not_fire_when_the_input_ends(trigger: Any) -> None:
    with OperatorHarness(window(TumblingProcessingTimeWindows(10), trigger=trigger), now=103) as harness:
        harness.push(("a", 1))
        harness.end()
        assert harness.values() == []


@each_operator
def test_an_element_after_the_end_of_a_window_is_in_the_next_even_if_the_timer_is_overdue(trigger: Any) -> None:
    with OperatorHarness(window(TumblingProcessingTimeWindows(10), Bounds(), trigger=trigger), now=103) as harness:
        harness.push(("a", 1))
        harness.clock.now = 115
        harness.push(("a", 2))
        harness.set_processing_time(119)
        assert harness.values() == [("a", 100, 110, [1]), ("a", 110, 120, [2])]


@each_operator
def test_a_window_has_all_elements_of_its_last_millisecond(trigger: Any) -> None:
    with OperatorHarness(window(TumblingProcessingTimeWindows(10), trigger=trigger), now=103) as harness:
        harness.push(("a", 1))
        harness.clock.now = 109
        harness.push(("a", 2))
        assert harness.values() == []
        assert harness.end_epoch().next_timer == 110
        harness.clock.now = 110
        harness.push(("a", 3))
        assert harness.values() == [("a", [1, 2])]


@each_operator
def test_nothing_is_left_when_a_window_is_over(trigger: Any) -> None:
    for assigner in (TumblingProcessingTimeWindows(10), ProcessingTimeSessionWindows(10)):
        with OperatorHarness(window(assigner, None, Numbers(), trigger), now=103) as harness:
            harness.push(("a", 1))
            harness.set_processing_time(1000)
            running: Any = harness.subtask.chain.operators[0]
            assert not getattr(running, "_contents", None)
            assert not getattr(running, "_tables", None)
            assert harness.next_wake_up() is None


def test_other_triggers_and_evictors_also_end_with_the_window() -> None:
    for settings in ({"trigger": CountTrigger.of(2)}, {"evictor": CountEvictor.of(2)}):
        with OperatorHarness(window(TumblingProcessingTimeWindows(10), **settings), now=103) as harness:
            harness.push(("a", 1), ("a", 2))
            harness.set_processing_time(109)
            assert harness.values() == [("a", [1, 2])]
            running: Any = harness.subtask.chain.operators[0]
            assert running._contents == {}


def test_windows_in_event_time_may_fire_by_the_clock() -> None:
    trigger = PurgingTrigger.of(ProcessingTimeTrigger())
    with OperatorHarness(window(TumblingEventTimeWindows(10), trigger=trigger), now=3) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.set_processing_time(9)
        assert harness.values() == [("a", [1])]
        harness.watermark(9)
        harness.push_timestamped((("a", 2), 2))
        assert len(harness.values()) == 1, "late by event time"


@pytest.mark.parametrize(("stagger", "start"), [(WindowStagger.ALIGNED, 100), (WindowStagger.NATURAL, 103)])
@each_operator
def test_a_stagger_moves_all_windows_of_a_subtask(trigger: Any, stagger: WindowStagger, start: int) -> None:
    assigner = TumblingProcessingTimeWindows.of(Time.milliseconds(10), None, stagger)
    with OperatorHarness(window(assigner, Bounds(), trigger=trigger), now=103) as harness:
        harness.push(("a", 1))
        harness.advance_processing_time(15)
        harness.push(("b", 2))
        harness.advance_processing_time(100)
        assert [value[:3] for value in harness.values()] == [
            ("a", start, start + 10),
            ("b", start + 10, start + 20),
        ]


def test_a_random_stagger_is_the_same_for_all_windows_of_a_subtask() -> None:
    assigner = TumblingEventTimeWindows.of(Time.seconds(1000), None, WindowStagger.RANDOM)
    with OperatorHarness(window(assigner, Bounds())) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 5_000_000))
        harness.end()
        first, second = (value[1] for value in harness.values())
        assert (second - first) % 1_000_000 == 0
        assert -1_000_000 < first <= 0
