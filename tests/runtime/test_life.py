"""Open, close, accumulators, metrics; batch mode; declared types; the end of the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from spry.common.accumulators import AverageAccumulator, IntCounter, ListAccumulator
from spry.common.elements import MAX_WATERMARK
from spry.common.errors import JobExecutionError
from spry.common.time import Duration
from spry.common.typeinfo import Types
from spry.common.watermark_strategy import WatermarkGenerator, WatermarkStrategy
from spry.datastream import (
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    SinkFunction,
)
from spry.datastream.state import ValueStateDescriptor
from spry.runtime.testing import OperatorHarness
from tests import journal
from tests.local_job import program


class Rich:
    """Notes its life; fails where it is told to."""

    def __init__(self, name: str, fail: str = "") -> None:
        self.name, self.fail = name, fail

    def step(self, what: str) -> None:
        if what in ("open", "close"):
            journal.note((self.name, what, self.me))
        if what == self.fail:
            raise ValueError(f"{what} fails")

    def open(self, runtime_context: RuntimeContext) -> None:
        self.me = runtime_context.get_index_of_this_subtask()
        self.step("open")

    def close(self) -> None:
        self.step("close")


class RichMap(MapFunction):
    def __init__(self, name: str, fail: str = "") -> None:
        self.rich = Rich(name, fail)

    def open(self, runtime_context: RuntimeContext) -> None:
        self.rich.open(runtime_context)

    def map(self, value: Any) -> Any:
        self.rich.step("call")
        return value

    def close(self) -> None:
        self.rich.close()


class RichSink(SinkFunction[Any]):
    def __init__(self, name: str, fail: str = "") -> None:
        self.rich = Rich(name, fail)

    def open(self, runtime_context: RuntimeContext) -> None:
        self.rich.open(runtime_context)

    def invoke(self, value: Any, context: Any) -> None:
        self.rich.step("call")

    def finish(self) -> None:
        self.rich.step("finish")

    def close(self) -> None:
        self.rich.close()


@pytest.mark.parametrize("fail", ["", "call", "finish", "close"])
@pytest.mark.parametrize("where", ["first", "second", "sink"])
@pytest.mark.parametrize("chaining", [True, False])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_every_function_is_opened_and_closed_once(fail: str, where: str, chaining: bool, parallelism: int) -> None:
    journal.reset()
    env, job = program(parallelism, chaining=chaining)
    fails = {name: fail if name == where else "" for name in ("first", "second", "sink")}
    stream = env.from_sequence(1, 20).map(RichMap("first", fails["first"])).map(RichMap("second", fails["second"]))
    stream.add_sink(RichSink("sink", fails["sink"]))
    if fail and (fail, where) not in (("finish", "first"), ("finish", "second")):
        with pytest.raises(JobExecutionError, match=f"{fail} fails"):
            job.run()
    else:
        job.run()
    entries = journal.reset()
    for name in ("first", "second", "sink"):
        for subtask in range(parallelism):
            assert entries.count((name, "open", subtask)) == 1
            assert entries.count((name, "close", subtask)) == 1
            assert entries.index((name, "open", subtask)) < entries.index((name, "close", subtask))


def test_who_is_behind_is_opened_before_who_is_in_front() -> None:
    journal.reset()
    env, job = program(1)
    env.from_collection([1]).map(RichMap("front")).map(RichMap("middle")).add_sink(RichSink("back"))
    job.run()
    assert [name for name, what, _ in journal.reset() if what == "open"] == ["back", "middle", "front"]


# Accumulators and metrics


class Counts(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_int_counter("seen")
        self.mean = AverageAccumulator()
        runtime_context.add_accumulator("mean", self.mean)
        self.histogram = runtime_context.get_histogram("histogram")
        group = runtime_context.get_metrics_group().add_group("mine")
        self.counter = group.counter("records")
        self.distribution = group.distribution("sizes")
        group.gauge("constant", lambda: 5)

    def map(self, value: Any) -> Any:
        self.seen.add(1)
        self.mean.add(value)
        self.histogram.add(value % 2)
        self.counter.inc()
        self.distribution.update(value)
        return value


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("chaining", [True, False])
def test_accumulators_of_all_subtasks_and_operators_are_merged(parallelism: int, chaining: bool) -> None:
    env, job = program(parallelism, chaining=chaining)
    job.collect(env.from_sequence(1, 10).map(Counts()).map(Counts()))
    job.run()
    assert job.accumulators["seen"] == 20
    assert job.accumulators["mean"] == 5.5
    assert job.accumulators["histogram"] == {0: 10, 1: 10}


def test_accumulators_of_one_name_and_two_kinds_are_refused() -> None:
    class Lists(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.add_accumulator("seen", ListAccumulator())

        def map(self, value: Any) -> Any:
            return value

    class Again(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.add_accumulator("a", IntCounter())
            runtime_context.add_accumulator("a", IntCounter())

        def map(self, value: Any) -> Any:
            return value

    for chaining in (True, False):
        env, job = program(1, chaining=chaining)
        job.collect(env.from_sequence(1, 2).map(Counts()).map(Lists()))
        with pytest.raises(Exception, match=r"accumulator 'seen' is a .* in one operator and a"):
            job.run()
    env, job = program(1)
    job.collect(env.from_sequence(1, 2).map(Again()).name("M"))
    with pytest.raises(JobExecutionError, match="operator 'M' already has an accumulator 'a'"):
        job.run()


def test_metrics_have_the_operators_name_and_their_group() -> None:
    env, job = program(1)
    job.collect(env.from_sequence(1, 10).map(Counts()).name("counts"))
    job.run()
    assert job.metrics["0.counts.mine.records"] == 10
    assert job.metrics["0.counts.mine.constant"] == 5
    assert job.metrics["0.counts.mine.sizes"] == {"count": 10, "sum": 55, "min": 1, "max": 10, "mean": 5.5}


def test_numbers_of_records() -> None:
    env, job = program(2)
    job.collect(env.from_sequence(1, 10).filter(lambda n: n > 5).rebalance().map(lambda n: n))
    job.run()
    by_vertex: dict[int, list[Any]] = {}
    for report in job.reports:
        for vertex in report.vertices:
            by_vertex.setdefault(vertex.vertex_id, []).append(vertex)
    source, behind = (by_vertex[vertex] for vertex in sorted(by_vertex))
    assert (sum(v.records_in for v in source), sum(v.records_out for v in source)) == (10, 5)
    assert sum(v.records_in for v in behind) == 5
    assert all(v.watermark == MAX_WATERMARK for v in behind)


# Batch


@dataclass
class Event:
    key: str
    at: int


class Order(KeyedProcessFunction):
    """Notes what comes when; a timer per record."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        ctx.timer_service().register_event_time_timer(value.at + 1000)
        yield ctx.get_current_key(), value.at, self.last.value(), ctx.timer_service().current_watermark()
        self.last.update(value.at)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), "timer", timestamp, ctx.timer_service().current_watermark()


def batch_order(records: int = 60, parallelism: int = 2) -> list[Any]:
    env, job = program(parallelism, batch=True, max_records=7)
    events = [Event(f"k{(n * 7) % 5}", (n * 37) % 101) for n in range(records)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda e, _: e.at)
    timed = env.from_collection(events).assign_timestamps_and_watermarks(strategy)
    result = job.collect(timed.key_by(lambda e: e.key).process(Order()))
    job.run()
    return result


def check_batch(result: list[Any], records: int) -> None:
    runs = [key for at, (key, *_) in enumerate(result) if at == 0 or result[at - 1][0] != key]
    assert len(runs) == len(set(runs)) == 5, "everything of a key is together"
    for key in set(runs):
        mine = [row[1:] for row in result if row[0] == key]
        rows = [row for row in mine if row[0] != "timer"]
        assert [row[0] for row in rows] == sorted(row[0] for row in rows), "by timestamp"
        assert [row[1] for row in rows] == [None, *[row[0] for row in rows][:-1]], "state is the key's"
        assert {row[2] for row in rows} == {-(2**63)}, "event time stands still"
        timers = mine[len(rows) :]
        assert [row[1] for row in timers] == sorted({row[0] + 1000 for row in rows}), "timers fire when the key ends"
        assert all(row[0] == "timer" and row[2] == MAX_WATERMARK for row in timers)
    assert sum(1 for row in result if row[1] != "timer") == records


def test_batch_mode_sees_one_key_after_the_other_by_timestamp() -> None:
    check_batch(batch_order(), 60)


def test_batch_mode_lets_keys_in_over_several_epochs() -> None:
    """Slots that are ready do not wait for a slot with many keys until all of these are done."""
    env, job = program(2, batch=True)
    behind = env.from_sequence(1, 60).key_by(lambda n: n % 30).process(Numbered()).key_by(lambda pair: pair[0])
    result = job.collect(behind.reduce(lambda a, b: (a[0], a[1] + b[1])))
    job.start()
    while not job.finished:
        job.step(max_millis=0)
        assert job.epoch_count < 100
    job.close()
    assert job.epoch_count > 10
    assert sorted(result) == [(key, 3) for key in range(30)]


class Numbered(KeyedProcessFunction):
    """The key with the number of the record."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


def test_batch_mode_beyond_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spry.runtime.operators.batch._RECORDS_IN_MEMORY", 10)
    check_batch(batch_order(), 60)
    check_batch(batch_order(parallelism=1), 60)


def test_batch_mode_beyond_memory_with_classes_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spry.runtime.operators.batch._RECORDS_IN_MEMORY", 10)

    class Local:
        def __init__(self, n: int) -> None:
            self.n = n

    class Count(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value.n

    env, job = program(2, batch=True)
    result = job.collect(env.from_collection(range(50)).map(Local).key_by(lambda r: r.n % 3).process(Count()))
    job.run()
    assert sorted(result) == list(range(50))


def test_batch_reduce_gives_one_result_per_key_with_the_last_timestamp() -> None:
    class Stamp(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value, ctx.timestamp()

    env, job = program(1, batch=True)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda r, _: r[1])
    timed = env.from_collection([("a", 1), ("b", 2), ("a", 3)]).assign_timestamps_and_watermarks(strategy)
    result = job.collect(timed.key_by(lambda r: r[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).process(Stamp()))
    job.run()
    assert sorted(result) == [(("a", 4), 3), (("b", 2), 2)]


def test_batch_side_outputs_and_empty_input() -> None:
    env, job = program(2, batch=True)
    tag = OutputTag("t")

    class Side(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield tag, value

    keyed = env.from_collection([3, 1]).key_by(lambda n: n).process(Side())
    side = job.collect(keyed.get_side_output(tag))
    empty = job.collect(env.from_collection([]).key_by(lambda n: n).reduce(lambda a, b: a))
    job.run()
    assert (sorted(side), empty) == ([1, 3], [])


# Declared types


@pytest.mark.parametrize(
    ("type_info", "value", "expected"),
    [
        (Types.DOUBLE(), 1, 1.0),
        (Types.TUPLE([Types.STRING(), Types.DOUBLE()]), ["a", 1], ("a", 1.0)),
        (Types.LIST(Types.INT()), [1, 2], [1, 2]),
    ],
)
def test_values_are_given_the_declared_form(type_info: Any, value: Any, expected: Any) -> None:
    env, job = program(1)
    result = job.collect(env.from_collection([value]).map(lambda v: v, type_info))
    job.run()
    assert result == [expected]
    assert type(result[0]) is type(expected)


@pytest.mark.parametrize("kind", ["map", "flat_map", "process", "source"])
def test_declared_types_are_enforced_wherever_they_are_declared(kind: str) -> None:
    class P(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value

    row = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    env, job = program(1)
    wrong: list[Any] = [("a", 1), ("b", "old")]
    stream = env.from_collection(wrong, row) if kind == "source" else env.from_collection(wrong)
    if kind == "map":
        stream = stream.map(lambda v: v, row)
    elif kind == "flat_map":
        stream = stream.flat_map(lambda v: [v], row)
    elif kind == "process":
        stream = stream.process(P(), row)
    job.collect(stream.name("typed"))
    with pytest.raises(
        JobExecutionError,
        match=r"operator '(Source: )?typed'.*failed: TypeMismatch: field 'age' must be INT, got 'old' \(str\)",
    ):
        job.run()


def test_a_timers_results_are_held_to_the_type_too() -> None:
    class T(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            ctx.timer_service().register_event_time_timer(1)

        def on_timer(self, timestamp: int, ctx: Any) -> Any:
            yield "text"

    harness = OperatorHarness(T(), lambda v: v, output_types={0: Types.INT()})
    harness.push(1)
    with pytest.raises(JobExecutionError, match=r"must be INT, got 'text'"):
        harness.watermark(5)


# Timestamps and watermarks


def times(strategy: WatermarkStrategy, **settings: Any) -> OperatorHarness:
    from spry.common.operators import TimestampsAndWatermarksOperator

    return OperatorHarness(TimestampsAndWatermarksOperator(strategy), **settings)


BY_VALUE = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(10)).with_timestamp_assigner(
    lambda v, _: v
)


def test_watermarks_come_periodically_behind_the_largest_timestamp() -> None:
    with times(BY_VALUE, now=1000) as harness:
        harness.push(100, 300, 200)
        assert [element.timestamp for element in harness.elements()] == [100, 300, 200]
        assert harness.watermarks() == []
        harness.advance_processing_time(199)
        assert harness.watermarks() == []
        assert harness.next_wake_up() == 1200
        harness.advance_processing_time(1)
        assert harness.watermarks() == [289]
        harness.advance_processing_time(1000)
        assert harness.watermarks() == [289]
        harness.push(250)
        harness.advance_processing_time(1000)
        assert harness.watermarks() == [289]
        harness.push(400)
        assert harness.watermarks() == [289]
        harness.advance_processing_time(1000)
        assert harness.watermarks() == [289, 389]
        harness.end()
        assert harness.watermarks() == [289, 389, MAX_WATERMARK]


def test_the_interval_is_an_option() -> None:
    with times(BY_VALUE, now=0, configuration={"pipeline.auto-watermark-interval": "5 s"}) as harness:
        harness.push(100)
        harness.set_processing_time(4999)
        assert harness.watermarks() == []
        harness.set_processing_time(5000)
        assert harness.watermarks() == [89]


def test_watermarks_from_before_are_replaced() -> None:
    with times(BY_VALUE, now=0) as harness:
        harness.watermark(7777)
        harness.push(100)
        harness.set_processing_time(500)
        assert harness.watermarks() == [89]


def test_a_stream_without_elements_becomes_idle_and_active_again() -> None:
    with times(BY_VALUE.with_idleness(Duration.of_seconds(1)), now=0) as harness:
        harness.push(100)
        harness.set_processing_time(300)
        assert harness.next_wake_up() == 1000
        harness.set_processing_time(1000)
        kinds = [type(element).__name__ for element in harness.output]
        assert kinds == ["StreamElement", "Watermark", "WatermarkStatus"]
        assert harness.next_wake_up() is None
        harness.push(50)
        assert [getattr(element, "idle", None) for element in harness.output[3:4]] == [False]


class PerEvent(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        from spry.common.watermark_strategy import Watermark

        if event % 2 == 0:
            output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output: Any) -> None: ...


def test_a_generators_watermark_takes_its_place_behind_its_record() -> None:
    strategy = WatermarkStrategy.for_generator(PerEvent).with_timestamp_assigner(lambda v, _: v * 10)
    with times(strategy, now=0) as harness:
        harness.push(1, 2, 3, 4, 2)
        assert [getattr(e, "value", getattr(e, "timestamp", None)) for e in harness.output] == [1, 2, 20, 3, 4, 40, 2]


def test_an_assigner_sees_the_timestamp_that_was_there() -> None:
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(lambda v, before: before + 1)
    with times(strategy) as harness:
        harness.push("a", timestamp=5)
        assert [element.timestamp for element in harness.elements()] == [6]


# The end


def test_time_ends_for_everybody_when_the_input_ends() -> None:
    class AtEnd(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            ctx.timer_service().register_event_time_timer(MAX_WATERMARK)

        def on_timer(self, timestamp: int, ctx: Any) -> Any:
            yield ctx.get_current_key(), timestamp

    for parallelism in (1, 2):
        env, job = program(parallelism)
        stream = env.from_sequence(1, 3).rebalance().map(lambda n: n).key_by(lambda n: n)
        result = job.collect(stream.process(AtEnd()))
        job.run()
        assert sorted(result) == [(n, MAX_WATERMARK) for n in (1, 2, 3)]


def test_a_branch_that_ends_early_does_not_end_the_others() -> None:
    env, job = program(2, max_records=2)
    short, long_ = env.from_collection([1]), env.from_sequence(10, 40)
    result = job.collect(short.union(long_).rebalance().map(lambda n: n))
    job.run()
    assert sorted(result) == [1, *range(10, 41)]
