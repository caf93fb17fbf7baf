"""Evictors: which elements each takes out, before the window function or after it."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.time import Time
from spry.datastream import ProcessWindowFunction
from spry.datastream.window import (
    CountEvictor,
    CountTrigger,
    DeltaEvictor,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    TimestampedValue,
    TumblingEventTimeWindows,
)
from spry.runtime.testing import OperatorHarness, StreamElement
from tests import journal
from tests.runtime.windows.programs import Numbers, window

EACH = CountTrigger.of(1)


def fired(evictor: Any, *records: tuple[int, int], trigger: Any = EACH, **settings: Any) -> list[list[int]]:
    """The numbers that the window function sees at each (number, timestamp)."""
    with OperatorHarness(window(GlobalWindows(), evictor=evictor, trigger=trigger, **settings)) as harness:
        harness.push_timestamped(*[(("a", number), stamp) for number, stamp in records])
        return [found for _, found in harness.values()]


def test_count_keeps_the_last() -> None:
    records = [(1, 0), (2, 0), (3, 0), (4, 0)]
    assert fired(CountEvictor.of(2), *records) == [[1], [1, 2], [2, 3], [3, 4]]
    assert fired(CountEvictor.of(2, True), *records) == [[1], [1, 2], [1, 2, 3], [2, 3, 4]]


def test_time_keeps_what_is_not_too_much_older_than_the_newest() -> None:
    records = [(1, 0), (2, 9), (3, 10), (4, 4), (5, 19)]
    before = fired(TimeEvictor.of(Time.milliseconds(10)), *records)
    assert before == [[1], [1, 2], [2, 3], [2, 3, 4], [3, 5]]
    after = fired(TimeEvictor.of(Time.milliseconds(10), True), *records)
    assert after == [[1], [1, 2], [1, 2, 3], [2, 3, 4], [2, 3, 4, 5]]


def test_time_keeps_all_elements_without_timestamps() -> None:
    with OperatorHarness(window(GlobalWindows(), evictor=TimeEvictor(10), trigger=CountTrigger.of(2))) as harness:
        harness.push(("a", 1), ("a", 2))
        assert harness.values() == [("a", [1, 2])]


def test_delta_keeps_what_differs_by_less_from_the_last() -> None:
    evictor = DeltaEvictor.of(5, lambda element, last: abs(last[1] - element[1]))
    assert fired(evictor, (0, 0), (4, 0), (5, 0), (20, 0)) == [[0], [0, 4], [4, 5], [20]]
    after = DeltaEvictor.of(5, lambda element, last: abs(last[1] - element[1]), True)
    assert fired(after, (0, 0), (4, 0), (5, 0), (20, 0)) == [[0], [0, 4], [0, 4, 5], [4, 5, 20]]


class Own(Evictor[Any, Any]):
    """Takes out odd numbers before, and the first element after."""

    def evict_before(self, elements: list[TimestampedValue[Any]], size: int, window: Any, evictor_context: Any) -> None:
        journal.note((size, [e.get_timestamp() for e in elements], evictor_context.get_current_watermark()))
        elements[:] = [element for element in elements if element.get_value()[1] % 2 == 0]

    def evict_after(self, elements: list[TimestampedValue[Any]], size: int, window: Any, evictor_context: Any) -> None:
        journal.note((size, evictor_context.get_current_processing_time()))
        del elements[:1]


def test_an_evictor_of_ones_own() -> None:
    journal.reset()
    description = window(GlobalWindows(), evictor=Own(), trigger=CountTrigger.of(3))
    with OperatorHarness(description, now=7) as harness:
        harness.watermark(3)
        harness.push_timestamped((("a", 1), 10), (("a", 2), 20), (("a", 4), 30))
        harness.push_timestamped((("a", 5), 40), (("a", 6), 50), (("a", 7), 60))
        assert harness.values() == [("a", [2, 4]), ("a", [4, 6])]
        assert journal.reset() == [(3, [10, 20, 30], 3), (2, 7), (4, [30, 40, 50, 60], 3), (2, 7)]


def test_the_window_function_is_called_even_if_nothing_is_left() -> None:
    assert fired(CountEvictor.of(0), (1, 0), (2, 0)) == [[], []]


def test_a_window_that_was_emptied_does_not_fire_again() -> None:
    description = window(TumblingEventTimeWindows(10), evictor=CountEvictor.of(0, True), trigger=CountTrigger.of(2))
    with OperatorHarness(description) as harness:
        harness.push_timestamped((("a", 1), 1), (("a", 2), 2))
        running: Any = harness.subtask.chain.operators[0]
        assert running._contents == {}
        harness.push_timestamped((("a", 3), 3))
        harness.end()
        assert harness.values() == [("a", [1, 2])]


def test_purging_lets_go_of_what_the_evictor_has_left() -> None:
    trigger = PurgingTrigger.of(CountTrigger.of(2))
    assert fired(CountEvictor.of(1), (1, 0), (2, 0), (3, 0), (4, 0), trigger=trigger) == [[2], [4]]


@pytest.mark.parametrize("function", [None, "process"])
def test_aggregations_see_only_what_is_left(function: Any) -> None:
    class One(ProcessWindowFunction):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            [result] = elements
            yield result

    for aggregation, results in (
        (Numbers(), [[1], [1, 2], [2, 3]]),
        (lambda one, other: (one[0], one[1] + other[1]), [("a", 1), ("a", 3), ("a", 5)]),
    ):
        description = window(
            GlobalWindows(), One() if function else None, aggregation, EACH, evictor=CountEvictor.of(2)
        )
        with OperatorHarness(description) as harness:
            harness.push(("a", 1), ("a", 2), ("a", 3))
            assert harness.values() == results


def test_a_reduce_function_that_changes_elements_does_not_change_those_that_stay() -> None:
    def into_the_first(one: Any, other: Any) -> Any:
        one[1].extend(other[1])
        return one

    with OperatorHarness(window(GlobalWindows(), None, into_the_first, EACH, evictor=CountEvictor.of(2))) as harness:
        harness.push(("a", [1]), ("a", [2]), ("a", [3]))
        assert harness.values() == [("a", [1]), ("a", [1, 2]), ("a", [2, 3])]


def test_evictors_of_windows_in_event_time() -> None:
    description = window(SlidingEventTimeWindows(20, 10), evictor=CountEvictor.of(1))
    with OperatorHarness(description) as harness:
        harness.push_timestamped((("a", 1), 11), (("a", 2), 12), (("a", 3), 25))
        harness.end()
        assert harness.elements() == [
            StreamElement(("a", [2]), 19),
            StreamElement(("a", [3]), 29),
            StreamElement(("a", [3]), 39),
        ]


def test_evictors_of_sessions() -> None:
    with OperatorHarness(window(EventTimeSessionWindows(10), evictor=TimeEvictor(10))) as harness:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 15), (("a", 3), 8))
        harness.end()
        assert [sorted(found) for _, found in harness.values()] == [[2, 3]]


def test_a_timestamp_that_is_not_there() -> None:
    assert TimestampedValue("a", 5).get_timestamp() == 5
    with pytest.raises(ValueError, match="'a' has no timestamp"):
        TimestampedValue("a").get_timestamp()
