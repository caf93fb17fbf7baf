"""A record that was emitted does not change, whoever changes the object that it was made of."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.typeinfo import Types
from spry.common.types import Row
from spry.datastream import (
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
)
from spry.datastream.state import ListStateDescriptor, ValueStateDescriptor
from tests import journal
from tests.local_job import program

SIDE = OutputTag("side")


class Accumulates(FlatMapFunction):
    """Yields the same list each time, with one more in it."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def flat_map(self, value: Any) -> Any:
        self.all.append(value)
        yield self.all


class AccumulatesInMap(MapFunction):
    def __init__(self) -> None:
        self.all: dict[str, Any] = {"all": []}

    def map(self, value: Any) -> Any:
        self.all["all"].append(value)
        return self.all


class AccumulatesToSide(ProcessFunction):
    def __init__(self) -> None:
        self.all: list[Any] = []

    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        self.all.append(value)
        yield SIDE, self.all
        ctx.output(OutputTag("now"), self.all)
        yield self.all
        self.all.append("after")
        self.all.pop()


GROWING = [[0], [0, 1], [0, 1, 2]]


def behind(stream: Any, how: str) -> Any:
    if how == "map":
        return stream.map(lambda r: r)
    if how == "shuffle":
        return stream.rebalance().map(lambda r: r)
    if how == "narrow":
        return stream.map(lambda r: r).set_parallelism(1)
    if how == "new chain":
        return stream.map(lambda r: r).start_new_chain()
    if how == "keyed":
        return stream.key_by(lambda r: 0).map(lambda r: r)
    if how == "broadcast":
        return stream.broadcast().map(lambda r: r).set_parallelism(1)
    return stream


WAYS = ["directly", "map", "shuffle", "narrow", "new chain", "keyed", "broadcast"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_an_accumulator_that_is_yielded_each_time(how: str, parallelism: int) -> None:
    env, job = program(parallelism)
    stream = env.from_collection(range(3)).flat_map(Accumulates()).set_parallelism(1)
    result = job.collect(behind(stream, how))
    job.run()
    assert sorted(result) == GROWING


@pytest.mark.parametrize("how", WAYS)
def test_an_accumulator_that_a_map_returns(how: str) -> None:
    env, job = program(2)
    stream = env.from_collection(range(3)).map(AccumulatesInMap()).set_parallelism(1)
    result = job.collect(behind(stream, how))
    job.run()
    assert sorted(record["all"] for record in result) == GROWING


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("tag", ["side", "now"])
def test_side_outputs(how: str, tag: str) -> None:
    env, job = program(2)
    stream = env.from_collection(range(3)).process(AccumulatesToSide()).set_parallelism(1)
    result = job.collect(behind(stream.get_side_output(OutputTag(tag)), how))
    main = job.collect(stream)
    job.run()
    assert sorted(result) == GROWING
    assert sorted(main) == GROWING


class Buffers(SinkFunction[Any]):
    """A sink that writes at the end what it was given before."""

    def __init__(self) -> None:
        self.buffer: list[Any] = []

    def invoke(self, value: Any, context: Any) -> None:
        self.buffer.append(value)

    def finish(self) -> None:
        journal.note(list(self.buffer))


class BuffersInMap(FlatMapFunction):
    """Pairs of records that follow each other."""

    def __init__(self) -> None:
        self.last: Any = None

    def flat_map(self, value: Any) -> Any:
        if self.last is not None:
            yield self.last, value
        self.last = value


@pytest.mark.parametrize("chaining", [True, False])
def test_a_sink_in_the_same_chain_may_keep_what_it_is_given(chaining: bool) -> None:
    journal.reset()
    env, job = program(1, chaining=chaining)
    env.from_collection(range(3)).flat_map(Accumulates()).add_sink(Buffers())
    job.run()
    assert journal.reset() == [GROWING]


@pytest.mark.parametrize("chaining", [True, False])
def test_a_function_in_the_same_chain_may_keep_what_it_is_given(chaining: bool) -> None:
    env, job = program(1, chaining=chaining)
    result = job.collect(env.from_collection(range(3)).flat_map(Accumulates()).flat_map(BuffersInMap()))
    job.run()
    assert result == [([0], [0, 1]), ([0, 1], [0, 1, 2])]


def mutate(record: Any) -> Any:
    record.append("mine")
    return record


def mutate_dict(record: Any) -> Any:
    record["n"] = -100
    return record


@pytest.mark.parametrize("chaining", [True, False])
def test_a_function_in_the_same_chain_may_change_what_it_is_given(chaining: bool) -> None:
    env, job = program(1, chaining=chaining)
    result = job.collect(env.from_collection(range(3)).flat_map(Accumulates()).map(mutate))
    job.run()
    assert result == [[*numbers, "mine"] for numbers in GROWING]


class Remembers(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("s"))
        self.many = runtime_context.get_list_state(ListStateDescriptor("l"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        kept = self.state.value() or []
        kept.append(value)
        self.state.update(kept)
        yield kept


@pytest.mark.parametrize("chaining", [True, False])
def test_changing_a_record_does_not_change_the_state_it_came_from(chaining: bool) -> None:
    env, job = program(1, chaining=chaining)
    result = job.collect(env.from_collection(range(3)).key_by(lambda n: 0).process(Remembers()).map(mutate))
    job.run()
    assert result == [[*numbers, "mine"] for numbers in GROWING]


# Reduce


class ChangesItsArgument(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        value1["n"] += value2["n"]
        return value1


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_reduce_that_changes_its_argument(how: str, parallelism: int) -> None:
    env, job = program(parallelism)
    stream = env.from_collection([{"n": n} for n in (1, 2, 3)]).key_by(lambda r: 0).reduce(ChangesItsArgument())
    result = job.collect(behind(stream, how))
    job.run()
    assert sorted(record["n"] for record in result) == [1, 3, 6]


@pytest.mark.parametrize(
    "function", [lambda a, b: {"n": a["n"] + b["n"]}, ChangesItsArgument(), "sum", "max_by", "min"]
)
@pytest.mark.parametrize("chaining", [True, False])
def test_changing_a_reduced_record_does_not_change_the_state(function: Any, chaining: bool) -> None:
    env, job = program(1, chaining=chaining)
    keyed = env.from_collection([{"n": n} for n in (1, 2, 3, 1)]).key_by(lambda r: 0)
    reduced = getattr(keyed, function)("n") if isinstance(function, str) else keyed.reduce(function)
    seen = job.collect(reduced.map(lambda r: r["n"]))
    changed = job.collect(reduced.map(mutate_dict))
    only = job.collect(reduced)
    job.run()
    expected = {"max_by": [1, 2, 3, 3], "min": [1, 1, 1, 1]}.get(
        function if isinstance(function, str) else "", [1, 3, 6, 7]
    )
    assert seen == expected
    assert [record["n"] for record in only] == expected
    assert [record["n"] for record in changed] == [-100] * 4


@pytest.mark.parametrize("function", ["sum", "max_by", "min_by", "max"])
@pytest.mark.parametrize(
    "make", [lambda n: {"n": n}, lambda n: [n, "x"], lambda n: Row(n, "x")], ids=["dict", "list", "row"]
)
def test_aggregations_of_records_that_can_be_changed(function: str, make: Any) -> None:
    env, job = program(1)
    numbers = [2, 1, 3]
    field: Any = "n" if isinstance(make(1), dict) else 0

    def change(record: Any) -> Any:
        before = record[field]
        record[field] = 1000
        return before

    stream = getattr(env.from_collection([make(n) for n in numbers]).key_by(lambda r: 0), function)(field)
    result = job.collect(stream.map(change))
    job.run()
    assert result == {"sum": [2, 3, 6], "max_by": [2, 2, 3], "min_by": [2, 1, 1], "max": [2, 2, 3]}[function]


# Fan-out


@pytest.mark.parametrize("chaining", [True, False])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_two_maps_that_change_the_same_record(chaining: bool, parallelism: int) -> None:
    env, job = program(parallelism, chaining=chaining)
    lists = env.from_collection([[n] for n in range(5)]).map(lambda r: r)
    results = [job.collect(lists.map(mutate)) for _ in range(3)]
    results.append(job.collect(lists.rebalance().map(mutate)))
    results.append(job.collect(lists.key_by(lambda r: r[0]).map(mutate)))
    plain = job.collect(lists)
    job.run()
    assert sorted(plain) == [[n] for n in range(5)]
    for result in results:
        assert sorted(result) == [[n, "mine"] for n in range(5)]


def test_a_broadcast_record_is_one_per_subtask() -> None:
    env, job = program(3)
    stream = env.from_collection([[n] for n in range(3)]).broadcast()
    result = job.collect(stream.map(mutate))
    other = job.collect(stream.map(mutate))
    job.run()
    assert sorted(result) == sorted([[n, "mine"] for n in range(3)] * 3)
    assert sorted(other) == sorted(result)


def test_the_main_and_the_side_output_of_one_object() -> None:
    env, job = program(1)
    stream = env.from_collection(range(3)).process(AccumulatesToSide())
    main, side = job.collect(stream.map(mutate)), job.collect(stream.get_side_output(SIDE).map(mutate))
    job.run()
    assert main == side == [[*numbers, "mine"] for numbers in GROWING]


class Reuses(SourceFunction):
    """Emits the same list each time."""

    bounded = True

    def run(self, ctx: Any) -> None:
        numbers: list[int] = []
        for n in range(3):
            numbers.append(n)
            ctx.collect(numbers)

    def cancel(self) -> None: ...


@pytest.mark.parametrize("how", WAYS)
def test_a_source_function_that_emits_the_same_object(how: str) -> None:
    env, job = program(1)
    result = job.collect(behind(env.add_source(Reuses()), how))
    job.run()
    assert sorted(result) == GROWING


def test_with_object_reuse_nothing_is_copied() -> None:
    journal.reset()

    class Ids(SinkFunction[Any]):
        def invoke(self, value: Any, context: Any) -> None:
            journal.note(id(value))

    env, job = program(1, object_reuse=True)
    env.from_collection(range(3)).flat_map(Accumulates()).add_sink(Ids())
    job.run()
    assert len(set(journal.reset())) == 1


@pytest.mark.parametrize("chaining", [True, False])
def test_declared_types_of_the_main_output_say_nothing_of_side_outputs(chaining: bool) -> None:
    class Both(ProcessFunction):
        def __init__(self) -> None:
            self.all: list[Any] = []

        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
            self.all.append(value)
            yield SIDE, self.all
            yield value

    env, job = program(1, chaining=chaining)
    stream = env.from_collection(range(3)).process(Both(), Types.INT())
    main, side = job.collect(stream), job.collect(stream.get_side_output(SIDE).map(mutate))
    job.run()
    assert main == [0, 1, 2]
    assert side == [[*numbers, "mine"] for numbers in GROWING]


def growing(value: Any) -> Any:
    """Nothing is kept between calls, but between yields."""
    numbers = []
    for n in range(value):
        numbers.append(n)
        yield numbers


@pytest.mark.parametrize("how", WAYS)
def test_a_generator_that_yields_one_object_again_and_again(how: str) -> None:
    env, job = program(2)
    result = job.collect(behind(env.from_collection([3]).flat_map(growing).set_parallelism(1), how))
    job.run()
    assert sorted(result) == GROWING
