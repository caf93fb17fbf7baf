"""Window functions: their contexts, state, side outputs and life, what they may do to objects, and their errors."""

from __future__ import annotations

import re
from typing import Any

import pytest

from spry.common import Types
from spry.common.errors import JobExecutionError
from spry.common.state import ListStateDescriptor, ValueStateDescriptor
from spry.common.time import Time
from spry.datastream import (
    AggregateFunction,
    AllWindowFunction,
    KeySelector,
    OutputTag,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from spry.datastream.window import (
    CountTrigger,
    CountTumblingWindowAssigner,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    Evictor,
    GlobalWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from spry.runtime.testing import OperatorHarness, StreamElement
from tests import journal
from tests.local_job import program
from tests.runtime.windows.programs import Elements, Numbers, SlowEventTimeTrigger, each_operator, window

SIDE = OutputTag("side")


class Facts(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, context.window().start, context.current_watermark(), context.current_processing_time()


@each_operator
def test_what_the_context_knows(trigger: Any) -> None:
    with OperatorHarness(window(TumblingEventTimeWindows(10), Facts(), trigger=trigger), now=77) as harness:
        harness.push_timestamped((("a", 1), 15))
        harness.watermark(30)
        assert harness.elements() == [StreamElement(("a", 10, 30, 77), 19)]


class Remembers(ProcessWindowFunction):
    """How often the window has fired, and how often any window of the key has."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        descriptor = ValueStateDescriptor("fired", Types.INT())
        counts = []
        for store in (context.window_state(), context.global_state()):
            state = store.get_state(descriptor)
            state.update((state.value() or 0) + 1)
            counts.append(state.value())
        yield key, context.window().start, *counts

    def clear(self, context: Any) -> None:
        state = context.window_state().get_state(ValueStateDescriptor("fired", Types.INT()))
        journal.note((context.window().start, state.value()))
        state.clear()


@each_operator
def test_state_of_a_window_and_of_its_key(trigger: Any) -> None:
    journal.reset()
    description = window(TumblingEventTimeWindows(10), Remembers(), trigger=trigger, allowed_lateness=20)
    with OperatorHarness(description) as harness:
        harness.push_timestamped((("a", 1), 1), (("a", 2), 11), (("b", 3), 2))
        harness.watermark(19)
        harness.push_timestamped((("a", 4), 1))
        assert sorted(harness.values()) == [("a", 0, 1, 1), ("a", 0, 2, 3), ("a", 10, 1, 2), ("b", 0, 1, 1)]
        harness.watermark(29)
        assert sorted(journal.reset()) == [(0, 1), (0, 2)]
        running: Any = harness.subtask.chain.operators[0]
        assert set(running.window_context.states.table("fired").values()) == {1}, "what is cleared is gone"
        assert harness.state("fired", "a") == 3


@each_operator
def test_windows_that_merge_have_no_state_of_their_own(trigger: Any) -> None:
    harness = OperatorHarness(window(EventTimeSessionWindows(10), Remembers(), trigger=trigger))
    harness.push_timestamped((("a", 1), 1))
    with pytest.raises(JobExecutionError, match=r"windows that merge have no state .* use global_state\(\)"):
        harness.watermark(100)


class Outputs(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        context.output(SIDE, "at once")
        yield SIDE, "in order"
        yield key


@each_operator
def test_both_ways_to_a_side_output_have_the_timestamp_of_the_window(trigger: Any) -> None:
    description = window(TumblingEventTimeWindows(10), Outputs(), trigger=trigger)
    with OperatorHarness(description, side_outputs=[SIDE]) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.watermark(9)
        assert harness.elements() == [StreamElement("a", 9)]
        assert harness.side_output(SIDE) == [StreamElement("at once", 9), StreamElement("in order", 9)]


def test_a_function_may_give_nothing() -> None:
    class Quiet(WindowFunction):
        def apply(self, key: Any, window: Any, inputs: Any) -> None:
            return None

    with OperatorHarness(window(TumblingEventTimeWindows(10), Quiet())) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.watermark(9)
        assert harness.values() == []


def test_functions_without_a_key() -> None:
    class Applied(AllWindowFunction):
        def apply(self, window: Any, inputs: Any) -> Any:
            yield window.start, list(inputs)

    class Processed(ProcessAllWindowFunction):
        def process(self, context: Any, elements: Any) -> Any:
            yield context.window().start, list(elements)

    for function in (Applied(), Processed(), lambda window, inputs: [(window.start, list(inputs))]):
        with OperatorHarness(window(TumblingEventTimeWindows(10), function, keyed=False)) as harness:
            harness.push_timestamped((("a", 1), 1))
            harness.watermark(9)
            assert harness.values() == [(0, [("a", 1)])]


@each_operator
def test_a_window_function_sees_the_one_result_of_the_aggregation(trigger: Any) -> None:
    class Named(ProcessWindowFunction):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            yield key, context.window().end, list(elements)

    for aggregation, result in ((Numbers(), [[1, 2]]), (lambda one, other: (one[0], one[1] + other[1]), [("a", 3)])):
        description = window(TumblingEventTimeWindows(10), Named(), aggregation, trigger)
        with OperatorHarness(description) as harness:
            harness.push_timestamped((("a", 1), 1), (("a", 2), 2))
            harness.watermark(9)
            assert harness.values() == [("a", 10, result)]


def test_incremental_functions_keep_one_value_per_window() -> None:
    with OperatorHarness(window(GlobalWindows(), None, max, CountTrigger.of(1000))) as harness:
        harness.push(*[("a", number) for number in range(999)])
        running: Any = harness.subtask.chain.operators[0]
        assert list(running._contents.values()) == [("a", 998)]


# Objects that change


class Growing(ProcessWindowFunction):
    """Gives a list, and changes it afterwards."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        found: list[int] = []
        for element in elements:
            found.append(element[1])
            yield found


class SameList(Numbers):
    """Every result is the same list, changed."""

    def __init__(self) -> None:
        self.result: list[int] = []

    def get_result(self, accumulator: list[int]) -> list[int]:
        self.result[:] = accumulator
        return self.result


@each_operator
def test_a_result_does_not_change_after_it_was_given(trigger: Any) -> None:
    with OperatorHarness(window(TumblingEventTimeWindows(10), Growing(), trigger=trigger)) as harness:
        harness.push_timestamped((("a", 1), 1), (("a", 2), 2))
        harness.watermark(9)
        assert harness.values() == [[1], [1, 2]]
    with OperatorHarness(window(TumblingEventTimeWindows(10), None, SameList(), trigger)) as harness:
        harness.push_timestamped((("a", 1), 1), (("b", 2), 2))
        harness.watermark(9)
        assert sorted(harness.values()) == [[1], [2]]


@each_operator
def test_a_result_does_not_change_with_an_accumulator_that_lives_on(trigger: Any) -> None:
    for assigner in (TumblingEventTimeWindows(10), EventTimeSessionWindows(10)):
        description = window(assigner, None, Numbers(), trigger, allowed_lateness=10)
        with OperatorHarness(description) as harness:
            harness.push_timestamped((("a", 1), 1))
            harness.watermark(10)
            harness.push_timestamped((("a", 2), 1), (("a", 3), 1))
            assert harness.values() == [[1], [1, 2], [1, 2, 3]]


def _into_the_second(one: Any, other: Any) -> Any:
    other[1][0] += one[1][0]
    return other


def _into_the_first(one: Any, other: Any) -> Any:
    one[1][0] += other[1][0]
    return one


@each_operator
@pytest.mark.parametrize("reduce", [_into_the_first, _into_the_second])
@pytest.mark.parametrize("size", [20, 100])
def test_windows_that_overlap_do_not_share_elements_that_are_changed(trigger: Any, reduce: Any, size: int) -> None:
    with OperatorHarness(window(SlidingEventTimeWindows(size, 10), None, reduce, trigger)) as harness:
        harness.push_timestamped((("a", [1]), 1), (("a", [2]), 12), (("a", [4]), 15))
        harness.end()
        assert {value[1][0] for value in harness.values()} == ({1, 7, 6})


@each_operator
def test_windows_that_overlap_do_not_share_elements_that_the_window_function_changes(trigger: Any) -> None:
    class Drains(ProcessWindowFunction):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            for element in elements:
                yield element[1].pop()

    with OperatorHarness(window(SlidingEventTimeWindows(20, 10), Drains(), trigger=trigger)) as harness:
        harness.push_timestamped((("a", [1]), 11), (("a", [2]), 12))
        harness.end()
        assert sorted(harness.values()) == [1, 1, 2, 2]


# Life


class Living:
    """Notes when it is opened and closed."""

    def open(self, runtime_context: Any) -> None:
        journal.note(("open", type(self).__name__, runtime_context.get_index_of_this_subtask()))

    def close(self) -> None:
        journal.note(("close", type(self).__name__))


class LivingAggregate(Living, Numbers): ...


class LivingFunction(Living, Elements):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield from elements


class LivingSelector(Living, KeySelector):
    opened = False

    def open(self, runtime_context: Any) -> None:
        super().open(runtime_context)
        self.opened = True

    def close(self) -> None:
        super().close()
        self.opened = False

    def get_key(self, value: Any) -> Any:
        assert self.opened
        return value[0]


def test_both_functions_are_opened_and_closed_once() -> None:
    journal.reset()
    with OperatorHarness(window(TumblingEventTimeWindows(10), LivingFunction(), LivingAggregate())) as harness:
        harness.push_timestamped((("a", 1), 1))
        harness.end()
    entries = journal.reset()
    assert sorted(entries) == [
        ("close", "LivingAggregate"),
        ("close", "LivingFunction"),
        ("open", "LivingAggregate", 0),
        ("open", "LivingFunction", 0),
    ]


def test_a_function_is_closed_even_if_another_one_fails_to() -> None:
    class Fails(LivingAggregate):
        def close(self) -> None:
            raise ValueError("does not close")

    class AlsoFails(LivingFunction):
        def close(self) -> None:
            super().close()
            raise ValueError("nor does this")

    journal.reset()
    harness = OperatorHarness(window(TumblingEventTimeWindows(10), AlsoFails(), Fails()))
    harness.end()
    with pytest.raises(JobExecutionError, match=r"does not close|nor does this"):
        harness.close()
    assert ("close", "AlsoFails") in journal.reset()


def test_a_key_selector_that_was_opened_is_the_one_that_is_used() -> None:
    env, job = program(2, max_records=2)
    stream = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("b", 4)])
    result = job.collect(
        stream.key_by(LivingSelector()).count_window(2).apply(lambda key, _, found: [(key, list(found))])
    )
    job.run()
    assert sorted(result) == [("a", [("a", 1), ("a", 3)]), ("b", [("b", 2), ("b", 4)])]


def test_objects_that_are_used_in_two_places_are_not_shared() -> None:
    assigner, counting = CountTumblingWindowAssigner.of(2), Counting()
    env, job = program()
    stream = env.from_collection([("a", 1), ("a", 2), ("a", 3), ("a", 4)])
    keyed = stream.key_by(lambda value: value[0])
    first = job.collect(keyed.window(assigner).process(counting))
    second = job.collect(keyed.window(assigner).process(counting))
    job.run()
    assert first == second == [(1, [1, 2]), (2, [3, 4])]


class Counting(ProcessWindowFunction):
    def __init__(self) -> None:
        self.calls = 0

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        self.calls += 1
        yield self.calls, [element[1] for element in elements]


# Errors


def boom(*_: Any) -> Any:
    raise ZeroDivisionError("boom")


class BadAssigner(TumblingEventTimeWindows):
    assign_windows = boom


class BadEvictor(Evictor[Any, Any]):
    evict_before = boom
    evict_after = boom


class BadReduce(ReduceFunction):
    reduce = boom


class _Bad(AggregateFunction):
    """Numbers, but for the method that is named."""

    def __init__(self, method: str) -> None:
        setattr(self, method, boom)

    def create_accumulator(self) -> Any:
        return []

    def add(self, value: Any, accumulator: Any) -> Any:
        return [*accumulator, value[1]]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return [*acc_a, *acc_b]


def bad_trigger(method: str) -> EventTimeTrigger:
    return type("BadTrigger", (EventTimeTrigger,), {method: boom})()


class BadClear(Elements):
    clear = boom


class BadApply(WindowFunction):
    apply = boom


ELEMENT = r"\('a', \d+\)"
WINDOW = r"TimeWindow\(start=0, end=\d+\) of key 'a'"
TUMBLING, SESSIONS, SLOW = TumblingEventTimeWindows(10), EventTimeSessionWindows(10), SlowEventTimeTrigger()


@pytest.mark.parametrize(
    ("description", "record"),
    [
        (window(BadAssigner(10)), ELEMENT),
        (window(DynamicEventTimeSessionWindows(boom)), ELEMENT),
        (window(TUMBLING, trigger=bad_trigger("on_element")), ELEMENT),
        (window(TUMBLING, trigger=bad_trigger("on_event_time")), WINDOW),
        (window(TUMBLING, trigger=bad_trigger("clear")), WINDOW),
        (window(SESSIONS, trigger=bad_trigger("on_merge")), ELEMENT),
        (window(TUMBLING, evictor=BadEvictor()), WINDOW),
        (window(TUMBLING, None, BadReduce()), ELEMENT),
        (window(TUMBLING, None, BadReduce(), SLOW), ELEMENT),
        (window(TUMBLING, None, BadReduce(), evictor=BadEvictor()), ELEMENT + "|" + WINDOW),
        (window(TUMBLING, None, _Bad("create_accumulator")), ELEMENT),
        (window(TUMBLING, None, _Bad("add")), ELEMENT),
        (window(TUMBLING, None, _Bad("add"), SLOW), ELEMENT),
        (window(SESSIONS, None, _Bad("add")), ELEMENT),
        (window(SESSIONS, None, _Bad("merge")), ELEMENT),
        (window(SESSIONS, None, _Bad("merge"), SLOW), ELEMENT),
        (window(TUMBLING, None, _Bad("get_result")), WINDOW),
        (window(TUMBLING, Elements(), _Bad("get_result")), WINDOW),
        (window(TUMBLING, None, _Bad("get_result"), SLOW), WINDOW),
        (window(SESSIONS, None, _Bad("get_result")), WINDOW),
        (window(SlidingEventTimeWindows(100, 10), None, _Bad("get_result")), r"TimeWindow\(.*\) of key 'a'"),
        (window(SlidingEventTimeWindows(100, 10), None, _Bad("merge")), r"TimeWindow\(.*\) of key 'a'"),
        (window(TUMBLING, BadApply()), WINDOW),
        (window(TUMBLING, BadApply(), trigger=SLOW), WINDOW),
        (window(TUMBLING, BadClear()), WINDOW),
        (window(SESSIONS, BadClear()), WINDOW),
        (window(TUMBLING, BadClear(), trigger=SLOW), WINDOW),
    ],
)
def test_an_error_names_operator_and_record_and_shows_the_users_code_only(description: Any, record: str) -> None:
    harness = OperatorHarness(description, names=["my windows"])
    with pytest.raises(JobExecutionError) as caught:
        harness.push_timestamped((("a", 1), 0), (("a", 2), 1 if record == WINDOW else 18), (("a", 3), 9))
        harness.end()
    info = caught.value.failure
    assert (info.operator, info.summary) == ("my windows", "ZeroDivisionError: boom")
    assert re.fullmatch(record, info.record or ""), info.record
    assert info.traceback.count('File "') == info.traceback.count(f'File "{__file__}"') == 1


def test_an_error_of_the_key_selector_names_the_record() -> None:
    env, job = program()
    stream = env.from_collection([("a", 1)]).key_by(lambda value: value[7])
    job.collect(stream.window(TumblingProcessingTimeWindows.of(Time.seconds(1))).apply(lambda *_: []))
    with pytest.raises(JobExecutionError, match=r"(?s)IndexError.*record: \('a', 1\)"):
        job.run()


def test_a_result_that_is_not_of_the_declared_type_is_refused() -> None:
    harness = OperatorHarness(window(TUMBLING, None, min), output_types={0: Types.INT()})
    harness.push_timestamped((("a", 1), 1))
    with pytest.raises(JobExecutionError, match=r"'Window'.*must be INT, got \('a', 1\)"):
        harness.end()


def test_assigners_may_use_state_of_the_key() -> None:
    class ByThree(WindowAssigner[Any, Any]):
        """As count windows, with a list state."""

        def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
            seen = context.get_runtime_context().get_list_state(ListStateDescriptor("seen"))
            seen.add(element[1])
            return iter(GlobalWindows().assign_windows(element, timestamp, context) if len(list(seen)) % 3 else ())

        def get_default_trigger(self, env: Any) -> Any:
            return CountTrigger(1)

        def is_event_time(self) -> bool:
            return False

    with OperatorHarness(window(ByThree())) as harness:
        harness.push(("a", 1), ("a", 2), ("b", 9), ("a", 3), ("a", 4))
        assert harness.values() == [("a", [1]), ("a", [1, 2]), ("b", [9]), ("a", [1, 2, 4])]
