"""Windows as programs define them: what is refused says what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spry.common import Duration, Time, Types, WatermarkStrategy
from spry.common.errors import InvalidProgramError
from spry.connectors.number_seq import NumberSequenceSource
from spry.datastream import (
    AggregateFunction,
    AllWindowFunction,
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from spry.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountEvictor,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DeltaEvictor,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeEvictor,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowStagger,
)
from tests.local_job import new_environment

SECOND, ZERO, BEFORE = Time.seconds(1), Time.seconds(0), Time.seconds(-1)
EVENTS, CLOCK = TumblingEventTimeWindows.of(SECOND), TumblingProcessingTimeWindows.of(SECOND)
SESSIONS = EventTimeSessionWindows.with_gap(SECOND)
BY_VALUE = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)


def numbers(timestamps: bool = True) -> DataStream:
    stream = new_environment().from_collection([1, 2, 3])
    return stream.assign_timestamps_and_watermarks(BY_VALUE) if timestamps else stream


def windowed(assigner: Any = CLOCK) -> Any:
    return numbers().key_by(lambda value: value).window(assigner)


class Processed(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any: ...


class ProcessedAll(ProcessAllWindowFunction):
    def process(self, context: Any, elements: Any) -> Any: ...


class Applied(WindowFunction):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any: ...


class AppliedAll(AllWindowFunction):
    def apply(self, window: Any, inputs: Any) -> Any: ...


class Sum(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return accumulator + value

    def get_result(self, accumulator: int) -> int:
        return accumulator


class Timers(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any: ...


def keep(one: Any, _: Any) -> Any:
    return one


# Event time


@pytest.mark.parametrize(
    "window",
    [
        lambda stream: stream.key_by(lambda value: value).window(EVENTS),
        lambda stream: stream.window_all(SlidingEventTimeWindows.of(SECOND, SECOND)),
        lambda stream: stream.map(lambda value: value).key_by(lambda value: value).window(SESSIONS),
        lambda stream: stream.union(numbers_of(stream)).window_all(EVENTS),
        lambda stream: stream.assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
        ).window_all(EVENTS),
    ],
)
def test_windows_in_event_time_need_timestamps(window: Callable[[DataStream], Any]) -> None:
    with pytest.raises(InvalidProgramError) as error:
        window(numbers(timestamps=False))
    assert "the elements of 'Collection Source' have no timestamps" in str(error.value)
    assert "with_timestamp_assigner(...)) before key_by, or use windows in processing time" in str(error.value)


def numbers_of(stream: DataStream) -> DataStream:
    """Other numbers, with timestamps, of the same environment."""
    return stream.get_execution_environment().from_collection([4]).assign_timestamps_and_watermarks(BY_VALUE)


def test_timestamps_come_from_many_places() -> None:
    env = new_environment()
    numbers().map(lambda value: value).window_all(EVENTS)
    env.from_source(NumberSequenceSource(0, 9), BY_VALUE, "numbers").window_all(EVENTS)
    env.add_source(_Ticks()).window_all(EVENTS)
    windowed(CLOCK).reduce(keep).window_all(EVENTS)  # Windows give their results timestamps.
    numbers(timestamps=False).window_all(CLOCK)


class _Ticks:
    def run(self, ctx: Any) -> None:
        ctx.collect_with_timestamp(1, 1)

    def cancel(self) -> None: ...


@pytest.mark.parametrize("windows", [GlobalWindows.create(), CountTumblingWindowAssigner.of(2)])
def test_results_of_windows_without_an_end_have_no_time(windows: Any) -> None:
    results = numbers().key_by(lambda value: value).window(windows).reduce(keep)
    with pytest.raises(InvalidProgramError, match=r"their results have no time: call assign_timestamps_and_watermarks"):
        results.map(lambda value: value).window_all(EVENTS)
    results.assign_timestamps_and_watermarks(BY_VALUE).window_all(EVENTS)
    results.window_all(CLOCK)


def test_timers_need_a_key() -> None:
    with pytest.raises(InvalidProgramError, match=r"call key_by\(\.\.\.\) before process\(\.\.\.\)"):
        numbers().process(Timers())
    with pytest.raises(InvalidProgramError, match="SetsTimers has timers, but timers belong to keys"):
        numbers().process(SetsTimers())
    numbers().key_by(lambda value: value).process(SetsTimers())


class SetsTimers(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        ctx.timer_service().register_event_time_timer(value)


class CannotMerge(EventTimeTrigger):
    def can_merge(self) -> bool:
        return False


class Own(EventTimeSessionWindows):
    """Sessions whose default trigger cannot merge."""

    def get_default_trigger(self, env: Any) -> Any:
        return CannotMerge()


def test_the_default_trigger_of_windows_that_merge_must_be_able_to() -> None:
    windows = numbers().key_by(lambda value: value).window(Own(10))
    with pytest.raises(InvalidProgramError, match="needs can_merge"):
        windows.reduce(keep)
    windows.trigger(EventTimeTrigger()).reduce(keep)


@pytest.mark.parametrize(
    "setting", [lambda w: w.allowed_lateness(5), lambda w: w.side_output_late_data(OutputTag("late"))]
)
@pytest.mark.parametrize("assigner", [CLOCK, ProcessingTimeSessionWindows.with_gap(SECOND), GlobalWindows.create()])
def test_nothing_is_late_by_the_clock(setting: Any, assigner: Any) -> None:
    with pytest.raises(InvalidProgramError, match=r"by the clock, where nothing is late: use windows in event time"):
        setting(windowed(assigner))


def test_a_lateness_is_not_negative() -> None:
    for lateness in (5, Time.milliseconds(5), Duration.of_millis(5)):
        windowed(EVENTS).allowed_lateness(lateness)
    with pytest.raises(ValueError, match="must not be negative"):
        windowed(EVENTS).allowed_lateness(-1)
    with pytest.raises(TypeError, match="takes ms, a Time or a Duration"):
        windowed(EVENTS).allowed_lateness("5 s")
    with pytest.raises(TypeError, match="takes an OutputTag"):
        windowed(EVENTS).side_output_late_data("late")


# Lengths


@pytest.mark.parametrize("length", [ZERO, BEFORE])
@pytest.mark.parametrize(
    "of",
    [
        TumblingEventTimeWindows.of,
        TumblingProcessingTimeWindows.of,
        EventTimeSessionWindows.with_gap,
        ProcessingTimeSessionWindows.with_gap,
        lambda length: SlidingEventTimeWindows.of(length, SECOND),
        lambda length: SlidingEventTimeWindows.of(SECOND, length),
        lambda length: SlidingProcessingTimeWindows.of(length, SECOND),
        lambda length: SlidingProcessingTimeWindows.of(SECOND, length),
        ContinuousEventTimeTrigger.of,
        ContinuousProcessingTimeTrigger.of,
    ],
)
def test_lengths_are_positive(of: Any, length: Time) -> None:
    with pytest.raises(ValueError, match=r"(size|slide|gap|interval) must be positive, not"):
        of(length)


@pytest.mark.parametrize(
    "of",
    [
        TumblingEventTimeWindows.of,
        TumblingProcessingTimeWindows.of,
        EventTimeSessionWindows.with_gap,
        lambda length: SlidingEventTimeWindows.of(SECOND, length),
        lambda length: TumblingEventTimeWindows.of(SECOND, length),
        TimeEvictor.of,
    ],
)
def test_lengths_are_times(of: Any) -> None:
    for wrong in (5, "5 s", 1.5):
        with pytest.raises(TypeError, match=r"Time such as Time\.seconds\(5\)"):
            of(wrong)


@pytest.mark.parametrize("offset", [SECOND, Time.seconds(-1), Time.hours(1)])
def test_an_offset_is_shorter_than_the_period(offset: Time) -> None:
    for of in (
        lambda: TumblingEventTimeWindows.of(SECOND, offset),
        lambda: SlidingEventTimeWindows.of(Time.seconds(60), SECOND, offset),
        lambda: TumblingProcessingTimeWindows.of(SECOND, offset),
    ):
        with pytest.raises(ValueError, match="the offset must be shorter than the period of 1000 ms"):
            of()


def test_a_stagger_is_one() -> None:
    TumblingEventTimeWindows.of(SECOND, ZERO, WindowStagger.RANDOM)
    with pytest.raises(TypeError, match="must be a WindowStagger"):
        TumblingEventTimeWindows.of(SECOND, ZERO, "RANDOM")  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", True])
def test_counts_are_positive_numbers(count: Any) -> None:
    for of in (
        CountTumblingWindowAssigner,
        CountTrigger.of,
        lambda wrong: CountSlidingWindowAssigner(3, wrong),
        lambda wrong: CountSlidingWindowAssigner(wrong, 3),
        lambda wrong: numbers().count_window_all(wrong),
        lambda wrong: numbers().key_by(lambda value: value).count_window(wrong, 2),
    ):
        with pytest.raises(ValueError, match="positive number of elements"):
            of(count)


# Kinds


def test_what_is_no_assigner_trigger_or_evictor_is_refused() -> None:
    for wrong in (TumblingEventTimeWindows, Time.seconds(5), None):
        with pytest.raises(TypeError, match="a window assigner is needed, such as"):
            windowed(wrong)
    for wrong in (CountTrigger, 3, None):
        with pytest.raises(TypeError, match="a trigger is needed, such as"):
            windowed().trigger(wrong)
    for wrong in (CountEvictor, 3, None):
        with pytest.raises(TypeError, match="an evictor is needed, such as"):
            windowed().evictor(wrong)


def test_parts_of_triggers_evictors_and_sessions() -> None:
    for of, match in (
        (lambda: PurgingTrigger.of(3), "PurgingTrigger needs a Trigger"),  # type: ignore[arg-type]
        (lambda: DeltaTrigger.of(1, 2), "function of the old and the new element"),  # type: ignore[arg-type]
        (lambda: DeltaTrigger.of("1", keep), "number as its threshold"),  # type: ignore[arg-type]
        (lambda: DeltaEvictor.of(1, 2), "function of an element and the last one"),  # type: ignore[arg-type]
        (lambda: DeltaEvictor.of(None, keep), "number as its threshold"),  # type: ignore[arg-type]
        (lambda: DynamicEventTimeSessionWindows.with_dynamic_gap(5), "SessionWindowTimeGapExtractor"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=match):
            of()
    with pytest.raises(ValueError, match="number of elements to keep"):
        CountEvictor.of(-1)


def test_sessions_need_what_can_merge() -> None:
    with pytest.raises(InvalidProgramError, match=r"windows merge: it needs can_merge\(\) -> True and on_merge"):
        windowed(SESSIONS).trigger(DeltaTrigger.of(1, lambda old, new: new - old))
    with pytest.raises(InvalidProgramError, match=r"windows merge"):
        windowed(SESSIONS).trigger(PurgingTrigger.of(DeltaTrigger.of(1, lambda old, new: new - old)))
    with pytest.raises(InvalidProgramError, match=r"Sum needs merge\(acc_a, acc_b\)"):
        windowed(SESSIONS).aggregate(Sum())
    windowed(EVENTS).aggregate(Sum())


def test_functions_of_the_wrong_kind_are_refused() -> None:
    everything = numbers().window_all(CLOCK)
    for apply, match in (
        (lambda: windowed().process(ProcessedAll()), "process takes a ProcessWindowFunction here.*is keyed"),
        (lambda: windowed().reduce(keep, ProcessedAll()), "reduce takes a ProcessWindowFunction here"),
        (lambda: windowed().aggregate(Sum(), AppliedAll()), "aggregate takes a WindowFunction here"),
        (lambda: windowed().apply(AppliedAll()), "apply takes a WindowFunction here"),
        (lambda: everything.process(Processed()), "process takes a ProcessAllWindowFunction here.*is not keyed"),
        (lambda: everything.apply(Applied()), "apply takes a AllWindowFunction here"),
        (lambda: everything.aggregate(Sum(), Processed()), "aggregate takes a ProcessAllWindowFunction here"),
        (lambda: windowed().process(Timers()), "process takes a ProcessWindowFunction"),
        (lambda: windowed().process(Processed), "process takes a ProcessWindowFunction"),
        (lambda: windowed().apply(Applied), r"write Applied\(\)"),
        (lambda: windowed().apply(5), "apply takes a function or a WindowFunction"),
        (lambda: windowed().reduce(5), "reduce takes a function or a ReduceFunction"),
        (lambda: windowed().reduce(keep, Processed), r"write Processed\(\)"),
        (lambda: windowed().aggregate(keep), "aggregate takes an AggregateFunction"),
        (lambda: windowed().aggregate(Sum), "aggregate takes an AggregateFunction"),
    ):
        with pytest.raises(TypeError, match=match):
            apply()


@pytest.mark.parametrize("method", ["sum", "min", "max", "min_by", "max_by"])
def test_fields_that_the_stream_does_not_have_are_refused(method: str) -> None:
    pairs = new_environment().from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
    for stream in (pairs.key_by(0).window(CLOCK), pairs.window_all(CLOCK)):
        getattr(stream, method)(1)
        with pytest.raises(ValueError, match=rf"{method}\(2\).*no such field"):
            getattr(stream, method)(2)


def test_windows_of_everything_are_not_parallel() -> None:
    stream = numbers().window_all(CLOCK).reduce(keep)
    assert stream.get_parallelism() == 1
    with pytest.raises(ValueError, match="is not parallel"):
        stream.set_parallelism(2)
