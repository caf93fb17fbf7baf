"""Every built-in assigner and trigger beside the slow model, over random streams, cut at random places.

Each stream runs twice through the operator that is chosen for it and once through the general one, cut into blocks and
epochs in different ways: the results must be the model's whatever the cut.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spry.common.keys import KeySelection
from spry.common.operators import WindowOperator
from spry.datastream import AggregateFunction, ProcessWindowFunction
from spry.datastream.window import (
    ContinuousEventTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from spry.runtime.testing import OperatorHarness
from tests.runtime.windows import model
from tests.runtime.windows.model import Outcome, Stream, as_results

LATE = "late"


class Numbers(AggregateFunction):
    """The numbers of a window, in a list that is changed in place."""

    def create_accumulator(self) -> list[int]:
        return []

    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        accumulator.append(value[1])
        return accumulator

    def get_result(self, accumulator: list[int]) -> tuple[int, ...]:
        return tuple(accumulator)

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        acc_a.extend(acc_b)
        return acc_a


class WithWindow(ProcessWindowFunction):
    """The result of an aggregation, with its window."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        window = context.window()
        for numbers in elements:
            yield key, window.start, window.end, numbers


class AllElements(ProcessWindowFunction):
    """All elements of the window, with its window."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        window = context.window()
        yield key, window.start, window.end, tuple(number for _, number in elements)


class Otherwise(EventTimeTrigger):
    """The default trigger under another name, for which the general operator is chosen."""


elements = st.tuples(st.sampled_from("abc"), st.integers(0, 99), st.integers(-60, 60))
watermarks = st.integers(-70, 70)
streams = st.lists(st.one_of(elements, elements, elements, watermarks), max_size=60)
cuts = st.randoms(use_true_random=False)


def operator(assigner: Any, trigger: Any = None, lateness: int = 0, incremental: bool = True) -> WindowOperator:
    return WindowOperator(
        assigner,
        trigger or assigner.get_default_trigger(None),
        Numbers() if incremental else None,
        WithWindow() if incremental else AllElements(),
        allowed_lateness=lateness,
        late_tag=LATE,
        key=KeySelection.of_fields((0,)),
    )


def outcome(description: WindowOperator, stream: Stream, random: Any) -> Outcome:
    """What the operator makes of the stream, cut at random."""
    with OperatorHarness(description, side_outputs=[LATE]) as harness:
        waiting: list[Any] = []

        def push() -> None:
            if waiting:
                harness.push_timestamped(*waiting)
                waiting.clear()

        for item in stream:
            if isinstance(item, int):
                push()
                harness.watermark(item)
            else:
                waiting.append(((item[0], item[1]), item[2]))
                if random.random() < 0.3:
                    push()
            if random.random() < 0.2:
                push()
                harness.end_epoch()
        push()
        harness.end()
        for element in harness.elements():
            assert len(element.value) == 2 or element.timestamp == element.value[2] - 1
        late = [(*element.value, element.timestamp) for element in harness.side_output(LATE)]
        return Outcome(harness.values(), late)  # type: ignore[arg-type]


def check(description: WindowOperator, general: WindowOperator, stream: Stream, random: Any, expected: Outcome) -> None:
    for each in (description, description, general):
        found = outcome(each, stream, random)
        assert _unordered(found.results) == _unordered(expected.results)
        assert as_results(found.late) == as_results(expected.late)


def _unordered(results: list[Any]) -> list[Any]:
    """Windows that merge, and panes, bring elements in another order than that of arrival."""
    return as_results([(*result[:-1], tuple(sorted(result[-1]))) for result in results])


@settings(deadline=None, max_examples=80)
@given(streams, st.integers(1, 30), st.integers(-40, 40), st.sampled_from([0, 0, 3, 20]), st.booleans(), cuts)
def test_tumbling(stream: Stream, size: int, offset: int, lateness: int, incremental: bool, random: Any) -> None:
    assigner = TumblingEventTimeWindows(size, offset % size)
    expected = model.time_windows(stream, model.tumbling(size, offset), lateness)
    quick = operator(assigner, None, lateness, incremental)
    check(quick, operator(assigner, Otherwise(), lateness, incremental), stream, random, expected)


@settings(deadline=None, max_examples=80)
@given(
    streams,
    st.integers(1, 40),
    st.integers(1, 45),
    st.integers(0, 40),
    st.sampled_from([0, 0, 3, 20]),
    st.booleans(),
    cuts,
)
def test_sliding(
    stream: Stream, size: int, slide: int, offset: int, lateness: int, incremental: bool, random: Any
) -> None:
    assigner = SlidingEventTimeWindows(size, slide, offset % slide)
    expected = model.time_windows(stream, model.sliding(size, slide, offset), lateness)
    quick = operator(assigner, None, lateness, incremental)
    check(quick, operator(assigner, Otherwise(), lateness, incremental), stream, random, expected)


@settings(deadline=None, max_examples=80)
@given(streams, st.integers(1, 4), st.integers(8, 40), st.sampled_from([0, 0, 3, 20]), cuts)
def test_panes(stream: Stream, slide: int, ratio: int, lateness: int, random: Any) -> None:
    size = slide * ratio + random.randrange(slide)
    assigner = SlidingEventTimeWindows(size, slide)
    expected = model.time_windows(stream, model.sliding(size, slide), lateness)
    check(operator(assigner, None, lateness), operator(assigner, Otherwise(), lateness), stream, random, expected)


@settings(deadline=None, max_examples=80)
@given(streams, st.integers(1, 25), st.sampled_from([0, 0, 3, 20]), st.booleans(), cuts)
def test_sessions(stream: Stream, gap: int, lateness: int, incremental: bool, random: Any) -> None:
    assigner = EventTimeSessionWindows(gap)
    expected = model.sessions(stream, lambda _: gap, lateness)
    quick = operator(assigner, None, lateness, incremental)
    check(quick, operator(assigner, Otherwise(), lateness, incremental), stream, random, expected)


@settings(deadline=None, max_examples=80)
@given(streams, st.integers(1, 25), st.sampled_from([0, 5]), cuts)
def test_dynamic_sessions(stream: Stream, modulus: int, lateness: int, random: Any) -> None:
    assigner = DynamicEventTimeSessionWindows(lambda element: 1 + element[1] % modulus)
    expected = model.sessions(stream, lambda number: 1 + number % modulus, lateness)
    quick = operator(assigner, None, lateness)
    check(quick, operator(assigner, Otherwise(), lateness), stream, random, expected)


class Bare(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, tuple(number for _, number in elements)


@settings(deadline=None, max_examples=80)
@given(streams, st.integers(1, 5), st.booleans(), cuts)
def test_counts(stream: Stream, size: int, purge: bool, random: Any) -> None:
    trigger = PurgingTrigger.of(CountTrigger.of(size)) if purge else CountTrigger.of(size)
    description = WindowOperator(GlobalWindows.create(), trigger, None, Bare(), key=KeySelection.of_fields((0,)))
    found = outcome(description, stream, random).results
    for key in "abc":  # In order, per key.
        mine = [result for result in model.counts(stream, size, purge) if result[0] == key]
        assert [result for result in found if result[0] == key] == mine


@settings(deadline=None, max_examples=80)
@given(streams, st.integers(2, 30), st.integers(1, 12), cuts)
def test_continuous_event_time(stream: Stream, size: int, interval: int, random: Any) -> None:
    description = operator(TumblingEventTimeWindows(size), ContinuousEventTimeTrigger(interval), 0, False)
    found = outcome(description, stream, random).results
    assert as_results(found) == as_results(model.continuous(stream, size, interval))


@pytest.mark.parametrize(
    ("assigner", "name"),
    [
        (TumblingEventTimeWindows(10), "RunningAlignedWindowOperator"),
        (SlidingEventTimeWindows(10, 5), "RunningAlignedWindowOperator"),
        (SlidingEventTimeWindows(80, 5), "RunningPaneWindowOperator"),
        (EventTimeSessionWindows(10), "RunningSessionWindowOperator"),
        (DynamicEventTimeSessionWindows(lambda _: 3), "RunningSessionWindowOperator"),
    ],
)
def test_which_operator_runs_which_windows(assigner: Any, name: str) -> None:
    """The tests above compare different operators only as long as these are chosen."""
    for trigger, expected in ((None, name), (Otherwise(), "RunningGeneralWindowOperator")):
        with OperatorHarness(operator(assigner, trigger)) as harness:
            assert type(harness.subtask.chain.operators[0]).__name__ == expected


def test_full_count_windows_are_forgotten() -> None:
    assigner = CountSlidingWindowAssigner(3, 2)
    trigger = assigner.get_default_trigger(None)
    description = WindowOperator(assigner, trigger, None, Bare(), key=KeySelection.of_fields((0,)))
    with OperatorHarness(description) as harness:
        harness.push(*[("a", n) for n in range(100)])
        assert len(harness.values()) == 49
        operator: Any = harness.subtask.chain.operators[0]
        assert len(operator._contents) <= 2
