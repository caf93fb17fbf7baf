"""Programs on Spark: every operation of the API once, end to end."""

from __future__ import annotations

import gzip
import itertools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from spry.common import Row, Types
from spry.common.accumulators import IntCounter
from spry.datastream import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    RuntimeExecutionMode,
)
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

pytestmark = pytest.mark.spark


def collect(stream: Any) -> list[Any]:
    return list(stream.execute_and_collect())


class Click(NamedTuple):
    user: str
    count: int


@dataclass(frozen=True)
class Visit:
    user: str
    seconds: int


@pytest.mark.parametrize("parallelism", [1, 2, 5])
def test_stateless_operators(make_env: Any, parallelism: int) -> None:
    class Double(MapFunction):
        def map(self, value: int) -> int:
            return 2 * value

    class Even(FilterFunction):
        def filter(self, value: int) -> bool:
            return value % 4 == 0

    class Twice(FlatMapFunction):
        def flat_map(self, value: int) -> Any:
            yield value
            yield -value

    env = make_env(parallelism)
    stream = env.from_sequence(1, 100).map(Double()).filter(Even()).flat_map(Twice()).map(lambda n: (n, n))
    expected = [(s * n, s * n) for n in range(4, 201, 4) for s in (1, -1)]
    assert Counter(collect(stream)) == Counter(expected)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_rolling_aggregates_follow_each_key_in_order(make_env: Any, parallelism: int) -> None:
    records = [("a", 3, "x"), ("b", 1, "y"), ("a", 1, "z"), ("a", 3, "w"), ("b", 5, "v"), ("a", 1, "u")]
    expected = {
        "sum": {"a": [(3, "x"), (4, "x"), (7, "x"), (8, "x")], "b": [(1, "y"), (6, "y")]},
        "min": {"a": [(3, "x"), (1, "x"), (1, "x"), (1, "x")], "b": [(1, "y"), (1, "y")]},
        "max": {"a": [(3, "x"), (3, "x"), (3, "x"), (3, "x")], "b": [(1, "y"), (5, "y")]},
        "min_by": {"a": [(3, "x"), (1, "z"), (1, "z"), (1, "z")], "b": [(1, "y"), (1, "y")]},
        "max_by": {"a": [(3, "x"), (3, "x"), (3, "x"), (3, "x")], "b": [(1, "y"), (5, "v")]},
    }
    for name, by_key in expected.items():
        env = make_env(parallelism)
        results = collect(getattr(env.from_collection(records).key_by(lambda r: r[0]), name)(1))
        for key, values in by_key.items():
            assert [r[1:] for r in results if r[0] == key] == values, name


def test_key_selection_by_function_class_index_name_and_several(make_env: Any) -> None:
    class ByUser(KeySelector):
        def get_key(self, value: Click) -> str:
            return value.user

    clicks = [Click("ann", 1), Click("bob", 2), Click("ann", 3)]
    final = {Click("ann", 1), Click("ann", 4), Click("bob", 2)}
    for selector in (lambda c: c.user, ByUser(), "user", 0):
        assert set(collect(make_env().from_collection(clicks).key_by(selector).sum("count"))) == final
    several = make_env().from_collection([("a", "x", 1), ("a", "y", 2), ("a", "x", 3)]).key_by(0, 1).sum(2)
    assert Counter(collect(several)) == Counter([("a", "x", 1), ("a", "y", 2), ("a", "x", 4)])


def test_rows_dataclasses_and_declared_types(make_env: Any) -> None:
    row_type = Types.ROW_NAMED(["user", "n"], [Types.STRING(), Types.INT()])
    rows = make_env().from_collection([("a", 1), ("a", 2)], row_type).key_by("user").sum("n")
    assert collect(rows) == [Row(user="a", n=1), Row(user="a", n=3)]
    visits = make_env().from_collection([Visit("a", 5), Visit("a", 7)], Types.POJO(Visit)).key_by("user").max("seconds")
    assert collect(visits) == [Visit("a", 5), Visit("a", 7)]


def test_reduce_with_an_object_that_is_changed_in_place(make_env: Any) -> None:
    class Add(ReduceFunction):
        def reduce(self, value1: list[int], value2: list[int]) -> list[int]:
            value1[1] += value2[1]
            return value1

    stream = make_env().from_collection([[0, 1], [0, 2], [0, 3]]).key_by(lambda v: v[0]).reduce(Add())
    assert sorted(collect(stream.rebalance().map(lambda v: v))) == [[0, 1], [0, 3], [0, 6]]
    results = collect(make_env(1).from_collection([[0, 1], [0, 2], [0, 3]]).key_by(lambda v: v[0]).reduce(Add()))
    assert results == [[0, 1], [0, 3], [0, 6]]


def test_process_function_with_side_outputs(env: Any) -> None:
    odd = OutputTag("odd", Types.STRING())
    big = OutputTag("big")

    class Split(ProcessFunction):
        def process_element(self, value: int, ctx: ProcessFunction.Context) -> Any:
            if value % 2:
                yield odd, str(value)
            else:
                yield value
            if value > 7:
                ctx.output(big, value)

    main = env.from_sequence(1, 10).process(Split())
    united = main.map(lambda v: ("main", v)).union(
        main.get_side_output(odd).map(lambda v: ("odd", v)), main.get_side_output(big).map(lambda v: ("big", v))
    )
    assert sorted(collect(united), key=str) == sorted(
        [("main", n) for n in range(2, 11, 2)]
        + [("odd", str(n)) for n in range(1, 11, 2)]
        + [("big", n) for n in (8, 9, 10)],
        key=str,
    )


def test_keyed_state_of_several_kinds(make_env: Any) -> None:
    class Remember(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
            self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))
            self.by_parity = runtime_context.get_map_state(MapStateDescriptor("parity", Types.INT(), Types.INT()))

        def process_element(self, value: tuple[str, int], ctx: KeyedProcessFunction.Context) -> Any:
            self.count.update((self.count.value() or 0) + 1)
            self.seen.add(value[1])
            self.by_parity.put(value[1] % 2, value[1])
            yield ctx.get_current_key(), self.count.value(), list(self.seen.get()), dict(self.by_parity.items())

    records = [("a", 1), ("b", 2), ("a", 4), ("a", 5)]
    results = collect(make_env(3).from_collection(records).key_by(lambda r: r[0]).process(Remember()))
    assert [r for r in results if r[0] == "a"] == [
        ("a", 1, [1], {1: 1}),
        ("a", 2, [1, 4], {1: 1, 0: 4}),
        ("a", 3, [1, 4, 5], {1: 5, 0: 4}),
    ]
    assert [r for r in results if r[0] == "b"] == [("b", 1, [2], {0: 2})]


class WhereAmI(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self.index = runtime_context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return self.index, value


def test_partitionings(make_env: Any) -> None:
    class ByParity(Partitioner):
        def partition(self, key: int, num_partitions: int) -> int:
            return key % 2 if num_partitions > 1 else 0

    def subtasks(connect: Any, parallelism: int = 4) -> dict[int, list[int]]:
        env = make_env(parallelism)
        source = env.from_collection(list(range(40)))
        out: dict[int, list[int]] = {}
        for index, value in collect(connect(source).map(WhereAmI())):
            out.setdefault(index, []).append(value)
        return out

    assert sorted(len(v) for v in subtasks(lambda s: s.rebalance()).values()) == [10, 10, 10, 10]
    assert list(subtasks(lambda s: s.global_())) == [0]
    assert {i: sorted(v) for i, v in subtasks(lambda s: s.broadcast()).items()} == {
        i: list(range(40)) for i in range(4)
    }
    assert sorted(v for vs in subtasks(lambda s: s.shuffle()).values() for v in vs) == list(range(40))
    custom = subtasks(lambda s: s.partition_custom(ByParity(), lambda v: v))
    assert {i: {v % 2 for v in vs} for i, vs in custom.items()} == {0: {0}, 1: {1}}
    rescaled = subtasks(lambda s: s.map(lambda v: v).set_parallelism(2).rescale())
    assert sorted(v for vs in rescaled.values() for v in vs) == list(range(40))


def test_any_parallelism_per_operator_and_a_diamond(make_env: Any) -> None:
    env = make_env(3)
    source = env.from_sequence(1, 1000)
    left = source.map(lambda n: ("left", n % 10)).set_parallelism(2)
    right = source.filter(lambda n: n % 2 == 0).rebalance().map(lambda n: ("right", n % 10)).set_parallelism(5)
    joined = left.union(right).key_by(lambda r: r).process(CountPerKey()).set_parallelism(4)
    last: dict[Any, int] = {}
    for key, count in collect(joined):
        last[key] = max(last.get(key, 0), count)
    assert last == {("left", d): 100 for d in range(10)} | {("right", d): 100 for d in range(0, 10, 2)}


class CountPerKey(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count


def test_sixteen_slots_on_two_cores(make_env: Any) -> None:
    stream = make_env(16).from_sequence(1, 5000).map(lambda n: (n % 100, 1)).key_by(lambda r: r[0]).sum(1)
    finals: Counter[int] = Counter()
    for key, count in collect(stream):
        finals[key] = max(finals[key], count)
    assert finals == Counter(dict.fromkeys(range(100), 50))


def test_slot_sharing_groups_and_chaining_switches_change_no_result(make_env: Any) -> None:
    env = make_env(2)
    env.disable_operator_chaining()
    stream = (
        env.from_sequence(1, 50)
        .map(lambda n: n + 1)
        .start_new_chain()
        .map(lambda n: n * 2)
        .slot_sharing_group("other")
        .filter(lambda n: n % 3 == 0)
        .disable_chaining()
    )
    assert sorted(collect(stream)) == sorted(n for n in (2 * (i + 1) for i in range(1, 51)) if n % 3 == 0)


def test_batch_mode_gives_one_final_result_per_key(make_env: Any) -> None:
    env = make_env(2)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    records = [(n % 5, n) for n in range(100)]
    results = collect(env.from_collection(records).key_by(lambda r: r[0]).sum(1))
    assert sorted(results) == [(k, sum(n for n in range(100) if n % 5 == k)) for k in range(5)]


def test_batch_mode_keeps_everything_of_a_key_together(make_env: Any) -> None:
    class Trace(KeyedProcessFunction):
        def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context) -> Any:
            yield ctx.get_current_key()

    env = make_env(1, **{"execution.runtime-mode": "batch"})
    keys = collect(env.from_collection([(n % 3, n) for n in range(30)]).key_by(lambda r: r[0]).process(Trace()))
    assert len(keys) == 30 and sum(a != b for a, b in itertools.pairwise(keys)) == 2


def test_text_files_directories_globs_and_gz(make_env: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\nthree\n")
    (tmp_path / "b.txt").write_text("two\n")
    with gzip.open(tmp_path / "c.txt.gz", "wt") as file:
        file.write("three three")
    words = make_env().read_text_file(str(tmp_path)).flat_map(lambda line: line.split())
    assert Counter(collect(words)) == Counter(one=1, two=2, three=3)
    assert sorted(collect(make_env().read_text_file(str(tmp_path / "?.txt")))) == ["one two", "three", "two"]


def test_print_has_flinks_prefix(make_env: Any, capfd: pytest.CaptureFixture[str]) -> None:
    env = make_env(1)
    env.from_collection([("a", 1)]).print()
    env.from_collection([True], Types.BOOLEAN()).print("flag")
    env.from_collection([Row("a", None)], Types.ROW([Types.STRING(), Types.INT()])).print("row")
    env.execute()
    env = make_env(2)
    env.from_collection([7]).global_().map(lambda v: v).print("id")
    env.execute()
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines[:3]) == ["('a', 1)", "flag> true", "row> +I[a,null]"]
    assert lines[3:] == ["id:1> 7"]


def test_accumulators_and_net_runtime(env: Any) -> None:
    class Counting(MapFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = IntCounter()
            runtime_context.add_accumulator("seen", self.seen)
            self.size = runtime_context.get_histogram("size")

        def map(self, value: int) -> int:
            self.seen.add(1)
            self.size.add(value % 3)
            return value

    env.from_sequence(1, 30).map(Counting()).add_sink(lambda value: None)
    result = env.execute("counting")
    assert result.get_accumulator_result("seen") == 30
    assert result.get_all_accumulator_results()["size"] == {0: 10, 1: 10, 2: 10}
    assert result.get_net_runtime() > 0


def test_limit_and_closing_end_the_job(make_env: Any) -> None:
    from spry.common import WatermarkStrategy
    from spry.connectors.datagen import DataGeneratorSource

    env = make_env(2)
    endless = env.from_source(DataGeneratorSource(lambda n: n, None), WatermarkStrategy.no_watermarks(), "endless")
    assert len(endless.execute_and_collect(limit=10)) == 10
    endless = env.from_source(DataGeneratorSource(lambda n: n, None), WatermarkStrategy.no_watermarks(), "endless")
    with endless.map(lambda n: n).execute_and_collect() as results:
        first = [next(results) for _ in range(5)]
        client = results.get_job_client()
    assert len(first) == 5
    assert client.get_job_status().result().name == "CANCELED"


def test_a_detached_program_goes_on_at_once(make_env: Any, tmp_path: Path) -> None:
    import time

    marker = tmp_path / "done"

    class Mark(MapFunction):
        def map(self, value: int) -> int:
            time.sleep(0.5)
            marker.write_text("done")
            return value

    env = make_env(1, **{"execution.attached": "false"})
    env.from_collection([1]).map(Mark()).add_sink(lambda value: None)
    env.execute("detached")
    assert not marker.exists()
    deadline = time.monotonic() + 30
    while not marker.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_names_are_where_pyflink_has_them(make_env: Any) -> None:
    from spry.common import WatermarkStrategy
    from spry.datastream.connectors.base import Sink, Source
    from spry.datastream.connectors.number_seq import NumberSequenceSource
    from spry.metrics import MetricGroup

    assert issubclass(NumberSequenceSource, Source) and Sink and MetricGroup
    env = make_env(2)
    numbers = env.from_source(NumberSequenceSource(1, 5), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    assert sorted(collect(numbers)) == [1, 2, 3, 4, 5]


def test_a_slow_reader_holds_the_job_back_and_keeps_it_alive(make_env: Any) -> None:
    import time

    options = {"spry.collect.buffer-records": "100", "spry.epoch.keep-alive": "300 ms", "spry.epoch.max-records": "200"}
    env = make_env(1, **options)
    with env.from_sequence(1, 5000).map(lambda n: n).execute_and_collect() as results:
        first = next(results)
        time.sleep(1.5)
        client = results.get_job_client()
        read = sum(v for k, v in client.get_metrics().items() if k.startswith("Source") and k.endswith("numRecordsIn"))
        assert read < 1000  # It waited for us ...
        assert [first, *results] == list(range(1, 5001))  # ... and nothing was lost.
