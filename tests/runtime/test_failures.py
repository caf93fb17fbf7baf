"""What a user reads when their function fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from spry.common.errors import FailureInfo, JobExecutionError
from spry.common.keys import KeySelection
from spry.common.operators import FilterOperator, FlatMapOperator, MapOperator, ReduceOperator
from spry.common.typeinfo import Types
from spry.common.watermark_strategy import WatermarkStrategy
from spry.datastream import (
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
)
from spry.runtime.testing import OperatorHarness
from tests import journal
from tests.local_job import plain, program


def boom(value: Any) -> Any:
    if value == 7:
        raise ValueError(f"no {value}")
    return value


def failure_of(build: Callable[[Any], Any], parallelism: int = 1, **settings: Any) -> FailureInfo:
    env, job = program(parallelism, **settings)
    build(env)
    with pytest.raises(JobExecutionError) as caught:
        job.run()
    return caught.value.failure


def check(failure: FailureInfo, operator: str, record: str | None = "7", summary: str = "ValueError: no 7") -> None:
    assert plain(failure.operator or "") == plain(operator)
    assert failure.record == record
    assert failure.summary == summary
    assert "<spry" not in failure.traceback
    assert "spry/runtime" not in failure.traceback


class BoomMap(MapFunction):
    def map(self, value: Any) -> Any:
        return boom(value)


class BoomProcess(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield boom(value)


class BoomSink(SinkFunction[Any]):
    def invoke(self, value: Any, context: Any) -> None:
        boom(value)


@pytest.mark.parametrize(
    "kind", ["map", "rich map", "filter", "flat_map", "process", "sink", "sink function", "reduce"]
)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_operator_record_and_the_users_own_traceback(kind: str, parallelism: int) -> None:
    def build(env: Any) -> Any:
        # A filter behind it, so that it is not the last of its chain; a map before, so that it is not the first.
        stream = env.from_collection(range(10)).map(lambda n: n)
        if kind == "sink":
            return stream.add_sink(boom).name("culprit")
        if kind == "sink function":
            return stream.add_sink(BoomSink()).name("culprit")
        if kind == "reduce":
            return stream.key_by(lambda n: 0).reduce(lambda a, b: boom(b)).name("culprit")
        made = {
            "map": lambda: stream.map(boom),
            "rich map": lambda: stream.map(BoomMap()),
            "filter": lambda: stream.filter(boom),
            "flat_map": lambda: stream.flat_map(lambda n: [boom(n)]),
            "process": lambda: stream.process(BoomProcess()),
        }[kind]()
        return made.name("culprit").filter(lambda n: True).name("innocent")

    failure = failure_of(build, parallelism)
    check(failure, "culprit")
    assert 'raise ValueError(f"no {value}")' in failure.traceback
    assert failure.subtask is not None
    assert failure.subtask.endswith(f"/{parallelism}")


def test_the_story_for_people() -> None:
    failure = failure_of(lambda env: env.from_collection([7]).map(boom).name("M"))
    error = JobExecutionError("my job", failure)
    assert str(error).startswith(
        "Job 'my job' failed: operator 'M' (subtask 1/1) failed: ValueError: no 7\nrecord: 7\n"
    )


def test_long_records_are_cut() -> None:
    harness = OperatorHarness(MapOperator(lambda v: v["missing"]))
    with pytest.raises(JobExecutionError) as caught:
        harness.push({"text": "x" * 10_000})
    record = caught.value.failure.record
    assert record is not None
    assert len(record) == 500
    assert record.endswith("...")


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def test_a_record_without_repr() -> None:
    harness = OperatorHarness(MapOperator(lambda v: v.missing))
    with pytest.raises(JobExecutionError) as caught:
        harness.push(NoRepr())
    assert caught.value.failure.record == "<NoRepr whose repr failed: no repr>"


def test_the_failing_operator_is_named_in_the_depth_of_a_chain() -> None:
    chain = [FlatMapOperator(lambda n: [n]) for _ in range(30)]
    chain[25] = FlatMapOperator(lambda n: [boom(n)])
    harness = OperatorHarness(chain, names=[f"step {n}" for n in range(30)])
    with pytest.raises(JobExecutionError) as caught:
        harness.push(1, 7)
    check(caught.value.failure, "step 25")


def test_behind_a_side_output() -> None:
    tag = OutputTag("t")

    class Tag(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield tag, value

    def build(env: Any) -> None:
        env.from_collection([1, 7]).process(Tag()).get_side_output(tag).map(boom).name("culprit")

    check(failure_of(build), "culprit")


def test_causes_are_told_and_engine_frames_are_not() -> None:
    def wraps(value: Any) -> Any:
        try:
            return {}[value]
        except KeyError as error:
            raise RuntimeError("wrapped") from error

    failure = failure_of(lambda env: env.from_collection([7]).map(wraps).name("M"))
    assert failure.summary == "RuntimeError: wrapped"
    assert "KeyError: 7" in failure.traceback
    assert "direct cause" in failure.traceback


def test_key_selectors() -> None:
    def selector(value: Any) -> Any:
        return boom(value)

    failure = failure_of(
        lambda env: env.from_collection([1, 7]).map(lambda n: n).name("before").key_by(selector).print()
    )
    check(failure, "before")


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize(
    ("key", "message"),
    [
        (lambda n: [n], "InvalidKeyError: the key [7] is a list, which cannot be hashed: return tuple(...)"),
        (lambda n: float("nan"), "InvalidKeyError: the key nan is not equal to itself"),
        (lambda n: object(), "is a object, which is hashed by identity"),
    ],
)
def test_keys_that_cannot_be_keys(parallelism: int, key: Any, message: str) -> None:
    failure = failure_of(lambda env: env.from_collection([7]).key_by(key).map(lambda n: n), parallelism)
    assert message in failure.summary
    assert failure.record == "7"


@pytest.mark.parametrize("returned", [2, -1, "0", None, 1.0])
def test_a_partitioner_that_names_no_subtask(returned: Any) -> None:
    def build(env: Any) -> None:
        stream = env.from_collection([7]).partition_custom(lambda key, count: returned, lambda n: n)
        stream.map(lambda n: n)

    failure = failure_of(build, 2)
    assert f"the partitioner returned {returned!r}; it must return an int from 0 to 1 (2 partitions)" in failure.summary
    assert failure.record == "7"


def test_what_cannot_travel_is_named() -> None:
    import threading

    def build(env: Any) -> None:
        env.from_collection([7]).map(lambda n: threading.Lock()).name("locks").rebalance().map(lambda n: n)

    failure = failure_of(build, 2)
    assert "cannot be pickled" in failure.summary


def test_timestamp_assigners_at_any_place_in_a_chain() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, _: boom(n))

    def build(env: Any) -> None:
        env.from_collection([1, 7]).map(lambda n: n).assign_timestamps_and_watermarks(strategy).name("times").print()

    failure = failure_of(build)
    check(failure, "times")
    assert 'raise ValueError(f"no {value}")' in failure.traceback


@pytest.mark.parametrize("stamp", [None, 1.5, "12"])
def test_a_timestamp_that_is_none(stamp: Any) -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, _: stamp)

    def build(env: Any) -> None:
        env.from_collection([1, 7]).assign_timestamps_and_watermarks(strategy).name("times").print()

    failure = failure_of(build)
    assert failure.operator == "times"
    assert f"the timestamp of 1 must be an int (ms since 1970), got {stamp!r}" in failure.summary


class BoomTimer(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        ctx.timer_service().register_event_time_timer(5)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        raise ValueError("no 7")


def test_timers() -> None:
    failure = failure_of(lambda env: env.from_collection([1]).key_by(lambda n: n).process(BoomTimer()).name("timers"))
    check(failure, "timers", None)
    assert "in on_timer" in failure.traceback


class BoomOpen(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        journal.note("open")
        raise ValueError("no 7")

    def map(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        journal.note("close")


def test_open() -> None:
    journal.reset()
    failure = failure_of(lambda env: env.from_collection([1]).map(BoomOpen()).name("opens"))
    check(failure, "opens", None)
    assert journal.reset() == ["open", "close"]


class BoomClose(MapFunction):
    def map(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        raise ValueError("no 7")


def test_close() -> None:
    check(failure_of(lambda env: env.from_collection([1]).map(BoomClose()).name("closes")), "closes", None)


class BoomSource(SourceFunction):
    def run(self, ctx: Any) -> None:
        ctx.collect(1)
        raise ValueError("no 7")

    def cancel(self) -> None: ...


def test_source_functions() -> None:
    failure = failure_of(lambda env: env.add_source(BoomSource(), "mine").print())
    check(failure, "Source: mine", None)
    assert "in run" in failure.traceback


def test_declared_types() -> None:
    def build(env: Any) -> None:
        wrong = env.from_collection([1, 7]).map(lambda n: (n, "x"), Types.TUPLE([Types.INT(), Types.INT()]))
        wrong.name("typed").print()

    failure = failure_of(build)
    assert failure.operator == "typed"
    assert "field 'f1' must be INT, got 'x' (str)" in failure.summary


def test_a_record_without_the_keys_field_is_named_and_no_line_of_ours() -> None:
    failure = failure_of(lambda env: env.from_collection([("a", 1), ("b",)]).name("pairs").key_by(1).map(str).print())
    check(failure, "pairs", "('b',)", "IndexError: tuple index out of range")
    assert failure.traceback == ""


def test_declared_types_of_side_outputs_and_sources() -> None:
    tag = OutputTag("t", Types.INT())

    class Tag(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield tag, str(value)

    failure = failure_of(lambda env: env.from_collection([7]).process(Tag()).name("P").get_side_output(tag).print())
    assert (failure.operator, failure.record) == ("P", "7")
    assert "must be INT, got '7' (str)" in failure.summary
    failure = failure_of(lambda env: env.from_collection(["a"], Types.INT()).name("S").print())
    assert failure.operator == "Source: S"
    assert failure.traceback == ""  # No line of the program failed.
    assert "must be INT, got 'a' (str)" in failure.summary


def test_nothing_happens_after_a_failure() -> None:
    """Not in this slot, and not in the others, which do not go on with half of an epoch."""
    env, job = program(3, max_records=100)
    out = job.collect(env.from_sequence(1, 30).rebalance().map(boom).rebalance().map(lambda n: n))
    with pytest.raises(JobExecutionError):
        job.run()
    assert len(out) < 30
    env, job = program(2, max_records=5)
    out = job.collect(env.from_collection(range(100)).map(boom).rebalance().map(lambda n: n))
    with pytest.raises(JobExecutionError):
        job.run()
    assert max(out, default=0) < 10
    assert job.epoch_count == 2


def test_state_on_a_stream_without_key() -> None:
    class Wants(ProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            from spry.datastream.state import ValueStateDescriptor

            runtime_context.get_state(ValueStateDescriptor("count"))

        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value

    failure = failure_of(lambda env: env.from_collection([1]).process(Wants()).name("P"))
    assert "operator 'P' asks for the keyed state 'count' but its input is not keyed" in failure.summary


def test_timers_on_a_stream_without_key() -> None:
    class Wants(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            getattr(ctx.timer_service(), "register_" + "event_time_timer")(1)  # Not to be seen before it runs.

    failure = failure_of(lambda env: env.from_collection([1]).process(Wants()).name("P"))
    assert "operator 'P' sets a timer but its input is not keyed: put key_by(...)" in failure.summary


@pytest.mark.parametrize(
    "error", [StopIteration("x"), SystemExit(3), KeyboardInterrupt("x"), asyncio.CancelledError("x")], ids=repr
)
def test_unusual_exceptions_are_failures_too(error: BaseException) -> None:
    def raises(value: Any) -> Any:
        raise error

    failure = failure_of(lambda env: env.from_collection([7]).map(raises).name("M"))
    assert failure.operator == "M"
    assert type(error).__name__ in failure.summary


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_exception_without_a_message_is_its_operators_all_the_same() -> None:
    def raises(value: Any) -> Any:
        raise Speechless

    failure = failure_of(lambda env: env.from_collection([7]).map(raises).name("M"))
    assert failure.operator == "M"
    assert failure.summary == "Speechless: <no message: its str() failed with RuntimeError>"


def test_endless_messages_are_cut() -> None:
    def raises(value: Any) -> Any:
        raise ValueError("x" * 1_000_000)

    failure = failure_of(lambda env: env.from_collection([7]).map(raises).name("M"))
    assert len(failure.summary) == 2000
    assert len(failure.traceback) < 21_000
    assert "in raises" in failure.traceback
    assert "characters left out" in failure.traceback


def test_the_members_of_a_group_are_shown_without_the_engine() -> None:
    def raises(value: Any) -> Any:
        try:
            OperatorHarness(5)  # An error whose traceback leads through the engine.
        except TypeError as error:
            raise ExceptionGroup("several", [error, ValueError("another")]) from None

    failure = failure_of(lambda env: env.from_collection([7]).map(raises).name("M"))
    assert "ValueError: another" in failure.traceback
    assert "in raises" in failure.traceback
    assert "in description_of" not in failure.traceback


class Unreadable:
    def __reduce__(self) -> Any:
        return boom, (7,)


def test_a_record_that_cannot_be_unpickled_fails_whom_it_goes_to() -> None:
    def build(env: Any) -> None:
        stream = env.from_collection([1]).map(lambda n: Unreadable()).name("from").rebalance()
        stream.map(lambda n: n).set_parallelism(2).name("to")

    failure = failure_of(build, 1)
    assert failure.operator == "to"
    assert failure.summary == "a record cannot be unpickled: ValueError: no 7"
    assert "in boom" in failure.traceback


def test_a_gauge_that_fails_does_not_stop_the_job() -> None:
    class Gauging(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.get_metrics_group().gauge("bad", lambda: 1 // 0)
            runtime_context.get_metrics_group().gauge("good", lambda: 5)

        def map(self, value: Any) -> Any:
            return value

    env, job = program(1)
    job.collect(env.from_collection([1]).map(Gauging()).name("M"))
    job.run()
    assert job.metrics["0.M.good"] == 5


def test_reduce_names_the_record() -> None:
    key = KeySelection.of_callable(lambda r: r[0])
    harness = OperatorHarness([FilterOperator(lambda r: True), ReduceOperator(lambda a, b: a + b["x"], key=key)])
    with pytest.raises(JobExecutionError) as caught:
        harness.push(("a", 1), ("a", 2))
    assert caught.value.failure.record == "('a', 2)"
