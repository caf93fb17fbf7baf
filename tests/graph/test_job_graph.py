from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spry.datastream import DataStream, OutputTag, ProcessFunction, StreamExecutionEnvironment
from spry.graph.job_graph import JobGraph, build_job_graph
from tests.local_job import new_environment, plain


class Pass(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        yield value


def same(value: Any) -> Any:
    return value


def graph_of(env: StreamExecutionEnvironment) -> JobGraph:
    return build_job_graph(env.get_stream_graph())


def names(env: StreamExecutionEnvironment) -> list[str]:
    return [plain(vertex.name) for vertex in graph_of(env).vertices]


def two_maps(between: Callable[[DataStream], DataStream] = same, **settings: Any) -> list[str]:
    env = new_environment(2, **settings)
    first = env.from_sequence(1, 2).disable_chaining().name("S").map(same).name("A")
    between(first).map(same).name("B")
    return names(env)


def test_operators_with_nothing_between_them_are_chained() -> None:
    assert two_maps() == ["S", "A -> B"]
    assert two_maps(lambda stream: stream.forward()) == ["S", "A -> B"]


def test_chaining_can_be_off() -> None:
    assert two_maps(chaining=False) == ["S", "A", "B"]


@pytest.mark.parametrize("method", ["rebalance", "rescale", "shuffle", "broadcast", "global_"])
def test_another_partitioning_breaks_the_chain(method: str) -> None:
    assert two_maps(lambda stream: getattr(stream, method)()) == ["S", "A", "B"]


def test_a_key_breaks_the_chain() -> None:
    assert two_maps(lambda stream: stream.key_by(same)) == ["S", "A", "B"]


def after(change: Callable[[DataStream], Any]) -> list[str]:
    """A -> B -> C, with a change to B."""
    env = new_environment(2)
    middle = env.from_sequence(1, 2).name("A").map(same).name("B")
    change(middle)
    middle.map(same).name("C")
    return names(env)


def test_each_condition_of_chaining() -> None:
    assert after(lambda stream: None) == ["A -> B -> C"]
    assert after(lambda stream: stream.start_new_chain()) == ["A", "B -> C"]
    assert after(lambda stream: stream.disable_chaining()) == ["A", "B", "C"]
    assert after(lambda stream: stream.set_parallelism(3)) == ["A", "B", "C"]
    assert after(lambda stream: stream.slot_sharing_group("other")) == ["A", "B -> C"]


def test_different_max_parallelism_may_be_chained_or_not() -> None:
    assert after(lambda stream: stream.set_max_parallelism(64)) == ["A -> B -> C"]
    env = new_environment(2)
    key = "pipeline.operator-chaining.chain-operators-with-different-max-parallelism"
    env.get_configuration().set_string(key, "false")
    env.from_sequence(1, 2).name("A").map(same).name("B").set_max_parallelism(64)
    assert names(env) == ["A", "B"]


def test_a_chain_has_the_smallest_max_parallelism() -> None:
    env = new_environment(2)
    env.from_sequence(1, 2).name("A").map(same).name("B").set_max_parallelism(64)
    (vertex,) = graph_of(env).vertices
    assert vertex.max_parallelism == 64


def test_an_operator_with_two_inputs_starts_a_chain() -> None:
    env = new_environment(2)
    left, right = env.from_sequence(1, 2).name("L"), env.from_sequence(1, 2).name("R")
    left.union(right).map(same).name("M").map(same).name("N")
    assert names(env) == ["L", "R", "M -> N"]


def test_names_of_trees() -> None:
    env = new_environment(2)
    a = env.from_sequence(1, 2).name("A")
    a.map(same).name("B").map(same).name("C")
    d = a.map(same).name("D")
    d.print().name("E")
    d.print().name("F")
    assert names(env) == ["A -> (B -> C, D -> (E, F))"]


def test_a_diamond_inside_one_slot_is_three_chains() -> None:
    env = new_environment(2)
    top = env.from_sequence(1, 2).name("T")
    top.map(same).name("L").union(top.map(same).name("R")).map(same).name("B")
    graph = graph_of(env)
    assert [plain(vertex.name) for vertex in graph.vertices] == ["T -> (L, R)", "B"]
    assert [(plain(edge.source.name), edge.source_operator, plain(edge.target.name)) for edge in graph.edges] == [
        ("T -> (L, R)", 1, "B"),
        ("T -> (L, R)", 2, "B"),
    ]


def test_side_outputs_are_chained_too() -> None:
    env = new_environment(2)
    main = env.from_sequence(1, 2).name("A").process(Pass()).name("P")
    main.map(same).name("M")
    main.get_side_output(OutputTag("x")).map(same).name("X")
    (vertex,) = graph_of(env).vertices
    assert plain(vertex.name) == "A -> P -> (M, X)"
    assert vertex.parents == [None, 0, 1, 1]


def test_vertices_are_in_topological_order() -> None:
    env = new_environment(2)
    late = env.from_sequence(1, 2).name("late source")
    early = env.from_sequence(1, 2).name("early source")
    early.map(same).name("m").rebalance().union(late).map(same).name("joined").rebalance().print().name("out")
    graph = graph_of(env)
    position = {vertex.id: at for at, vertex in enumerate(graph.vertices)}
    assert all(position[edge.source.id] < position[edge.target.id] for edge in graph.edges)
    assert len(position) == 4


def test_every_edge_has_its_own_data_set() -> None:
    env = new_environment(2)
    a = env.from_sequence(1, 2).name("A")
    a.rebalance().map(same).name("B")
    a.shuffle().map(same).name("C")
    graph = graph_of(env)
    producer = graph.vertices[0]
    assert [data_set.id for data_set in producer.produced] == [f"{producer.id}-0", f"{producer.id}-1"]
    assert [edge.data_set for edge in graph.edges] == producer.produced
