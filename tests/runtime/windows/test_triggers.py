"""Triggers: when each fires, what it remembers, and that it forgets it."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.elements import MAX_WATERMARK
from spry.common.state import ReducingStateDescriptor, ValueStateDescriptor
from spry.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    CountTumblingWindowAssigner,
    DeltaTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from spry.runtime.testing import OperatorHarness
from tests import journal
from tests.runtime.windows.programs import window


def numbers(*found: int, key: str = "a") -> list[tuple[str, int]]:
    return [(key, number) for number in found]


def kept(harness: OperatorHarness) -> dict[Any, Any]:
    running: Any = harness.subtask.chain.operators[0]
    contents: dict[Any, Any] = running._contents
    return contents


def test_count_fires_at_every_so_many_elements_of_a_window() -> None:
    with OperatorHarness(window(GlobalWindows(), trigger=CountTrigger.of(2))) as harness:
        harness.push(*numbers(1, 2, 3), *numbers(7, key="b"), *numbers(4, 5))
        assert harness.values() == [("a", [1, 2]), ("a", [1, 2, 3, 4])]


def test_count_counts_per_window() -> None:
    with OperatorHarness(window(TumblingEventTimeWindows(10), trigger=CountTrigger.of(2))) as harness:
        harness.push_timestamped((("a", 1), 1), (("a", 2), 11), (("a", 3), 2), (("a", 4), 12))
        assert harness.values() == [("a", [1, 3]), ("a", [2, 4])]
        harness.watermark(100)
        assert len(harness.values()) == 2, "the end of the window is not the count trigger's business"
        assert kept(harness) == {}


def test_count_adds_up_what_merged_windows_have_counted() -> None:
    with OperatorHarness(window(EventTimeSessionWindows(10), trigger=CountTrigger.of(3))) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 15))
        assert harness.values() == []
        harness.push_timestamped((("a", 3), 7))
        assert [(key, sorted(found)) for key, found in harness.values()] == [("a", [1, 2, 3])]


def test_purging_lets_the_window_forget_its_elements() -> None:
    with OperatorHarness(window(GlobalWindows(), trigger=PurgingTrigger.of(CountTrigger.of(2)))) as harness:
        harness.push(*numbers(1, 2, 3))
        assert harness.values() == [("a", [1, 2])]
        harness.push(*numbers(4, 5))
        assert harness.values() == [("a", [1, 2]), ("a", [3, 4])]


def test_purging_passes_on_all_that_the_nested_trigger_does() -> None:
    description = window(EventTimeSessionWindows(10), trigger=PurgingTrigger.of(EventTimeTrigger()))
    with OperatorHarness(description) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 15), (("a", 3), 7))
        harness.watermark(23)
        assert harness.values() == []
        harness.watermark(24)
        assert [(key, sorted(found)) for key, found in harness.values()] == [("a", [1, 2, 3])]
    with OperatorHarness(
        window(TumblingProcessingTimeWindows(10), trigger=PurgingTrigger.of(ProcessingTimeTrigger()))
    ) as (harness):
        harness.push(*numbers(1))
        harness.set_processing_time(9)
        assert harness.values() == [("a", [1])]


def test_delta_compares_with_the_element_that_it_fired_at_last() -> None:
    trigger = DeltaTrigger.of(10, lambda old, new: abs(new[1] - old[1]))
    with OperatorHarness(window(GlobalWindows(), trigger=trigger)) as harness:
        harness.push(*numbers(0, 10, 5, 11, 20, 22), *numbers(100, key="b"))
        assert harness.values() == [("a", [0, 10, 5, 11]), ("a", [0, 10, 5, 11, 20, 22])]


def test_never_fires_never() -> None:
    with OperatorHarness(window(GlobalWindows())) as harness:
        harness.push(*numbers(1, 2))
        harness.end()
        assert harness.values() == []
    with OperatorHarness(window(EventTimeSessionWindows(10), trigger=NeverTrigger())) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 15), (("a", 3), 7))
        harness.end()
        assert (harness.values(), kept(harness)) == ([], {})


def test_continuous_event_time_fires_at_multiples_and_at_the_end() -> None:
    with OperatorHarness(window(TumblingEventTimeWindows(30), trigger=ContinuousEventTimeTrigger(10))) as harness:
        harness.push_timestamped((("a", 1), 3))
        harness.watermark(9)
        assert harness.values() == []
        harness.watermark(10)
        harness.push_timestamped((("a", 2), 12))
        harness.watermark(25)
        assert harness.values() == [("a", [1]), ("a", [1, 2])]
        harness.watermark(29)
        assert harness.values()[2:] == [("a", [1, 2])]
        assert {element.timestamp for element in harness.elements()} == {29}
        assert harness.event_time_timers() == []


def test_continuous_event_time_fires_for_each_multiple_that_the_watermark_jumps_over() -> None:
    with OperatorHarness(window(TumblingEventTimeWindows(30), trigger=ContinuousEventTimeTrigger(10))) as harness:
        harness.push_timestamped((("a", 1), 3))
        harness.end()
        assert len(harness.values()) == 3


def test_continuous_event_time_fires_at_once_for_late_elements() -> None:
    description = window(TumblingEventTimeWindows(30), trigger=ContinuousEventTimeTrigger(10), allowed_lateness=10)
    with OperatorHarness(description) as harness:
        harness.watermark(35)
        harness.push_timestamped((("a", 1), 3), (("a", 2), 3))
        assert harness.values() == [("a", [1]), ("a", [1, 2])]


def test_continuous_event_time_goes_on_in_the_window_that_others_merge_into() -> None:
    with OperatorHarness(window(EventTimeSessionWindows(10), trigger=ContinuousEventTimeTrigger(4))) as harness:
        harness.push_timestamped((("a", 1), 1), (("a", 2), 14), (("a", 3), 8))
        harness.watermark(4)
        assert [sorted(found) for _, found in harness.values()] == [[1, 2, 3]]
        harness.watermark(23)
        assert len(harness.values()) == 6, "8, 12, 16, 20, and the end"
        assert harness.event_time_timers() == []


def test_continuous_event_time_ends_with_the_input_where_windows_have_no_end() -> None:
    with OperatorHarness(window(GlobalWindows(), trigger=ContinuousEventTimeTrigger(10))) as harness:
        harness.push_timestamped((("a", 1), 3))
        harness.watermark(20)
        assert len(harness.values()) == 2
        harness.end()
        assert harness.ended
        assert harness.event_time_timers() == []


def test_continuous_processing_time_fires_by_the_clock() -> None:
    description = window(TumblingProcessingTimeWindows(30), trigger=ContinuousProcessingTimeTrigger(10))
    with OperatorHarness(description, now=3) as harness:
        harness.push(("a", 1))
        assert harness.next_wake_up() == 10
        harness.set_processing_time(10)
        harness.push(("a", 2))
        harness.set_processing_time(20)
        harness.set_processing_time(29)
        assert harness.values() == [("a", [1]), ("a", [1, 2]), ("a", [1, 2])]
        assert (kept(harness), harness.processing_time_timers()) == ({}, [])


def test_continuous_processing_time_also_works_for_windows_whose_end_the_clock_has_passed() -> None:
    description = window(TumblingEventTimeWindows(30), trigger=ContinuousProcessingTimeTrigger(10))
    with OperatorHarness(description, now=1003) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.set_processing_time(1020)
        assert harness.values() == [("a", [1]), ("a", [1])]
        harness.watermark(29)
        assert harness.processing_time_timers() == []
        assert len(harness.values()) == 2, "the end of the window is not this trigger's business"


class Own(Trigger[Any, Any]):
    """Fires at an element that says so, and at timers of both kinds that elements set."""

    seen = ReducingStateDescriptor("seen", lambda one, other: one + other)
    last = ValueStateDescriptor("last")

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.get_partitioned_state(self.seen).add(1)
        ctx.get_partitioned_state(self.last).update(element[1])
        match element[1]:
            case "event":
                ctx.register_event_time_timer(timestamp + 3)
            case "processing":
                ctx.register_processing_time_timer(ctx.get_current_processing_time() + 3)
            case "delete":
                ctx.delete_event_time_timer(timestamp)
                ctx.delete_processing_time_timer(timestamp)
            case "purge":
                return TriggerResult.PURGE
            case "fire and purge":
                return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        journal.note(("event", time, window.start, ctx.get_current_watermark()))
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        journal.note(("processing", time, window.start, ctx.get_partitioned_state(self.seen).get()))
        return TriggerResult.FIRE

    def clear(self, window: Any, ctx: Any) -> None:
        journal.note(("clear", window.start, ctx.get_partitioned_state(self.seen).get()))
        ctx.get_partitioned_state(self.seen).clear()
        ctx.get_partitioned_state(self.last).clear()


def own() -> OperatorHarness:
    journal.reset()
    return OperatorHarness(window(TumblingEventTimeWindows(10), trigger=Own()))


def test_a_trigger_of_ones_own_sets_timers_of_both_kinds() -> None:
    with own() as harness:
        harness.push_timestamped(
            (("a", "event"), 2), (("a", "processing"), 3), (("a", "event"), 4), (("a", "delete"), 7)
        )
        assert harness.processing_time_timers()[0][0] == 3
        harness.set_processing_time(3)
        harness.watermark(6)
        assert journal.reset() == [("processing", 3, 0, 4), ("event", 5, 0, 6)]
        assert len(harness.values()) == 2
        harness.watermark(9)
        assert journal.reset()[-1] == ("clear", 0, 4)


def test_purge_forgets_elements_and_keeps_the_state_of_the_trigger() -> None:
    with own() as harness:
        harness.push_timestamped((("a", 1), 1), (("a", "purge"), 1), (("a", 2), 1), (("a", "fire and purge"), 1))
        assert harness.values() == [("a", [2, "fire and purge"])]
        harness.push_timestamped((("a", "event"), 1), (("a", "purge"), 1))
        harness.watermark(9)
        assert len(harness.values()) == 1, "a window without elements gives no result"
        assert journal.reset()[-1] == ("clear", 0, 6)


def test_state_belongs_to_one_window_of_one_key() -> None:
    with own() as harness:
        harness.push_timestamped((("a", 1), 1), (("b", 1), 1), (("a", 1), 11), (("a", 1), 2))
        harness.watermark(19)
        assert sorted(entry for entry in journal.reset() if entry[0] == "clear") == [
            ("clear", 0, 1),
            ("clear", 0, 2),
            ("clear", 10, 1),
        ]


def test_the_object_is_shared_by_all_windows_of_a_subtask() -> None:
    class Counts(EventTimeTrigger):
        def __init__(self) -> None:
            self.elements = 0

        def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
            self.elements += 1
            return TriggerResult.FIRE if self.elements == 4 else TriggerResult.CONTINUE

    with OperatorHarness(window(SlidingEventTimeWindows(20, 10), trigger=Counts())) as harness:
        harness.push_timestamped((("a", 1), 1), (("b", 2), 1))
        assert harness.values() == [("b", [2])]


def test_what_is_no_trigger_result_is_refused() -> None:
    class Forgets(EventTimeTrigger):
        def on_element(self, *_: Any) -> Any:
            return None

    harness = OperatorHarness(window(TumblingEventTimeWindows(10), trigger=Forgets()))
    with pytest.raises(Exception, match=r"Forgets\(\) must return a TriggerResult, not None"):
        harness.push_timestamped((("a", 1), 1))


def test_count_windows_let_go_of_elements_once_they_are_full() -> None:
    with OperatorHarness(window(CountTumblingWindowAssigner(2))) as harness:
        harness.push(*numbers(1, 2, 3, 4, 5))
        assert harness.values() == [("a", [1, 2]), ("a", [3, 4])]
        assert list(kept(harness).values()) == [[("a", 5)]]
        assert harness.elements()[0].timestamp == MAX_WATERMARK
