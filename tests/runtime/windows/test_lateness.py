"""When windows fire and are forgotten, and what becomes of elements that come after that."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common import Types
from spry.common.elements import MAX_WATERMARK, Watermark
from spry.datastream import ProcessWindowFunction
from spry.datastream.window import (
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from spry.runtime.testing import OperatorHarness, StreamElement
from tests import journal
from tests.local_job import program
from tests.runtime.windows.programs import LATE, Bounds, Numbers, SlowEventTimeTrigger, each_operator, window


def dropped(harness: OperatorHarness) -> int:
    count: int = harness.subtask.report().metrics["Window.numLateRecordsDropped"]
    return count


@each_operator
def test_a_window_fires_when_the_watermark_reaches_its_last_moment(trigger: Any) -> None:
    with OperatorHarness(window(TumblingEventTimeWindows(10), trigger=trigger)) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 9), (("a", 3), 10))
        harness.watermark(8)
        assert harness.values() == []
        harness.watermark(9)
        assert harness.output == [Watermark(8), StreamElement(("a", [1, 2]), 9), Watermark(9)]
        harness.end()
        assert harness.elements()[1:] == [StreamElement(("a", [3]), 19)]


@each_operator
def test_windows_before_1970_are_aligned_as_all_others(trigger: Any) -> None:
    with OperatorHarness(window(TumblingEventTimeWindows(10, 3), Bounds(), trigger=trigger)) as harness:
        harness.push_timestamped((("a", 1), -1), (("a", 2), -7), (("a", 3), -8), (("a", 4), 3))
        harness.end()
        assert harness.values() == [("a", -17, -7, [3]), ("a", -7, 3, [1, 2]), ("a", 3, 13, [4])]


@each_operator
def test_an_element_is_late_when_all_its_windows_are_over(trigger: Any) -> None:
    with OperatorHarness(window(SlidingEventTimeWindows(20, 10), Bounds(), trigger=trigger)) as harness:
        harness.watermark(9)
        harness.push_timestamped((("a", 1), 5))
        assert dropped(harness) == 0
        harness.watermark(19)
        harness.push_timestamped((("a", 2), 9))
        assert dropped(harness) == 1
        harness.end()
        assert harness.values() == [("a", 0, 20, [1])], "[-10, 10) was over when the element came"


@each_operator
def test_an_element_between_windows_is_late_only_if_it_is_behind_the_watermark(trigger: Any) -> None:
    with OperatorHarness(window(SlidingEventTimeWindows(5, 10), trigger=trigger), side_outputs=[LATE]) as harness:
        harness.watermark(6)
        harness.push_timestamped((("a", 1), 7))
        assert dropped(harness) == 0
        harness.push_timestamped((("a", 2), 6))
        assert dropped(harness) == 1


@each_operator
def test_within_the_lateness_every_element_fires_its_window_again(trigger: Any) -> None:
    description = window(TumblingEventTimeWindows(10), trigger=trigger, allowed_lateness=5, late_tag=LATE)
    with OperatorHarness(description, side_outputs=[LATE]) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.watermark(9)
        harness.push_timestamped((("a", 2), 2), (("b", 3), 3))
        harness.watermark(13)
        harness.push_timestamped((("a", 4), 4))
        harness.watermark(14)
        harness.push_timestamped((("a", 5), 5))
        assert harness.values() == [("a", [1]), ("a", [1, 2]), ("b", [3]), ("a", [1, 2, 4])]
        assert {element.timestamp for element in harness.elements()} == {9}
        assert harness.side_output(LATE) == [StreamElement(("a", 5), 5)]
        assert dropped(harness) == 0, "what goes to the side output is not dropped"


@each_operator
def test_a_late_element_fires_its_windows_latest_first(trigger: Any) -> None:
    for size in (20, 100):  # The longer ones share panes.
        description = window(SlidingEventTimeWindows(size, 10), Bounds(), min, trigger=trigger, allowed_lateness=500)
        with OperatorHarness(description) as harness:
            harness.watermark(200)
            harness.push_timestamped((("a", 1), 55))
            starts = [value[1] for value in harness.values()]
            assert starts == list(range(50, 55 - size, -10))


def test_elements_that_a_purged_window_had_are_gone() -> None:
    trigger = PurgingTrigger.of(SlowEventTimeTrigger())
    with OperatorHarness(window(TumblingEventTimeWindows(10), trigger=trigger, allowed_lateness=50)) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.watermark(9)
        harness.push_timestamped((("a", 2), 2))
        assert harness.values() == [("a", [1]), ("a", [2])]


class Clears(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key

    def clear(self, context: Any) -> None:
        journal.note((context.window().start, context.current_watermark()))


@each_operator
@pytest.mark.parametrize(("lateness", "over_at"), [(0, 9), (5, 14)])
def test_a_window_is_cleared_once_its_lateness_is_over(trigger: Any, lateness: int, over_at: int) -> None:
    journal.reset()
    for assigner in (TumblingEventTimeWindows(10), EventTimeSessionWindows(10)):
        description = window(assigner, Clears(), trigger=trigger, allowed_lateness=lateness)
        with OperatorHarness(description) as harness:
            harness.push_timestamped((("a", 1), 0))
            harness.watermark(over_at - 1)
            assert journal.reset() == []
            harness.watermark(over_at)
            assert journal.reset() == [(0, over_at)]
            assert harness.values() == ["a"]


def test_no_window_is_left_when_all_are_over() -> None:
    for assigner in (TumblingEventTimeWindows(10), SlidingEventTimeWindows(10, 5), EventTimeSessionWindows(10)):
        for lateness in (0, 7):
            description = window(assigner, trigger=SlowEventTimeTrigger(), allowed_lateness=lateness)
            with OperatorHarness(description) as harness:
                harness.push_timestamped((("a", 1), 0), (("a", 2), 6), (("b", 3), 25))
                harness.watermark(1000)
                running: Any = harness.subtask.chain.operators[0]
                assert (running._contents, running._sets, len(running.event_timers)) == ({}, {}, 0)


def test_a_lateness_without_end_keeps_windows() -> None:
    description = window(TumblingEventTimeWindows(10), trigger=SlowEventTimeTrigger(), allowed_lateness=MAX_WATERMARK)
    with OperatorHarness(description) as harness:
        harness.push_timestamped((("a", 1), 0))
        harness.watermark(10**15)
        harness.push_timestamped((("a", 2), 0))
        assert harness.values() == [("a", [1]), ("a", [1, 2])]


def test_global_windows_have_no_end_of_their_own() -> None:
    with OperatorHarness(window(GlobalWindows(), trigger=SlowEventTimeTrigger())) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.watermark(10**15)
        assert harness.values() == []
        harness.end()
        assert harness.elements() == [StreamElement(("a", [1]), MAX_WATERMARK)]


@each_operator
def test_an_element_without_a_timestamp_is_refused(trigger: Any) -> None:
    for assigner in (TumblingEventTimeWindows(10), EventTimeSessionWindows(10), SlidingEventTimeWindows(80, 1)):
        harness = OperatorHarness(window(assigner, None, Numbers(), trigger=trigger))
        with pytest.raises(Exception, match=r"\('a', 1\) has no timestamp.*assign_timestamps_and_watermarks"):
            harness.push(("a", 1))


def test_late_elements_keep_the_type_of_their_side_output() -> None:
    from spry.common import WatermarkStrategy
    from spry.common.watermark_strategy import WatermarkGenerator
    from spry.datastream import OutputTag

    class Each(WatermarkGenerator):
        def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
            output.emit_watermark(Watermark(event_timestamp))

        def on_periodic_emit(self, output: Any) -> None: ...

    strategy = WatermarkStrategy.for_generator(Each).with_timestamp_assigner(lambda value, _: value[1])
    env, job = program()
    tag = OutputTag("late", Types.TUPLE([Types.STRING(), Types.FLOAT()]))
    stream = env.from_collection([("a", 50), ("a", 3)]).assign_timestamps_and_watermarks(strategy)
    windows = stream.key_by(lambda value: value[0]).window(TumblingEventTimeWindows(10))
    result = windows.side_output_late_data(tag).reduce(lambda one, _: one)
    late = job.collect(result.get_side_output(tag))
    job.collect(result)
    job.run()
    assert late == [("a", 3.0)]
    assert type(late[0][1]) is float
