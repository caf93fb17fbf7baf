"""Process functions: contexts, side outputs, timers; and the harness that they are tested with."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP, EndOfInput, Watermark, WatermarkStatus
from spry.common.errors import InvalidProgramError, JobExecutionError
from spry.common.operators import MapOperator, PrintOperator, SourceFunctionOperator
from spry.datastream import KeyedProcessFunction, OutputTag, ProcessFunction
from spry.runtime.testing import ManualClock, OperatorHarness, StreamElement, description_of
from spry.runtime.timers import TimerQueue

LATE = OutputTag("late")


def first(record: Any) -> Any:
    return record[0]


class Facts(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        timers = ctx.timer_service()
        yield value, ctx.timestamp(), timers.current_watermark(), timers.current_processing_time()


def test_what_the_context_knows() -> None:
    with OperatorHarness(Facts(), now=77) as harness:
        harness.push("a")
        harness.watermark(500)
        harness.push("b", timestamp=1000)
        harness.clock.advance(3)
        harness.push("c")
        assert harness.values() == [("a", None, MIN_TIMESTAMP, 77), ("b", 1000, 500, 77), ("c", None, 500, 80)]


class OutputsNow(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        ctx.output(LATE, ("at once", value))
        yield LATE, ("in order", value)
        yield value


def test_both_ways_to_a_side_output_keep_the_timestamp() -> None:
    with OperatorHarness(OutputsNow(), side_outputs=[LATE]) as harness:
        harness.push(1, 2, timestamp=9)
        assert harness.elements() == [StreamElement(1, 9), StreamElement(2, 9)]
        assert sorted(element.value for element in harness.side_output(LATE)) == [
            ("at once", 1),
            ("at once", 2),
            ("in order", 1),
            ("in order", 2),
        ]
        assert {element.timestamp for element in harness.side_output(LATE)} == {9}


class ReturnsList(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        return [value, (LATE, value)] if value else None


def test_results_may_be_returned_too() -> None:
    with OperatorHarness(ReturnsList(), side_outputs=["late"]) as harness:
        harness.push(0, 1)
        assert harness.values() == [1]
        assert harness.side_output("late") == [StreamElement(1)]


class Timers(KeyedProcessFunction):
    """Records are (key, command, time)."""

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        key, command, time = value
        assert ctx.get_current_key() == key
        service = ctx.timer_service()
        {
            "event": service.register_event_time_timer,
            "processing": service.register_processing_time_timer,
            "delete event": service.delete_event_time_timer,
            "delete processing": service.delete_processing_time_timer,
        }[command](time)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        assert timestamp == ctx.timestamp()
        if ctx.get_current_key() == "again" and timestamp < 40:
            ctx.timer_service().register_event_time_timer(timestamp + 10)
        yield ctx.get_current_key(), timestamp, ctx.time_domain().name, ctx.timer_service().current_watermark()
        if ctx.get_current_key() == "late":
            yield LATE, timestamp


def timers(**settings: Any) -> OperatorHarness:
    return OperatorHarness(Timers(), first, side_outputs=[LATE], **settings)


def test_event_time_timers_fire_in_order_when_the_watermark_passes() -> None:
    with timers() as harness:
        harness.push(("b", "event", 20), ("a", "event", 10), ("c", "event", 30), ("a", "event", 20))
        assert harness.event_time_timers() == sorted(harness.event_time_timers(), key=lambda t: t[0])
        harness.watermark(9)
        assert harness.values() == []
        harness.watermark(20)
        assert [value[:2] for value in harness.values()] == [("a", 10), ("b", 20), ("a", 20)]
        assert {value[2:] for value in harness.values()} == {("EVENT_TIME", 20)}
        assert [element.timestamp for element in harness.elements()] == [10, 20, 20]
        assert harness.output[-1] == Watermark(20), "the watermark follows what its timers emit"
        assert harness.event_time_timers() == [(30, "c")]


def test_setting_a_timer_twice_is_setting_it_once() -> None:
    with timers() as harness:
        harness.push(("a", "event", 10), ("a", "event", 10), ("b", "event", 10))
        harness.watermark(10)
        assert [value[0] for value in harness.values()] == ["a", "b"]


def test_a_deleted_timer_does_not_fire_and_may_be_set_again() -> None:
    with timers() as harness:
        harness.push(("a", "event", 10), ("b", "event", 10), ("a", "delete event", 10), ("b", "delete event", 11))
        harness.push(("c", "event", 10), ("c", "delete event", 10), ("c", "event", 10))
        harness.watermark(10)
        assert [value[0] for value in harness.values()] == ["b", "c"]
        harness.watermark(50)
        assert len(harness.values()) == 2


def test_a_timer_may_set_the_next_one_which_fires_too_if_it_is_due() -> None:
    with timers() as harness:
        harness.push(("again", "event", 10))
        harness.watermark(35)
        assert [value[1] for value in harness.values()] == [10, 20, 30]
        harness.watermark(1000)
        assert [value[1] for value in harness.values()] == [10, 20, 30, 40]


def test_a_timer_in_the_past_fires_with_the_next_watermark() -> None:
    with timers() as harness:
        harness.watermark(100)
        harness.push(("a", "event", 50))
        assert harness.values() == []
        harness.watermark(101)
        assert [value[:2] for value in harness.values()] == [("a", 50)]


def test_at_the_end_of_the_input_event_time_ends_and_processing_time_does_not() -> None:
    with timers(now=0) as harness:
        harness.push(("a", "event", 10**15), ("b", "processing", 5))
        harness.end()
        assert harness.values() == [("a", 10**15, "EVENT_TIME", MAX_WATERMARK)]
        assert harness.ended
        assert harness.output[-2:] == [Watermark(MAX_WATERMARK), EndOfInput()]


def test_processing_time_timers_fire_when_the_clock_passes() -> None:
    with timers(now=1000) as harness:
        harness.push(("b", "processing", 1020), ("a", "processing", 1010), ("c", "processing", 1030))
        harness.push(("c", "delete processing", 1030))
        assert harness.next_wake_up() == 1010
        assert harness.processing_time_timers() == [(1010, "a"), (1020, "b")]
        harness.set_processing_time(1009)
        assert harness.values() == []
        harness.advance_processing_time(1)
        assert [value[:3] for value in harness.values()] == [("a", 1010, "PROCESSING_TIME")]
        assert harness.next_wake_up() == 1020
        harness.set_processing_time(9999)
        assert [value[0] for value in harness.values()] == ["a", "b"]
        assert harness.next_wake_up() is None
        assert [element.timestamp for element in harness.elements()] == [None, None]


def test_both_kinds_of_timers_are_apart() -> None:
    with timers(now=0) as harness:
        harness.push(("a", "processing", 10), ("a", "event", 10), ("a", "delete event", 10))
        harness.watermark(10)
        assert harness.values() == []
        harness.set_processing_time(10)
        assert [value[2] for value in harness.values()] == ["PROCESSING_TIME"]


def test_timers_may_emit_to_side_outputs() -> None:
    with timers() as harness:
        harness.push(("late", "event", 10))
        harness.watermark(10)
        assert harness.side_output(LATE) == [StreamElement(10, 10)]


def test_a_function_without_on_timer_ignores_its_timers() -> None:
    class Silent(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
            ctx.timer_service().register_event_time_timer(1)

    with OperatorHarness(Silent(), first) as harness:
        harness.push(("a", 1))
        harness.watermark(5)
        assert harness.values() == []
        assert harness.event_time_timers() == []


def test_the_watermark_of_several_inputs() -> None:
    with timers(channels=2) as harness:
        harness.push(("a", "event", 10), channel=1)
        harness.watermark(20, channel=0)
        assert harness.values() == []
        harness.watermark(15, channel=1)
        assert [value[0] for value in harness.values()] == ["a"]
        harness.idle(channel=1)
        assert harness.watermarks() == [15, 20]
        harness.idle(channel=0)
        assert harness.output[-1] == WatermarkStatus(True)


# Timer queues


def test_a_queue_is_in_order_of_time_then_of_registration() -> None:
    queue = TimerQueue()
    for time, key in [(5, "b"), (3, "x"), (5, "a"), (3, "x")]:
        queue.register(time, key)
    assert len(queue) == 3
    assert queue.next_time() == 3
    assert list(queue.due(5)) == [(3, "x"), (5, "b"), (5, "a")]
    assert queue.next_time() is None


def test_deleting_what_is_not_there_does_nothing() -> None:
    queue = TimerQueue()
    queue.delete(1, "a")
    queue.register(1, "a")
    queue.delete(1, "a")
    queue.delete(1, "a")
    assert queue.next_time() is None
    assert list(queue.due(10)) == []


def test_keys_need_no_order() -> None:
    queue = TimerQueue()
    for key in (None, "a", 1, (1, None)):
        queue.register(1, key)
    assert len(list(queue.due(1))) == 4


# The harness itself


def test_a_function_is_found_by_its_method() -> None:
    assert type(description_of(Facts())).__name__ == "ProcessOperator"
    assert description_of(Timers(), first).key is not None
    with pytest.raises(TypeError, match=r"give an operator description, such as MapOperator"):
        description_of(lambda n: n)


def test_sources_are_refused() -> None:
    with pytest.raises(InvalidProgramError, match=r"push\(\)"):
        OperatorHarness(SourceFunctionOperator(None))


def test_an_error_is_raised_by_the_call_that_met_it() -> None:
    harness = OperatorHarness(MapOperator(lambda n: 1 // n))
    harness.push(1)
    with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
        harness.push(0)


def test_the_harness_can_be_one_of_several_subtasks_and_print() -> None:
    with OperatorHarness([PrintOperator("id")], parallelism=4, subtask=2) as harness:
        harness.push("a", "b")
        assert harness.printed() == ["id:3> a", "id:3> b"]


def test_job_parameters_and_names() -> None:
    class Asks(ProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.context = runtime_context

        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
            c = self.context
            yield c.get_job_parameter("a", "x"), c.get_job_parameter("b", "x"), c.get_index_of_this_subtask()
            yield c.get_task_name(), c.get_task_name_with_subtasks(), c.get_number_of_parallel_subtasks()
            yield c.get_max_number_of_parallel_subtasks(), c.get_attempt_number(), c.get_job_name()

    harness = OperatorHarness(
        Asks(), parallelism=3, subtask=1, max_parallelism=64, job_parameters={"a": "1"}, names=["asks"]
    )
    harness.push(0)
    assert harness.values() == [("1", "x", 1), ("asks", "asks (2/3)#0", 3), (64, 0, "harness")]


def test_a_clock_that_is_held() -> None:
    clock = ManualClock()
    clock.advance(5)
    assert clock() == clock.now == 5
