"""Mistakes are named where they are made: in the call, not when the job runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from spry.common.errors import InvalidProgramError
from spry.common.typeinfo import Types
from spry.common.types import Row, RowKind
from spry.common.watermark_strategy import WatermarkStrategy
from spry.datastream import (
    FilterFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    MemorySize,
    OutputTag,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from tests.local_job import new_environment, program


class Double(MapFunction):
    def map(self, value: Any) -> Any:
        return 2 * value


class Keyed(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any: ...


class Even(FilterFunction):
    def filter(self, value: Any) -> bool:
        return bool(value % 2 == 0)


class Mod(Partitioner):
    def partition(self, key: Any, num_partitions: int) -> int:
        return int(key) % num_partitions


class Third(KeySelector):
    def get_key(self, value: Any) -> Any:
        return value % 3


PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
NAMED = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])

STREAM: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda s: s.map(3), TypeError, "map takes a function or a MapFunction, not 3"),
    (lambda s: s.map(Double), TypeError, r"map takes an instance, not the class Double: write Double\(\)"),
    (lambda s: s.map(Even()), TypeError, "map takes a MapFunction, not a Even"),
    (lambda s: s.map(None), TypeError, "map takes a function"),
    (lambda s: s.map(lambda v: v, "INT"), TypeError, r"map: the output type must be a type such as Types.INT\(\)"),
    (lambda s: s.flat_map(Double()), TypeError, "flat_map takes a FlatMapFunction, not a Double"),
    (lambda s: s.flat_map("abc"), TypeError, "flat_map takes a function"),
    (lambda s: s.filter(True), TypeError, "filter takes a function or a FilterFunction, not True"),
    (lambda s: s.process(lambda v: v), TypeError, "process takes a ProcessFunction"),
    (lambda s: s.process(Keyed), TypeError, r"process takes an instance, not the class Keyed: write Keyed\(\)"),
    (lambda s: s.process(Keyed()), InvalidProgramError, r"needs a keyed stream: call key_by\(...\)"),
    (lambda s: s.project(), ValueError, "project takes field indexes"),
    (lambda s: s.project(-1), ValueError, "project takes field indexes"),
    (lambda s: s.project("a"), ValueError, "project takes field indexes"),
    (lambda s: s.map(lambda v: v, PAIR).project(2), ValueError, "there is no field 2; the stream has 2 fields"),
    (lambda s: s.key_by(None), TypeError, "a key is selected by a function"),
    (lambda s: s.key_by(Third), TypeError, "a key is selected by a function"),
    (lambda s: s.key_by(-1), ValueError, "a field index cannot be negative: -1"),
    (lambda s: s.key_by(True), TypeError, "a key is selected by a function"),
    (lambda s: s.key_by(lambda v: v, 1), TypeError, "either one selector function or field indexes"),
    (lambda s: s.key_by(0).reduce(5), TypeError, "reduce takes a function or a ReduceFunction"),
    (lambda s: s.key_by(0).reduce(Double()), TypeError, "reduce takes a ReduceFunction, not a Double"),
    (lambda s: s.map(lambda v: v, PAIR).key_by(0).sum(2), ValueError, r"sum\(2\): .* has no such field"),
    (lambda s: s.map(lambda v: v, NAMED).key_by(0).max("size"), ValueError, r"max\('size'\): .* has no such field"),
    (lambda s: s.key_by(0).min(-1), ValueError, "a field index cannot be negative: -1"),
    (lambda s: s.assign_timestamps_and_watermarks(lambda v: v), TypeError, "a WatermarkStrategy is needed"),
    (lambda s: s.union([s]), TypeError, "union takes streams"),
    (lambda s: s.union(new_environment().from_collection([1])), InvalidProgramError, "different environments"),
    (lambda s: s.map(str, Types.STRING()).union(s.map(int, Types.INT())), InvalidProgramError, "different types"),
    (lambda s: s.partition_custom(3, lambda v: v), TypeError, "partition_custom takes a function or a Partitioner"),
    (lambda s: s.partition_custom(Mod, 0), TypeError, r"write Mod\(\)"),
    (lambda s: s.partition_custom(Mod(), None), TypeError, "a key is selected by"),
    (lambda s: s.get_side_output("late"), TypeError, "an OutputTag is needed, not 'late'"),
    (lambda s: s.rebalance().get_side_output(OutputTag("x")), InvalidProgramError, "get_side_output belongs to an op"),
    (lambda s: s.add_sink(3), TypeError, "add_sink takes a function or a SinkFunction"),
    (lambda s: s.sink_to(print), TypeError, "sink_to takes a Sink.*for a SinkFunction use add_sink"),
    (
        lambda s: s.rebalance().name("x"),
        InvalidProgramError,
        r"name belongs to an operator, but .* \(partition\): call",
    ),
    (lambda s: s.union(s).uid("x"), InvalidProgramError, r"uid belongs to an operator, but .* \(union\)"),
    (lambda s: s.key_by(0).set_parallelism(2), InvalidProgramError, "set_parallelism belongs to an operator"),
    (lambda s: s.set_parallelism(2), ValueError, "'Collection Source' is not parallel: .* 1, not 2"),
    (lambda s: s.map(str).set_parallelism(0), ValueError, "parallelism must be a positive int, not 0"),
    (lambda s: s.map(str).set_parallelism(True), ValueError, "parallelism must be a positive int, not True"),
    (lambda s: s.map(str).set_parallelism("2"), ValueError, "parallelism must be a positive int, not '2'"),
    (lambda s: s.map(str).force_non_parallel().set_parallelism(2), ValueError, "is not parallel"),
    (lambda s: s.map(str).set_max_parallelism(0), ValueError, "max parallelism must be from 1 to 32768, not 0"),
    (lambda s: s.map(str).set_max_parallelism(32769), ValueError, "not 32769"),
    (lambda s: s.print().set_parallelism(-1), ValueError, "parallelism must be a positive int, not -1"),
    (lambda s: s.print().set_max_parallelism(0), ValueError, "max parallelism must be from 1 to 32768, not 0"),
    (lambda s: s.execute_and_collect(limit=-1), ValueError, "limit must be a non-negative int, not -1"),
    (lambda s: s.execute_and_collect(limit="3"), ValueError, "limit must be a non-negative int, not '3'"),
]


@pytest.mark.parametrize(("call", "error", "message"), STREAM, ids=range(len(STREAM)))
def test_streams(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(new_environment(2).from_collection([1, 2]))


class NotASource:
    pass


ENVIRONMENT: list[tuple[Callable[[StreamExecutionEnvironment], Any], type[Exception], str]] = [
    (lambda e: e.from_collection("abc"), TypeError, "takes a collection, not 'abc'; for one element"),
    (lambda e: e.from_collection([1], "INT"), TypeError, "from_collection: the output type must be"),  # type: ignore[arg-type]
    (lambda e: e.from_source(NotASource(), WatermarkStrategy.no_watermarks(), "s"), TypeError, "takes a Source"),  # type: ignore[arg-type]
    (lambda e: e.add_source(lambda ctx: None), TypeError, r"takes a SourceFunction \(with run and cancel\)"),
    (lambda e: e.add_source(NotASource), TypeError, "takes a SourceFunction"),
    (lambda e: e.set_parallelism(0), ValueError, "parallelism must be a positive int, not 0"),
    (lambda e: e.set_parallelism(1.5), ValueError, "parallelism must be a positive int, not 1.5"),  # type: ignore[arg-type]
    (lambda e: e.set_buffer_timeout(-2), ValueError, "must be -1 .off., 0 or positive, not -2"),
    (lambda e: e.register_cached_file("no/such/file", "f"), FileNotFoundError, "cached file 'f': there is no file"),
    (lambda e: e.execute(), InvalidProgramError, "nothing to execute"),
    (lambda e: e.get_execution_plan(), InvalidProgramError, "nothing to execute"),
    (lambda e: SlotSharingGroup.builder(""), ValueError, "needs a name"),
    (lambda e: SlotSharingGroup.builder("g").set_cpu_cores(0), ValueError, "'g': CPU cores must be more than 0"),
]


@pytest.mark.parametrize(("call", "error", "message"), ENVIRONMENT, ids=range(len(ENVIRONMENT)))
def test_environments(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(new_environment(2))


def test_a_group_has_its_resources_once() -> None:
    env = new_environment()
    env.register_slot_sharing_group(SlotSharingGroup("g", 1.0))
    env.register_slot_sharing_group(SlotSharingGroup("g"))
    env.register_slot_sharing_group(SlotSharingGroup("g", 1.0))
    with pytest.raises(InvalidProgramError, match="'g' is registered with other resources"):
        env.register_slot_sharing_group(SlotSharingGroup("g", 2.0))
    group = SlotSharingGroup.builder("h").set_cpu_cores(0.5).set_task_heap_memory("10 mb").build()
    assert (group.get_cpu_cores(), group.get_task_heap_memory()) == (0.5, MemorySize.of_mebi_bytes(10))


# What is accepted


@dataclass
class Event:
    n: int


def test_classes_and_builtins_are_functions() -> None:
    env, job = program(1)
    numbers = env.from_collection([0, 1, 2])
    results = [
        job.collect(numbers.map(str)),
        job.collect(numbers.filter(bool)),
        job.collect(numbers.map(Event)),
        job.collect(numbers.key_by(int).map(abs)),
        job.collect(numbers.map(str).flat_map(list)),
        job.collect(numbers.key_by(bool).reduce(max)),
    ]
    job.run()
    assert results[0] == ["0", "1", "2"]
    assert results[1] == [1, 2]
    assert results[2] == [Event(0), Event(1), Event(2)]
    assert results[3] == [0, 1, 2]
    assert results[4] == ["0", "1", "2"]
    assert results[5] == [0, 1, 2]


class AddUp(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1 + value2


def test_objects_with_the_method_are_functions() -> None:
    class Duck:
        def map(self, value: Any) -> Any:
            return -value

    env, job = program(1)
    numbers = env.from_collection([1, 2, 3])
    results = [
        job.collect(numbers.map(Duck())),  # type: ignore[arg-type]
        job.collect(numbers.key_by(Third()).reduce(AddUp())),
        job.collect(numbers.partition_custom(Mod(), Third()).map(Double())),
    ]
    job.run()
    assert results == [[-1, -2, -3], [1, 2, 3], [2, 4, 6]]


def rolling(name: str, records: list[Any], key: Any, *arguments: Any) -> list[Any]:
    env, job = program(1)
    result = job.collect(getattr(env.from_collection(records).key_by(key), name)(*arguments))
    job.run()
    return result


def test_rolling_aggregations() -> None:
    records = [("a", 3, "x"), ("a", 1, "y"), ("a", 3, "z"), ("b", 9, "w")]
    assert rolling("sum", records, 0, 1) == [("a", 3, "x"), ("a", 4, "x"), ("a", 7, "x"), ("b", 9, "w")]
    assert rolling("min", records, 0, 1) == [("a", 3, "x"), ("a", 1, "x"), ("a", 1, "x"), ("b", 9, "w")]
    assert rolling("max", records, 0, 1) == [("a", 3, "x"), ("a", 3, "x"), ("a", 3, "x"), ("b", 9, "w")]
    assert rolling("min_by", records, 0, 1) == [("a", 3, "x"), ("a", 1, "y"), ("a", 1, "y"), ("b", 9, "w")]
    assert rolling("max_by", records, 0, 1) == [("a", 3, "x"), ("a", 3, "x"), ("a", 3, "x"), ("b", 9, "w")]
    assert rolling("max_by", records, 0, 1, False) == [("a", 3, "x"), ("a", 3, "x"), ("a", 3, "z"), ("b", 9, "w")]
    assert rolling("sum", [1, 2, 3], lambda n: n % 2) == [1, 2, 4]
    assert rolling("sum", [Decimal("1.5"), Decimal(2)], lambda n: 0) == [Decimal("1.5"), Decimal("3.5")]
    assert rolling("max", [date(2020, 1, 2), date(2020, 1, 1)], lambda d: 0) == [date(2020, 1, 2)] * 2
    assert rolling("sum", [Event(1), Event(2)], lambda e: 0, "n") == [Event(1), Event(3)]
    assert rolling("max", [{"k": 1, "v": 2}, {"k": 1, "v": 5}], "k", "v") == [{"k": 1, "v": 2}, {"k": 1, "v": 5}]


def test_projections_of_tuples_and_rows() -> None:
    env, job = program(1)
    tuples = job.collect(env.from_collection([("a", 1, True)]).project(2, 0))
    rows = job.collect(env.from_collection([Row("a", 1)], NAMED).project(1))
    untyped = job.collect(env.from_collection([Row("a", 1), Row.of_kind(RowKind.DELETE, x=1, y=2)]).project(1))
    job.run()
    assert tuples == [(True, "a")]
    assert rows == [Row(age=1)]
    assert untyped == [Row(1), Row.of_kind(RowKind.DELETE, y=2)]
    assert env.from_collection([("a", 1)], PAIR).project(1).get_type() == Types.TUPLE([Types.INT()])


def test_types_are_passed_on_where_records_do_not_change() -> None:
    stream = new_environment().from_collection([("a", 1)], PAIR)
    for other in (
        stream.filter(bool),
        stream.rebalance(),
        stream.union(stream),
        stream.key_by(0),
        stream.key_by(0).sum(1),
    ):
        assert other.get_type() == PAIR
    assert stream.map(lambda r: r).get_type() == Types.PICKLED_BYTE_ARRAY()


def test_process_on_a_keyed_stream_takes_both_kinds() -> None:
    class Plain(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value

    env, job = program(1)
    result = job.collect(env.from_collection([1, 2]).key_by(lambda n: n).process(Plain()))
    job.run()
    assert result == [1, 2]


def test_what_a_program_brings_for_the_jvm_is_kept() -> None:
    env = new_environment()
    env.add_jars("file:///a.jar", "file:///b.jar")
    env.add_jars("file:///c.jar")
    env.add_classpaths("file:///d")
    env.register_type("a.Point")
    env.register_type_with_kryo_serializer("a.Circle", "a.CircleSerializer")
    env.add_default_kryo_serializer("a.Shape", "a.ShapeSerializer")
    assert env.get_configuration().to_dict()["pipeline.jars"] == "file:///a.jar;file:///b.jar;file:///c.jar"
    assert env.get_configuration().to_dict()["pipeline.classpaths"] == "file:///d"
    assert env.get_config().get_registered_pojo_types() == ["a.Point"]
    assert env.get_config().get_registered_kryo_types() == ["a.Circle"]
    assert env.get_config().get_default_kryo_serializer_classes() == {"a.Shape": "a.ShapeSerializer"}


def test_windows_in_event_time_need_timestamps_of_the_source_or_of_a_strategy() -> None:
    from spry.common import Time
    from spry.datastream.connectors.number_seq import NumberSequenceSource
    from spry.datastream.window import TumblingEventTimeWindows

    def windows(strategy: WatermarkStrategy) -> Any:
        numbers = new_environment().from_source(NumberSequenceSource(1, 10), strategy, "numbers")
        return numbers.key_by(lambda n: n).window(TumblingEventTimeWindows.of(Time.seconds(1)))

    with pytest.raises(InvalidProgramError, match="the elements of 'numbers' have no timestamps"):
        windows(WatermarkStrategy.for_monotonous_timestamps())
    windows(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, before: n))
