"""Event time and the clock on Spark: windows, timers and lateness, with inputs that are out of order, late and idle."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from spry.common import Duration, Time, WatermarkStrategy
from spry.common.elements import Watermark
from spry.common.watermark_strategy import WatermarkGenerator
from spry.datastream import KeyedProcessFunction, OutputTag, SourceFunction
from spry.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.runtime.windows import model
from tests.runtime.windows.model import Element, Stream, as_results

pytestmark = pytest.mark.spark

parallelisms = pytest.mark.parametrize("parallelism", [1, 2, 4])
LATE = OutputTag("late")
MARK = "mark"


def disordered(count: int, by: int) -> list[Element]:
    """Elements in order of time, but for a disorder of less than ``by`` ms."""
    draw = random.Random(count)
    made = [(draw.choice("abcdef"), number, 3 * number) for number in range(count)]
    return sorted(made, key=lambda element: element[2] + draw.randrange(by))


@parallelisms
def test_elements_that_are_out_of_order(make_env: Any, parallelism: int) -> None:
    elements = disordered(600, 50)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50))
    stream = make_env(parallelism).from_collection(elements).rebalance()
    stamped = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(lambda value, _: value[2]))
    keyed = stamped.key_by(lambda value: value[0])
    results: Any = None
    for name, assigner in (
        ("tumbling", TumblingEventTimeWindows.of(Time.milliseconds(100))),
        ("sliding", SlidingEventTimeWindows.of(Time.milliseconds(400), Time.milliseconds(20))),
        ("sessions", EventTimeSessionWindows.with_gap(Time.milliseconds(30))),
    ):
        fired = keyed.window(assigner).apply(
            lambda key, window, found, name=name: [(name, key, window.start, window.end, sum(e[1] for e in found))]
        )
        results = fired if results is None else results.union(fired)
    expected: list[Any] = []
    for name, outcome in (
        ("tumbling", model.time_windows(list(elements), model.tumbling(100))),
        ("sliding", model.time_windows(list(elements), model.sliding(400, 20))),
        ("sessions", model.sessions(list(elements), lambda _: 30)),
    ):
        expected += [(name, key, start, end, sum(numbers)) for key, start, end, numbers in outcome.results]
    with results.execute_and_collect() as found:
        assert as_results(list(found)) == as_results(expected)


class AtMarks(WatermarkGenerator):
    """The stream says itself where its watermarks are."""

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        if event[0] == MARK:
            output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output: Any) -> None: ...


@parallelisms
def test_elements_that_are_late(make_env: Any, parallelism: int) -> None:
    draw = random.Random(7)
    stream: Stream = []
    for number in range(800):
        stream.append((draw.choice("abc"), number, number + draw.randrange(-60, 20)))
        if number % 10 == 0:
            stream.append(number - 20)
    records = [(MARK, 0, item) if isinstance(item, int) else item for item in stream]
    strategy = WatermarkStrategy.for_generator(AtMarks).with_timestamp_assigner(lambda value, _: value[2])
    source = (
        make_env(parallelism).from_collection(records).assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    )
    elements = source.filter(lambda value: value[0] != MARK).set_parallelism(1)
    fired = (
        elements.key_by(lambda value: value[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(20)))
        .allowed_lateness(15)
        .side_output_late_data(LATE)
        .apply(lambda key, window, found: [(key, window.start, window.end, tuple(e[1] for e in found))])
    )
    late = fired.get_side_output(LATE).map(lambda value: (LATE.tag_id, *value))
    expected = model.time_windows(stream, model.tumbling(20), 15)
    assert len(expected.late) > 50
    with fired.union(late).execute_and_collect() as found:
        assert as_results(list(found)) == as_results(
            [*expected.results, *[(LATE.tag_id, *element) for element in expected.late]]
        )


class Reminds(KeyedProcessFunction):
    """A timer 10 ms after each element; it says whether event time has come so far."""

    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), timestamp, ctx.timer_service().current_watermark() >= timestamp


@parallelisms
def test_timers_in_event_time(make_env: Any, parallelism: int) -> None:
    elements = disordered(1000, 30)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(30))
    stamped = (
        make_env(parallelism)
        .from_collection(elements)
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(lambda value, _: value[2]))
    )
    found = list(stamped.key_by(lambda value: value[0]).process(Reminds()).execute_and_collect())
    assert as_results(found) == as_results([(key, stamp + 10, True) for key, _, stamp in elements])
    for key in "abcdef":
        fired = [stamp for own, stamp, _ in found if own == key]
        assert parallelism > 1 or fired == sorted(fired)


class ThenSilent(SourceFunction):
    """Emits its values, each with its timestamp, and then nothing for as long as a test may take."""

    def __init__(self, *values: Any) -> None:
        self.values, self.running = values, True

    def run(self, ctx: Any) -> None:
        for value in self.values:
            ctx.collect_with_timestamp(value, value[1])
        end = time.monotonic() + 60
        while self.running and time.monotonic() < end:
            time.sleep(0.02)

    def cancel(self) -> None:
        self.running = False


@parallelisms
def test_an_input_that_is_idle_holds_nothing_up(make_env: Any, parallelism: int) -> None:
    env = make_env(parallelism)
    monotonous = WatermarkStrategy.for_monotonous_timestamps()
    active = env.add_source(ThenSilent(("a", 1), ("a", 2), ("a", 11), ("a", 25)))
    idle = env.add_source(ThenSilent(("b", 3)))
    often_idle = monotonous.with_idleness(Duration.of_millis(300))
    stream = active.assign_timestamps_and_watermarks(monotonous).set_parallelism(1)
    stream = stream.union(idle.assign_timestamps_and_watermarks(often_idle).set_parallelism(1))
    windows = stream.key_by(lambda value: value[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    fired = windows.apply(lambda key, window, found: [(key, window.start, len(list(found)))])
    # A fourth result would come at the end of the inputs.
    started = time.monotonic()
    assert sorted(fired.execute_and_collect(limit=3)) == [("a", 0, 2), ("a", 10, 1), ("b", 0, 1)]
    assert time.monotonic() - started < 55, "the results came only when the inputs ended"


class Alarm(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 400)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield "timer", timestamp, ctx.timer_service().current_processing_time()


def test_the_clock_goes_on_when_no_input_comes(make_env: Any) -> None:
    keyed = make_env(2).add_source(ThenSilent(("a", 1))).key_by(lambda value: value[0])
    timers = keyed.process(Alarm())
    windows = keyed.window(TumblingProcessingTimeWindows.of(Time.milliseconds(500))).apply(
        lambda key, window, found: [("window", window.max_timestamp(), time.time_ns() // 1_000_000)]
    )
    fired = timers.union(windows).execute_and_collect(limit=2)
    assert sorted(what for what, _, _ in fired) == ["timer", "window"]
    for _, due, now in fired:
        assert due < now < due + 20_000
