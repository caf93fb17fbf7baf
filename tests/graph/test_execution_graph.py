from __future__ import annotations

from typing import Any

import pytest

from spry.common.plan import ExecutionState
from spry.datastream import SlotSharingGroup, StreamExecutionEnvironment
from spry.graph.execution_graph import ExecutionGraph, build_execution_graph
from spry.graph.job_graph import build_job_graph
from tests.local_job import new_environment, plain


def same(value: Any) -> Any:
    return value


def graph_of(env: StreamExecutionEnvironment) -> ExecutionGraph:
    return build_execution_graph(build_job_graph(env.get_stream_graph()))


def levels(graph: ExecutionGraph) -> dict[str, int]:
    return {plain(vertex.name): vertex.level for vertex in graph.vertices}


def test_the_level_is_the_longest_way_in_shuffles() -> None:
    env = new_environment(2)
    a = env.from_sequence(1, 2).name("A")
    b = a.rebalance().map(same).name("B")
    b.rebalance().map(same).name("C").union(a).map(same).name("D")
    graph = graph_of(env)
    assert levels(graph) == {"A": 0, "B": 1, "C": 2, "D": 2}
    assert graph.levels == 3


def test_edges_within_a_slot_cost_no_level() -> None:
    env = new_environment(2, chaining=False)
    env.from_sequence(1, 2).name("A").map(same).name("B").rescale().map(same).name("C")
    graph = graph_of(env)
    assert levels(graph) == {"A": 0, "B": 0, "C": 0}
    assert all(edge.local for edge in graph.edges)


def test_with_one_subtask_each_nothing_is_shuffled() -> None:
    env = new_environment(1)
    env.from_collection([1]).name("A").key_by(same).map(same).name("B").rebalance().map(same).name("C")
    assert levels(graph_of(env)) == {"A": 0, "B": 0, "C": 0}


def test_unequal_parallelism_costs_a_level() -> None:
    env = new_environment(2)
    env.from_collection([1]).name("A").map(same).name("B").print().name("C").set_parallelism(1)
    assert levels(graph_of(env)) == {"A": 0, "B": 1, "C": 2}


def test_a_diamond() -> None:
    env = new_environment(2)
    top = env.from_sequence(1, 2).name("T")
    deep = top.rebalance().map(same).name("D1").rebalance().map(same).name("D2")
    flat = top.shuffle().map(same).name("F")
    deep.rebalance().union(flat.rebalance()).map(same).name("B")
    assert levels(graph_of(env)) == {"T": 0, "D1": 1, "D2": 2, "F": 1, "B": 3}


def test_several_sources_and_sinks() -> None:
    env = new_environment(2)
    one, two = env.from_sequence(1, 2).name("one"), env.from_sequence(1, 2).name("two")
    one.rebalance().print().name("out one")
    one.key_by(same).map(same).name("keyed").union(two).map(same).name("both").rebalance().print().name("out two")
    assert levels(graph_of(env)) == {"one": 0, "two": 0, "out one": 1, "keyed": 1, "both": 1, "out two": 2}


def test_one_group_has_as_many_slots_as_its_widest_operator() -> None:
    env = new_environment(2)
    env.from_collection([1]).map(same).set_parallelism(5).map(same).set_parallelism(3)
    graph = graph_of(env)
    assert graph.slots == 5
    assert [vertex.slot_base for vertex in graph.vertices] == [0, 0, 0]


def test_groups_do_not_share_slots() -> None:
    env = new_environment(2)
    first = env.from_sequence(1, 2).name("A").map(same).name("B").slot_sharing_group("heavy").set_parallelism(3)
    first.map(same).name("C").slot_sharing_group(SlotSharingGroup("light")).set_parallelism(1)
    first.map(same).name("D")
    graph = graph_of(env)
    assert {plain(vertex.name): vertex.slot_base for vertex in graph.vertices} == {"A": 0, "B": 2, "C": 5, "D": 2}
    assert graph.slots == 2 + 3 + 1
    assert [subtask.slot for subtask in graph.vertices[1].subtasks] == [2, 3, 4]


def test_a_group_is_passed_on_unless_inputs_disagree() -> None:
    env = new_environment(1)
    a = env.from_sequence(1, 2).slot_sharing_group("g").map(same)
    b = env.from_sequence(1, 2).slot_sharing_group("h").map(same)
    a.union(b).map(same).name("M")
    groups = {plain(node.name): node.slot_sharing_group for node in env.get_stream_graph().nodes}
    assert groups["Map"] in ("g", "h")
    assert groups["M"] == "default"


def test_an_edge_between_groups_is_shuffled_though_parallelism_is_equal() -> None:
    env = new_environment(2)
    env.from_sequence(1, 2).name("A").map(same).name("B").slot_sharing_group("g")
    assert levels(graph_of(env)) == {"A": 0, "B": 1}


def test_plans_of_chains() -> None:
    env = new_environment(2)
    env.from_sequence(1, 2).name("A").map(same).name("B").uid("b")
    (plan,) = graph_of(env).vertex_plans()
    assert [(plain(operator.name), operator.parent) for operator in plan.operators] == [("A", None), ("B", 0)]
    assert plan.operators[1].uid == "b"
    assert (plan.parallelism, plan.level, plan.slot_base) == (2, 0, 0)


def one_subtask() -> tuple[ExecutionGraph, Any]:
    env = new_environment(1)
    env.from_collection([1]).name("A").print().name("P")
    graph = graph_of(env)
    return graph, graph.subtasks()[0]


STEPS = [
    ExecutionState.SCHEDULED,
    ExecutionState.DEPLOYING,
    ExecutionState.INITIALIZING,
    ExecutionState.RUNNING,
    ExecutionState.FINISHED,
]


def test_the_life_of_a_subtask_and_who_listens() -> None:
    graph, subtask = one_subtask()
    seen: list[tuple[str, ExecutionState]] = []
    graph.listeners.append(lambda vertex, state: seen.append((plain(vertex.name), state)))
    assert subtask.state is ExecutionState.CREATED
    for state in STEPS:
        graph.transition_all(state)
    assert seen == [("A -> P (1/1)", state) for state in STEPS]
    assert graph.all_finished


@pytest.mark.parametrize("last", [ExecutionState.FINISHED, ExecutionState.CANCELED, ExecutionState.FAILED])
def test_nothing_follows_the_end(last: ExecutionState) -> None:
    graph, subtask = one_subtask()
    for state in STEPS[:-1]:
        subtask.transition(state)
    subtask.transition(last)
    seen: list[Any] = []
    graph.listeners.append(lambda vertex, state: seen.append(state))
    for state in ExecutionState:
        subtask.transition(state)
    assert subtask.state is last
    assert seen == []
    assert last.is_terminal


def test_no_step_is_left_out_or_taken_back() -> None:
    def after(*states: ExecutionState) -> ExecutionState:
        _, subtask = one_subtask()
        for state in states:
            subtask.transition(state)
        last: ExecutionState = subtask.state
        return last

    assert after(ExecutionState.RUNNING) is ExecutionState.CREATED
    assert after(ExecutionState.SCHEDULED, ExecutionState.CREATED) is ExecutionState.SCHEDULED
    assert after(ExecutionState.SCHEDULED, ExecutionState.CANCELING) is ExecutionState.SCHEDULED
    assert after(ExecutionState.SCHEDULED, ExecutionState.CANCELED) is ExecutionState.CANCELED


def test_cancelling_ends_in_canceled_or_failed() -> None:
    for last in (ExecutionState.CANCELED, ExecutionState.FAILED):
        _, subtask = one_subtask()
        for state in STEPS[:-1]:
            subtask.transition(state)
        subtask.transition(ExecutionState.CANCELING)
        subtask.transition(ExecutionState.FINISHED)
        assert subtask.state is ExecutionState.CANCELING
        subtask.transition(last)
        assert subtask.state is last


def test_subtasks_are_found_by_vertex_and_index() -> None:
    env = new_environment(3)
    env.from_sequence(1, 2).name("A")
    env.from_sequence(1, 2).print()
    graph = graph_of(env)
    vertex = graph.vertices[0]
    assert graph.subtask(vertex.id, 2) is vertex.subtasks[2]
    with pytest.raises(KeyError):
        graph.subtask(12345, 0)
