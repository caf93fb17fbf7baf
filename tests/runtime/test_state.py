"""The five kinds of keyed state, against plain dicts."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.errors import JobExecutionError
from spry.common.keys import KeySelection
from spry.common.operators import FilterOperator, FlatMapOperator, MapOperator
from spry.datastream import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
    RuntimeContext,
)
from spry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from spry.runtime.testing import OperatorHarness


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return [0, 0]

    def add(self, value: Any, accumulator: Any) -> Any:
        accumulator[0] += value
        accumulator[1] += 1
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]


class Largest(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return max(value1, value2)


class Script(KeyedProcessFunction):
    """Records are (key, state, method, arguments); emits what the method gives."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.states: dict[str, Any] = {
            "value": runtime_context.get_state(ValueStateDescriptor("value")),
            "list": runtime_context.get_list_state(ListStateDescriptor("list")),
            "map": runtime_context.get_map_state(MapStateDescriptor("map")),
            "reducing": runtime_context.get_reducing_state(ReducingStateDescriptor("reducing", Largest())),
            "sum": runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b)),
            "mean": runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean())),
        }

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        _, state, method, *arguments = value
        result = getattr(self.states[state], method)(*arguments)
        yield list(result) if method in ("keys", "values", "items") or (state, method) == ("list", "get") else result


def run(*script: tuple[Any, ...]) -> list[Any]:
    with OperatorHarness(Script(), lambda r: r[0]) as harness:
        harness.push(*script)
        return harness.values()


def test_value_state() -> None:
    assert run(
        ("a", "value", "value"),
        ("a", "value", "update", 5),
        ("b", "value", "value"),
        ("b", "value", "update", 0),
        ("a", "value", "value"),
        ("b", "value", "value"),
        ("a", "value", "update", None),
        ("a", "value", "value"),
        ("b", "value", "clear"),
        ("b", "value", "value"),
        ("b", "value", "clear"),
    ) == [None, None, None, None, 5, 0, None, None, None, None, None]


def test_list_state() -> None:
    assert run(
        ("a", "list", "get"),
        ("a", "list", "add", 1),
        ("a", "list", "add_all", [2, 3]),
        ("a", "list", "add_all", []),
        ("b", "list", "get"),
        ("a", "list", "get"),
        ("a", "list", "update", [9]),
        ("a", "list", "get"),
        ("a", "list", "update", []),
        ("a", "list", "get"),
        ("b", "list", "add", 0),
        ("b", "list", "clear"),
        ("b", "list", "get"),
    ) == [[], None, None, None, [], [1, 2, 3], None, [9], None, [], None, None, []]
    with pytest.raises(JobExecutionError, match="None cannot be added to a list state"):
        run(("a", "list", "add", None))


def test_map_state() -> None:
    assert run(
        ("a", "map", "is_empty"),
        ("a", "map", "get", "x"),
        ("a", "map", "put", "x", 1),
        ("a", "map", "put_all", {"y": 2, "z": None}),
        ("b", "map", "is_empty"),
        ("a", "map", "get", "x"),
        ("a", "map", "contains", "z"),
        ("a", "map", "contains", "q"),
        ("a", "map", "keys"),
        ("a", "map", "values"),
        ("a", "map", "items"),
        ("a", "map", "remove", "x"),
        ("a", "map", "remove", "not there"),
        ("a", "map", "items"),
        ("a", "map", "clear"),
        ("a", "map", "is_empty"),
    ) == [
        True,
        None,
        None,
        None,
        True,
        1,
        True,
        False,
        ["x", "y", "z"],
        [1, 2, None],
        [("x", 1), ("y", 2), ("z", None)],
        None,
        None,
        [("y", 2), ("z", None)],
        None,
        True,
    ]


def test_map_state_as_a_mapping() -> None:
    assert run(
        ("a", "map", "__setitem__", "x", 1),
        ("a", "map", "__getitem__", "x"),
        ("a", "map", "__contains__", "x"),
        ("a", "map", "__delitem__", "x"),
        ("a", "map", "__contains__", "x"),
    ) == [None, 1, True, None, False]


def test_reducing_and_aggregating_state() -> None:
    assert run(
        ("a", "reducing", "get"),
        ("a", "reducing", "add", 5),
        ("a", "reducing", "add", 3),
        ("b", "reducing", "add", -1),
        ("a", "reducing", "get"),
        ("b", "reducing", "get"),
        ("a", "sum", "add", 0),
        ("a", "sum", "add", 7),
        ("a", "sum", "get"),
        ("a", "reducing", "clear"),
        ("a", "reducing", "get"),
    ) == [None, None, None, None, 5, -1, None, None, 7, None, None]
    assert run(
        ("a", "mean", "get"),
        ("a", "mean", "add", 1),
        ("b", "mean", "add", 10),
        ("a", "mean", "add", 2),
        ("a", "mean", "get"),
        ("b", "mean", "get"),
        ("a", "mean", "clear"),
        ("a", "mean", "get"),
    ) == [None, None, None, None, 1.5, 10.0, None, None]


def test_nothing_is_left_of_cleared_keys() -> None:
    with OperatorHarness(Script(), lambda r: r[0]) as harness:
        for key in range(10):
            harness.push((key, "value", "update", 1), (key, "map", "put", 1, 1), (key, "list", "add", 1))
            harness.push((key, "sum", "add", 1), (key, "mean", "add", 1))
        assert harness.keys("value") == set(range(10))
        assert harness.state("map", 3) == {1: 1}
        for key in range(10):
            harness.push((key, "value", "clear"), (key, "map", "remove", 1), (key, "list", "update", []))
            harness.push((key, "sum", "clear"), (key, "mean", "clear"))
        assert all(harness.keys(name) == set() for name in ("value", "map", "list", "sum", "mean"))


def test_equal_keys_are_one_key() -> None:
    assert run((1, "value", "update", "x"), (1.0, "value", "value"), (True, "value", "value"))[1:] == ["x", "x"]


def test_a_name_belongs_to_one_kind_of_state() -> None:
    class Twice(KeyedProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.get_state(ValueStateDescriptor("s"))
            runtime_context.get_list_state(ListStateDescriptor("s"))

        def process_element(self, value: Any, ctx: Any) -> Any: ...

    with pytest.raises(JobExecutionError, match=r"state 's' is described by a ValueStateDescriptor and by a ListState"):
        OperatorHarness(Twice(), lambda r: r)


def test_asking_twice_gives_the_same_state() -> None:
    class Twice(KeyedProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.one = runtime_context.get_state(ValueStateDescriptor("s"))
            self.other = runtime_context.get_state(ValueStateDescriptor("s"))

        def process_element(self, value: Any, ctx: Any) -> Any:
            self.one.update(value)
            yield self.other.value()

    with OperatorHarness(Twice(), lambda r: r) as harness:
        harness.push(3)
        assert harness.values() == [3]


@pytest.mark.parametrize("name", ["", None, 3])
def test_descriptors_need_a_name(name: Any) -> None:
    with pytest.raises(ValueError, match="a state needs a non-empty name"):
        ValueStateDescriptor(name)


def test_descriptors_check_their_functions() -> None:
    with pytest.raises(TypeError, match=r"state 'r': a ReduceFunction or a callable"):
        ReducingStateDescriptor("r", 3)
    with pytest.raises(TypeError, match=r"state 'a': an AggregateFunction is needed; .* has no create_accumulator"):
        AggregatingStateDescriptor("a", object())


class Counting:
    """Map, flat map and filter of a keyed stream have state, too."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def next(self) -> int:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return count


class CountingMap(Counting, MapFunction):
    def map(self, value: Any) -> Any:
        return value, self.next()


class CountingFlatMap(Counting, FlatMapFunction):
    def flat_map(self, value: Any) -> Any:
        yield value, self.next()


class FirstTwo(Counting, FilterFunction):
    def filter(self, value: Any) -> bool:
        return self.next() <= 2


KEY = KeySelection.of_callable(lambda r: r)


@pytest.mark.parametrize(
    "description", [MapOperator(CountingMap(), key=KEY), FlatMapOperator(CountingFlatMap(), key=KEY)]
)
def test_keyed_map_and_flat_map(description: Any) -> None:
    with OperatorHarness(description) as harness:
        harness.push("a", "b", "a", "a")
        assert harness.values() == [("a", 1), ("b", 1), ("a", 2), ("a", 3)]


def test_keyed_filter() -> None:
    with OperatorHarness(FilterOperator(FirstTwo(), key=KEY)) as harness:
        harness.push("a", "b", "a", "a", "b")
        assert harness.values() == ["a", "b", "a", "b"]


class CountingReduce(Counting, ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1[0], value1[1] + value2[1], self.next()


def test_reduce_functions_have_state_too() -> None:
    with OperatorHarness(CountingReduce(), lambda r: r[0]) as harness:
        harness.push(("a", 1), ("b", 1), ("a", 2), ("b", 5), ("a", 3))
        assert harness.values() == [("a", 1), ("b", 1), ("a", 3, 1), ("b", 6, 1), ("a", 6, 2)]
