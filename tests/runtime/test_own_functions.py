"""Each operator has function objects of its own; key selectors and partitioners have a life as others have."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.errors import JobExecutionError
from spry.common.sink import Sink, SinkWriter
from spry.common.typeinfo import Types
from spry.common.types import Row
from spry.datastream import KeyedProcessFunction, KeySelector, MapFunction, Partitioner, ReduceFunction, RuntimeContext
from tests import journal
from tests.local_job import program


class Initial(KeySelector):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.length = 1
        self.me = (runtime_context.get_task_name(), runtime_context.get_index_of_this_subtask())
        journal.note(("open", *self.me))

    def get_key(self, value: str) -> str:
        return value[: self.length]

    def close(self) -> None:
        journal.note(("close", *self.me))


class Next(Partitioner):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.step = 1

    def partition(self, key: int, num_partitions: int) -> int:
        return (key + self.step) % num_partitions


class Where(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.me = runtime_context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return value, self.me


class Count(MapFunction):
    def __init__(self) -> None:
        self.count = 0

    def open(self, runtime_context: RuntimeContext) -> None:
        journal.note("open")

    def map(self, value: Any) -> Any:
        self.count += 1
        return value, self.count

    def plain(self, value: Any) -> Any:
        return self.map(value)


class Join(ReduceFunction):
    def reduce(self, value1: str, value2: str) -> str:
        return value1 + value2


class KeyOf(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        yield ctx.get_current_key()


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_key_selector_is_opened_and_closed_once_where_keys_are_taken(parallelism: int, batch: bool) -> None:
    journal.reset()
    env, job = program(parallelism, batch=batch)
    words = env.from_collection(["ab", "cd", "ae"]).name("words").key_by(Initial())
    joined, keys = job.collect(words.reduce(Join()).name("join")), job.collect(words.process(KeyOf()).name("key"))
    job.run()
    assert sorted(joined) == (["abae", "cd"] if batch else ["ab", "abae", "cd"])
    assert sorted(keys) == ["a", "a", "c"]
    entries = journal.reset()
    # The source has two keyed edges, each with a selector of its own.
    takers = [("Source: words", 0)] * 2 + [(name, n) for name in ("join", "key") for n in range(parallelism)]
    assert sorted(entries) == sorted((what, *taker) for what in ("open", "close") for taker in takers)


def test_a_partitioner_and_its_key_selector_are_opened() -> None:
    env, job = program(3)
    placed = job.collect(env.from_collection([0, 1, 2]).partition_custom(Next(), lambda n: n).map(Where()))
    other = job.collect(
        env.from_collection(["a", "b"]).partition_custom(lambda key, n: ord(key) % n, Initial()).map(Where())
    )
    job.run()
    assert sorted(placed) == [(0, 1), (1, 2), (2, 0)]
    assert sorted(other) == [("a", ord("a") % 3), ("b", ord("b") % 3)]


@pytest.mark.parametrize("chaining", [True, False])
def test_one_object_in_two_operators_is_two_functions(chaining: bool) -> None:
    journal.reset()
    env, job = program(1, chaining=chaining)
    numbers, count = env.from_collection(["a", "b"]), Count()
    results = [job.collect(numbers.map(count)), job.collect(numbers.map(count)), job.collect(numbers.map(count.plain))]
    job.run()
    assert results == [[("a", 1), ("b", 2)]] * 3
    assert journal.reset() == ["open", "open"]


def counter() -> Any:
    seen = []

    def count(value: Any) -> Any:
        seen.append(value)
        return len(seen)

    return count


def test_one_closure_in_two_operators_is_two_functions() -> None:
    env, job = program(1)
    count = counter()
    first = env.from_collection(["a", "b"]).map(count)
    results = [job.collect(first), job.collect(first.map(count))]
    job.run()
    assert results == [[1, 2], [1, 2]]


class Shout(Sink[str], SinkWriter[str]):
    """Its own writer."""

    def create_writer(self, context: Any) -> SinkWriter[str]:
        self.seen: list[str] = []
        return self

    def write(self, element: str, context: Any) -> None:
        self.seen.append(element)

    def flush(self, end_of_input: bool) -> None:
        journal.note(list(self.seen))


def test_one_sink_in_two_places_is_two_sinks() -> None:
    journal.reset()
    env, job = program(1)
    sink = Shout()
    env.from_collection(["a"]).sink_to(sink)
    env.from_collection(["b"]).sink_to(sink)
    job.run()
    entries = journal.reset()
    assert [entry for entry in entries if len(entry) > 1] == []
    assert ["a"] in entries and ["b"] in entries


PAIR = Types.ROW_NAMED(["word", "size"], [Types.STRING(), Types.INT()])


@pytest.mark.parametrize(
    ("key_type", "key", "expected"),
    [
        (Types.STRING(), "a", "a"),
        (Types.DOUBLE(), 1, 1.0),
        (PAIR, ("a", 1), Row(word="a", size=1)),
        (PAIR, Row("a", 1), Row(word="a", size=1)),
        (Types.TUPLE([Types.STRING(), Types.DOUBLE()]), ["a", 1], ("a", 1.0)),
        (Types.PICKLED_BYTE_ARRAY(), ("a", None), ("a", None)),
    ],
)
def test_keys_have_the_form_of_the_declared_type(key_type: Any, key: Any, expected: Any) -> None:
    env, job = program(2)
    keys = job.collect(env.from_collection([1]).key_by(lambda _: key, key_type=key_type).process(KeyOf()))
    job.run()
    assert keys == [expected]
    assert type(keys[0]) is type(expected)


@pytest.mark.parametrize(
    ("key_type", "key", "wrong"),
    [
        (Types.INT(), "a", r"the value must be INT, got 'a' \(str\)"),
        (Types.STRING(), None, r"the value must be STRING, got None"),
        (PAIR, Row("a", "b"), r"field 'size' must be INT, got 'b' \(str\)"),
    ],
)
def test_keys_of_another_type_than_declared_are_refused(key_type: Any, key: Any, wrong: str) -> None:
    env, job = program(2)
    job.collect(env.from_collection([7]).name("numbers").key_by(lambda _: key, key_type).process(KeyOf()))
    with pytest.raises(JobExecutionError, match=rf"'Source: numbers'.*the type that key_by declares: {wrong}") as error:
        job.run()
    assert error.value.failure.record == "7"
    assert error.value.failure.traceback == ""
