"""Windows that merge: sessions of each kind, merging assigners of one's own, and the set that keeps track."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from spry.common.errors import InvalidProgramError, JobExecutionError
from spry.common.state import ListStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from spry.datastream.window import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    MergingWindowAssigner,
    ProcessingTimeSessionWindows,
    SessionWindowTimeGapExtractor,
    TimeWindow,
    TriggerResult,
)
from spry.runtime.testing import OperatorHarness, StreamElement
from spry.runtime.windows.merging_window_set import MergingWindowSet
from tests import journal
from tests.runtime.windows.programs import LATE, Bounds, Numbers, SlowEventTimeTrigger, each_operator, window

GAP = EventTimeSessionWindows(10)


def sessions(harness: OperatorHarness) -> list[Any]:
    """What came out, with the numbers in order: merging does not keep the order of arrival."""
    return [(key, start, end, sorted(found)) for key, start, end, found in harness.values()]


@each_operator
def test_a_session_ends_after_a_pause(trigger: Any) -> None:
    with OperatorHarness(window(GAP, Bounds(), trigger=trigger)) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 9), (("b", 3), 5), (("a", 4), 25))
        harness.watermark(14)
        assert sessions(harness) == [("b", 5, 15, [3])]
        harness.watermark(18)
        assert sessions(harness)[1:] == [("a", 0, 19, [1, 2])]
        harness.end()
        assert harness.elements()[2] == StreamElement(("a", 25, 35, [4]), 34)


@each_operator
def test_sessions_that_touch_are_one(trigger: Any) -> None:
    with OperatorHarness(window(GAP, Bounds(), trigger=trigger)) as harness:
        harness.push_timestamped((("a", 1), -5), (("a", 2), 5), (("a", 3), 16))
        harness.end()
        assert sessions(harness) == [("a", -5, 15, [1, 2]), ("a", 16, 26, [3])]


@each_operator
def test_an_element_may_join_several_sessions(trigger: Any) -> None:
    with OperatorHarness(window(GAP, Bounds(), trigger=trigger)) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 15), (("a", 3), 30), (("a", 4), 8), (("a", 5), 22))
        harness.watermark(38)
        assert sessions(harness) == []
        harness.watermark(39)
        assert sessions(harness) == [("a", 0, 40, [1, 2, 3, 4, 5])]


@each_operator
def test_accumulators_are_merged(trigger: Any) -> None:
    with OperatorHarness(window(GAP, None, Numbers(), trigger)) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 15), (("a", 3), 8))
        harness.end()
        assert [sorted(found) for found in harness.values()] == [[1, 2, 3]]


@each_operator
def test_a_late_element_that_a_session_still_takes_in_is_not_late(trigger: Any) -> None:
    description = window(GAP, Bounds(), trigger=trigger, late_tag=LATE)
    with OperatorHarness(description, side_outputs=[LATE]) as harness:
        harness.push_timestamped((("a", 1), 12))
        harness.watermark(20)
        harness.push_timestamped((("a", 2), 5), (("a", 3), 1))
        assert harness.side_output(LATE) == [], "[5, 15) is over, but merges with [12, 22); [1, 11) with both"
        harness.push_timestamped((("b", 4), 5))
        assert harness.side_output(LATE) == [StreamElement(("b", 4), 5)]
        harness.end()
        assert sessions(harness) == [("a", 1, 22, [1, 2, 3])]


def test_late_elements_do_not_pile_up_timers() -> None:
    with OperatorHarness(window(GAP, Bounds(), allowed_lateness=100)) as harness:
        harness.push_timestamped((("a", 0), 0))
        harness.watermark(50)
        for number in range(1, 200):
            harness.push_timestamped((("a", number), number % 2))
        assert len(harness.values()) == 200
        operator: Any = harness.subtask.chain.operators[0]
        assert len(operator._timers) <= 3
        harness.watermark(111)
        assert not operator._sessions


@each_operator
def test_a_session_that_has_fired_may_grow_within_the_lateness(trigger: Any) -> None:
    with OperatorHarness(window(GAP, Bounds(), trigger=trigger, allowed_lateness=10)) as harness:
        harness.push_timestamped((("a", 1), 0))
        harness.watermark(12)
        harness.push_timestamped((("a", 2), 8))
        assert sessions(harness) == [("a", 0, 10, [1])], "grown to [0, 18), it is not over yet"
        harness.watermark(17)
        assert sessions(harness)[1:] == [("a", 0, 18, [1, 2])]
        harness.push_timestamped((("a", 3), 3))
        assert sessions(harness)[2:] == [("a", 0, 18, [1, 2, 3])]
        harness.watermark(27)
        harness.push_timestamped((("a", 4), 3))
        assert len(harness.values()) == 3


@each_operator
def test_elements_say_their_gap(trigger: Any) -> None:
    class Gap(SessionWindowTimeGapExtractor):
        def extract(self, element: Any) -> int:
            gap: int = element[1]
            return gap

    for extractor in (Gap(), lambda element: element[1]):
        assigner = DynamicEventTimeSessionWindows.with_dynamic_gap(extractor)
        with OperatorHarness(window(assigner, Bounds(), trigger=trigger)) as harness:
            harness.push_timestamped((("a", 30), 0), (("a", 2), 5), (("a", 3), 31), (("a", 4), 29))
            harness.end()
            assert sessions(harness) == [("a", 0, 34, [2, 3, 4, 30])]


@pytest.mark.parametrize(("gap", "match"), [(0, "must be positive, not 0"), (-5, "positive"), (1.5, "number of ms")])
@each_operator
def test_a_gap_that_is_none_is_refused(trigger: Any, gap: Any, match: str) -> None:
    harness = OperatorHarness(window(DynamicEventTimeSessionWindows(lambda _: gap), trigger=trigger))
    with pytest.raises(JobExecutionError, match=rf"(?s){match}.*record: \('a', 1\)"):
        harness.push_timestamped((("a", 1), 0))


def test_sessions_by_the_clock() -> None:
    for assigner in (ProcessingTimeSessionWindows(10), DynamicProcessingTimeSessionWindows(lambda _: 10)):
        with OperatorHarness(window(assigner, Bounds()), now=100) as harness:
            harness.push(("a", 1))
            harness.set_processing_time(109)
            assert sessions(harness) == [("a", 100, 110, [1])]
            harness.push(("a", 2))
            harness.set_processing_time(115)
            harness.push(("a", 3))
            harness.set_processing_time(123)
            assert len(harness.values()) == 1
            assert harness.next_wake_up() == 124
            harness.set_processing_time(124)
            assert harness.elements()[1:] == [StreamElement(("a", 109, 125, [2, 3]), 124)]
            assert harness.processing_time_timers() == []


class Days(MergingWindowAssigner[Any, TimeWindow]):
    """A window per element of as many ms as its number; those that begin on the same "day" of 100 ms merge."""

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
        return [TimeWindow(timestamp, timestamp + element[1])]

    def merge_windows(self, windows: Iterable[TimeWindow], callback: Any) -> None:
        days: dict[int, list[TimeWindow]] = {}
        for each in windows:
            days.setdefault(each.start // 100, []).append(each)
        for found in days.values():
            if len(found) > 1:
                callback.merge(found, TimeWindow(min(w.start for w in found), max(w.end for w in found)))

    def get_default_trigger(self, env: Any) -> Any:
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        return True


def test_a_merging_assigner_of_ones_own() -> None:
    with OperatorHarness(window(Days(), Bounds())) as harness:
        harness.push_timestamped((("a", 5), 10), (("a", 7), 80), (("a", 6), 110), (("a", 3), 40))
        harness.end()
        assert sorted(sessions(harness)) == [("a", 10, 87, [3, 5, 7]), ("a", 110, 116, [6])]


def test_windows_must_not_end_earlier_by_merging() -> None:
    class Shrinks(Days):
        def merge_windows(self, windows: Iterable[TimeWindow], callback: Any) -> None:
            found = list(windows)
            if len(found) > 1:
                callback.merge(found, TimeWindow(0, 1))

    harness = OperatorHarness(window(Shrinks()))
    harness.push_timestamped((("a", 50), 10))
    harness.watermark(20)
    with pytest.raises(JobExecutionError, match=r"Shrinks\.merge_windows must not make windows end earlier"):
        harness.push_timestamped((("a", 50), 30))

    class ByClock(Shrinks):
        def is_event_time(self) -> bool:
            return False

    harness = OperatorHarness(window(ByClock()), now=20)
    harness.push_timestamped((("a", 50), 10))
    with pytest.raises(JobExecutionError, match=r"ByClock\.merge_windows must not make windows end earlier"):
        harness.push_timestamped((("a", 50), 30))


class Merges(EventTimeTrigger):
    """Adds up what it has noted in the windows that merge."""

    noted = ListStateDescriptor("noted")
    count = ReducingStateDescriptor("count", lambda one, other: one + other)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.get_partitioned_state(self.noted).add(element[1])
        ctx.get_partitioned_state(self.count).add(1)
        return super().on_element(element, timestamp, window, ctx)

    def on_merge(self, window: Any, ctx: Any) -> None:
        super().on_merge(window, ctx)
        ctx.merge_partitioned_state(self.noted)
        ctx.merge_partitioned_state(self.count)

    def clear(self, window: Any, ctx: Any) -> None:
        noted, count = ctx.get_partitioned_state(self.noted), ctx.get_partitioned_state(self.count)
        journal.note((window.start, window.end, sorted(noted.get()), count.get()))
        noted.clear()
        count.clear()
        super().clear(window, ctx)


def test_the_state_of_triggers_is_merged() -> None:
    journal.reset()
    with OperatorHarness(window(GAP, trigger=Merges())) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 15), (("a", 3), 8))
        assert journal.reset() == [(0, 10, [], None), (15, 25, [], None)], "what they had has gone over"
        assert harness.event_time_timers() == [(24, ("a", TimeWindow(0, 25)))]
        harness.end()
        assert journal.reset() == [(0, 25, [1, 2, 3], 3)]


def test_state_of_other_kinds_cannot_be_merged() -> None:
    class Wrong(EventTimeTrigger):
        def on_merge(self, window: Any, ctx: Any) -> None:
            ctx.merge_partitioned_state(ValueStateDescriptor("last"))

    harness = OperatorHarness(window(GAP, trigger=Wrong()))
    with pytest.raises(JobExecutionError, match="'last' is described by a ValueStateDescriptor and cannot be merged"):
        harness.push_timestamped((("a", 1), 0), (("a", 2), 5))


def test_a_trigger_without_on_merge_says_so() -> None:
    class Cannot(SlowEventTimeTrigger):
        def on_merge(self, window: Any, ctx: Any) -> None:
            super(EventTimeTrigger, self).on_merge(window, ctx)

    harness = OperatorHarness(window(GAP, trigger=Cannot()))
    with pytest.raises(JobExecutionError, match=r"Cannot has no on_merge\(window, ctx\)"):
        harness.push_timestamped((("a", 1), 0), (("a", 2), 5))


# The set


def nothing(*_: Any) -> None: ...


def test_contents_stay_where_they_are_when_a_window_grows() -> None:
    known = MergingWindowSet(TimeWindow.merge_windows)
    first = known.add(TimeWindow(0, 10), nothing)
    assert first == known.state_window(first) == TimeWindow(0, 10)
    merges: list[Any] = []
    grown = known.add(TimeWindow(5, 15), lambda *merged: merges.append(merged))
    assert grown == TimeWindow(0, 15)
    assert merges == [(grown, [first], first, [])]
    assert known.state_window(grown) == first
    assert known.state_window(first) is None


def test_a_window_within_another_changes_nothing() -> None:
    known = MergingWindowSet(TimeWindow.merge_windows)
    known.add(TimeWindow(0, 10), nothing)
    known.add(TimeWindow(5, 20), nothing)
    merges: list[Any] = []
    for inner in (TimeWindow(0, 20), TimeWindow(3, 4)):
        assert known.add(inner, lambda *merged: merges.append(merged)) == TimeWindow(0, 20)
    assert merges == []
    assert known.state_window(TimeWindow(0, 20)) == TimeWindow(0, 10)


def test_one_of_the_state_windows_takes_in_the_others() -> None:
    known = MergingWindowSet(TimeWindow.merge_windows)
    for start in (0, 20, 100):
        known.add(TimeWindow(start, start + 10), nothing)
    merges: list[Any] = []
    assert known.add(TimeWindow(10, 20), lambda *merged: merges.append(merged)) == TimeWindow(0, 30)
    [(result, parts, kept, others)] = merges
    assert (result, sorted(parts)) == (TimeWindow(0, 30), [TimeWindow(0, 10), TimeWindow(20, 30)])
    assert sorted([kept, *others]) == sorted(parts)
    assert known.state_window(result) == kept
    known.retire(result)
    assert len(known) == 1


def test_windows_that_are_not_there_cannot_merge() -> None:
    def wrong(windows: Any, callback: Any) -> None:
        callback.merge([TimeWindow(7, 8), *windows], TimeWindow(0, 10))

    with pytest.raises(InvalidProgramError, match=r"merges \[TimeWindow\(start=7, end=8\)\], but there are no such"):
        MergingWindowSet(wrong).add(TimeWindow(0, 1), nothing)
