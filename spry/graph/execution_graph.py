"""The execution graph: subtasks with their states, slots and levels; and the plan that slots are sent.

The level of a vertex is the largest number of shuffles between it and a source. Within an epoch each level is one Spark
stage, so any graph becomes a straight line of stages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from spry.common.partitioning import Forward, Rescale
from spry.common.plan import EdgePlan, ExecutionState, OperatorPlan, VertexPlan
from spry.graph.job_graph import JobEdge, JobGraph, JobVertex

__all__ = ["ExecutionGraph", "ExecutionJobVertex", "ExecutionVertex", "build_execution_graph"]

StateListener = Callable[["ExecutionVertex", ExecutionState], None]

_FOLLOWERS = {
    ExecutionState.CREATED: {ExecutionState.SCHEDULED, ExecutionState.CANCELED, ExecutionState.FAILED},
    ExecutionState.SCHEDULED: {ExecutionState.DEPLOYING, ExecutionState.CANCELED, ExecutionState.FAILED},
    ExecutionState.DEPLOYING: {
        ExecutionState.INITIALIZING,
        ExecutionState.CANCELING,
        ExecutionState.CANCELED,
        ExecutionState.FAILED,
    },
    ExecutionState.INITIALIZING: {
        ExecutionState.RUNNING,
        ExecutionState.CANCELING,
        ExecutionState.CANCELED,
        ExecutionState.FAILED,
    },
    ExecutionState.RUNNING: {
        ExecutionState.FINISHED,
        ExecutionState.CANCELING,
        ExecutionState.CANCELED,
        ExecutionState.FAILED,
    },
    ExecutionState.CANCELING: {ExecutionState.CANCELED, ExecutionState.FAILED},
}


@dataclass(eq=False)
class ExecutionVertex:
    """One subtask."""

    vertex: ExecutionJobVertex
    index: int
    slot: int
    state: ExecutionState = ExecutionState.CREATED
    records_in: int = 0
    records_out: int = 0
    watermark: int | None = None

    @property
    def name(self) -> str:
        return f"{self.vertex.name} ({self.index + 1}/{self.vertex.parallelism})"

    def transition(self, state: ExecutionState) -> None:
        """Go to another state; listeners are told. What is not a step forward is left out."""
        if state in _FOLLOWERS.get(self.state, set()):
            self.state = state
            for listener in self.vertex.graph.listeners:
                listener(self, state)


@dataclass(eq=False)
class ExecutionJobVertex:
    """A vertex of the job graph with its subtasks."""

    graph: ExecutionGraph
    job_vertex: JobVertex
    level: int
    slot_base: int
    subtasks: list[ExecutionVertex] = field(default_factory=list)

    @property
    def id(self) -> int:
        return self.job_vertex.id

    @property
    def name(self) -> str:
        return self.job_vertex.name

    @property
    def parallelism(self) -> int:
        return self.job_vertex.parallelism


@dataclass(eq=False)
class ExecutionGraph:
    """All subtasks of a job."""

    job_graph: JobGraph
    vertices: list[ExecutionJobVertex] = field(default_factory=list)
    slots: int = 0
    levels: int = 1
    edges: list[EdgePlan] = field(default_factory=list)
    listeners: list[StateListener] = field(default_factory=list)

    def subtasks(self) -> list[ExecutionVertex]:
        return [subtask for vertex in self.vertices for subtask in vertex.subtasks]

    def subtask(self, vertex_id: int, index: int) -> ExecutionVertex:
        """One subtask, by vertex and index."""
        for vertex in self.vertices:
            if vertex.id == vertex_id:
                return vertex.subtasks[index]
        raise KeyError(vertex_id)

    def transition_all(self, state: ExecutionState) -> None:
        """Every subtask that can goes to this state."""
        for subtask in self.subtasks():
            subtask.transition(state)

    def reset(self) -> None:
        """The job is deployed anew."""
        for subtask in self.subtasks():
            subtask.state = ExecutionState.CREATED
            subtask.records_in = subtask.records_out = 0
            subtask.watermark = None

    @property
    def all_finished(self) -> bool:
        return all(subtask.state is ExecutionState.FINISHED for subtask in self.subtasks())

    def vertex_plans(self) -> tuple[VertexPlan, ...]:
        """What slots are told about the vertices."""
        return tuple(_vertex_plan(vertex) for vertex in self.vertices)


def build_execution_graph(job_graph: JobGraph) -> ExecutionGraph:
    """Place every vertex in slots and on a level."""
    graph = ExecutionGraph(job_graph)
    bases: dict[str, int] = {}
    for group in dict.fromkeys(vertex.slot_sharing_group for vertex in job_graph.vertices):
        bases[group] = graph.slots
        graph.slots += max(v.parallelism for v in job_graph.vertices if v.slot_sharing_group == group)
    levels: dict[int, int] = {}
    for job_vertex in job_graph.vertices:
        level = max((levels[e.source.id] + (not _is_local(e)) for e in job_vertex.inputs), default=0)
        levels[job_vertex.id] = level
        vertex = ExecutionJobVertex(graph, job_vertex, level, bases[job_vertex.slot_sharing_group])
        vertex.subtasks = [ExecutionVertex(vertex, i, vertex.slot_base + i) for i in range(job_vertex.parallelism)]
        graph.vertices.append(vertex)
    graph.levels = 1 + max(levels.values(), default=0)
    graph.edges = [_edge_plan(edge) for edge in job_graph.edges]
    return graph


def _is_local(edge: JobEdge) -> bool:
    """Whether both ends are always in one slot: index by index, or because there is only one subtask each."""
    if edge.source.slot_sharing_group != edge.target.slot_sharing_group:
        return False
    if edge.source.parallelism != edge.target.parallelism:
        return False
    return isinstance(edge.partitioning, Forward | Rescale) or edge.source.parallelism == 1


def _edge_plan(edge: JobEdge) -> EdgePlan:
    return EdgePlan(
        edge_id=edge.id,
        source_vertex=edge.source.id,
        source_operator=edge.source_operator,
        tag=edge.tag,
        target_vertex=edge.target.id,
        target_input=edge.input,
        partitioning=edge.partitioning,
        local=_is_local(edge),
    )


def _vertex_plan(vertex: ExecutionJobVertex) -> VertexPlan:
    job_vertex = vertex.job_vertex
    operators = []
    side_types: dict[tuple[int, str], Any] = {}
    for index, (node, parent) in enumerate(zip(job_vertex.nodes, job_vertex.parents, strict=True)):
        tag = node.in_edges[0].tag if parent is not None else None
        operators.append(OperatorPlan(node.id, node.uid, node.name, node.description, parent, tag, node.type_info))
        side_types.update({(index, name): type_info for name, type_info in node.side_types.items()})
    return VertexPlan(
        vertex_id=job_vertex.id,
        name=job_vertex.name,
        level=vertex.level,
        parallelism=job_vertex.parallelism,
        max_parallelism=job_vertex.max_parallelism,
        slot_base=vertex.slot_base,
        operators=tuple(operators),
        side_types=side_types,
    )
