"""Generated chains: any shape gives what calling one function after the other gives."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.operators import FilterOperator, FlatMapOperator, MapOperator, ProcessOperator
from spry.common.watermark_strategy import WatermarkStrategy
from spry.datastream import FlatMapFunction, OutputTag, ProcessFunction
from spry.runtime.testing import OperatorHarness
from tests.local_job import program

LEFT, RIGHT = OutputTag("left"), OutputTag("right")


class Router(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        if value % 3 == 0:
            yield LEFT, value
        elif value % 3 == 1:
            yield RIGHT, value
        else:
            yield value


class Twice(FlatMapFunction):
    def flat_map(self, value: Any) -> Any:
        yield value
        yield value


def test_ten_steps() -> None:
    steps = [MapOperator(lambda n: n + 1), FilterOperator(lambda n: n % 5 != 0)] * 5
    with OperatorHarness(steps) as harness:
        harness.push(*range(100))
        expected = list(range(100))
        for _ in range(5):
            expected = [n + 1 for n in expected if (n + 1) % 5 != 0]
        assert harness.values() == expected


def test_no_steps_are_lost_in_long_chains() -> None:
    with OperatorHarness([MapOperator(lambda n: n + 1)] * 300) as harness:
        harness.push(0, 10)
        assert harness.values() == [300, 310]


def test_a_hundred_filters() -> None:
    with OperatorHarness([FilterOperator(lambda n, limit=limit: n > limit) for limit in range(100)]) as harness:
        harness.push(*range(105))
        assert harness.values() == [100, 101, 102, 103, 104]


@pytest.mark.parametrize("depth", [1, 10, 11, 12, 13, 14])
def test_loops_nested_deeper_than_python_allows(depth: int) -> None:
    chain: list[Any] = []
    for _ in range(depth):
        chain += [FlatMapOperator(Twice()), MapOperator(lambda n: n + 1)]
    with OperatorHarness(chain) as harness:
        harness.push(0, timestamp=7)
        assert harness.values() == [depth] * 2**depth
        assert {element.timestamp for element in harness.elements()} == {7}


def test_thirty_nested_loops_keep_the_order() -> None:
    def append(at: int) -> Any:
        return lambda n: [(*n, at)] if at != 15 else [(*n, "a"), (*n, "b")]

    chain = [FlatMapOperator(append(at)) for at in range(30)]
    with OperatorHarness(chain) as harness:
        harness.push(("x",), ("y",))
        head, tail = tuple(range(15)), tuple(range(16, 30))
        assert harness.values() == [(v, *head, branch, *tail) for v in "xy" for branch in "ab"]


def test_deep_process_functions_with_side_outputs() -> None:
    env, job = program(1)
    stream: Any = env.from_collection(range(30))
    lefts = []
    for _ in range(12):
        stream = stream.process(Router())
        lefts.append(job.collect(stream.get_side_output(LEFT)))
        stream = stream.get_side_output(RIGHT).map(lambda n: n + 3)
    rights = job.collect(stream)
    job.run()
    assert rights == [n + 36 for n in range(30) if n % 3 == 1]
    assert lefts[0] == [n for n in range(30) if n % 3 == 0]
    assert all(left == [] for left in lefts[1:])


def test_fan_out_gives_everything_to_everybody() -> None:
    env, job = program(1)
    numbers = env.from_collection(range(10))

    def times(factor: int) -> Any:
        return lambda n: n * factor

    results = [job.collect(numbers.map(times(i))) for i in range(5)]
    nested = numbers.filter(lambda n: n > 7)
    results += [job.collect(nested), job.collect(nested.flat_map(lambda n: [n, n])), job.collect(numbers)]
    job.run()
    assert results[:5] == [[n * i for n in range(10)] for i in range(5)]
    assert results[5:] == [[8, 9], [8, 8, 9, 9], list(range(10))]


def test_side_outputs_of_a_chain() -> None:
    with OperatorHarness([MapOperator(lambda n: n + 1), ProcessOperator(Router())], side_outputs=[LEFT]) as harness:
        harness.push(*range(9), timestamp=5)
        assert harness.values() == [2, 5, 8]
        assert [element.value for element in harness.side_output(LEFT)] == [3, 6, 9]
        assert {element.timestamp for element in harness.side_output("left")} == {5}


def test_a_side_output_that_nobody_reads_is_dropped() -> None:
    with OperatorHarness(Router()) as harness:
        harness.push(0, 1, 2)
        assert harness.values() == [2]
        with pytest.raises(KeyError, match=r"side_outputs=\['left'\]"):
            harness.side_output(LEFT)


def test_batch_operators_in_the_middle_and_fan_out_behind_them() -> None:
    env, job = program(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda n, _: n * 10)

    class Stamp(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
            yield value, ctx.timestamp()

    stream = env.from_collection(range(5)).map(lambda n: n + 1)
    before = job.collect(stream.process(Stamp()))
    timed = stream.assign_timestamps_and_watermarks(strategy).filter(lambda n: n != 3)
    both = [job.collect(timed.process(Stamp())), job.collect(timed.map(lambda n: -n).process(Stamp()))]
    job.run()
    assert before == [(n, None) for n in range(1, 6)]
    assert both[0] == [(n, n * 10) for n in (1, 2, 4, 5)]
    assert both[1] == [(-n, n * 10) for n in (1, 2, 4, 5)]


def test_timestamps_may_begin_in_the_middle_of_a_stream() -> None:
    class Stamp(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
            yield value, ctx.timestamp()

    with OperatorHarness([MapOperator(lambda n: n), ProcessOperator(Stamp()), MapOperator(lambda r: r)]) as harness:
        harness.push("a")
        harness.push("b", timestamp=3)
        harness.push("c")
        assert harness.values() == [("a", None), ("b", 3), ("c", None)]
        assert [element.timestamp for element in harness.elements()] == [None, 3, None]


def test_none_from_a_flat_map_is_nothing() -> None:
    with OperatorHarness(FlatMapOperator(lambda n: None if n < 2 else (n,))) as harness:
        harness.push(1, 2, 3)
        assert harness.values() == [2, 3]


def test_controls_keep_their_place_between_records() -> None:
    with OperatorHarness([MapOperator(lambda n: n), FlatMapOperator(lambda n: [n, n])]) as harness:
        harness.push(1, timestamp=1)
        harness.watermark(1)
        harness.push(2, timestamp=2)
        harness.idle()
        harness.end()
        kinds = [getattr(element, "value", type(element).__name__) for element in harness.output]
        assert kinds[:5] == [1, 1, "Watermark", 2, 2]
        assert kinds[5:] == ["WatermarkStatus", "WatermarkStatus", "Watermark", "EndOfInput"]


def test_a_map_may_return_none_and_lists() -> None:
    with OperatorHarness([MapOperator(lambda n: None), MapOperator(lambda n: [n])]) as harness:
        harness.push(1)
        assert harness.values() == [[None]]


@pytest.mark.parametrize("chaining", [True, False])
def test_hundreds_of_operators_one_behind_the_other(chaining: bool) -> None:
    class Pass(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
            yield value + 1

    env, job = program(1, chaining=chaining)
    stream: Any = env.from_collection([0])
    for _ in range(300):
        stream = stream.process(Pass())
    result = job.collect(stream)
    job.run()
    assert result == [300]
