"""The job graph: operators fused into chains.

Two operators are chained when Flink would chain them: the second has one input, the edge is forward, parallelism and
slot sharing group are equal, both chaining strategies allow it, and chaining is on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spry.common.operators import ChainingStrategy
from spry.common.partitioning import Forward, Partitioning
from spry.graph.stream_graph import StreamEdge, StreamGraph, StreamNode

__all__ = ["IntermediateDataSet", "JobEdge", "JobGraph", "JobVertex", "build_job_graph"]


@dataclass(eq=False)
class JobVertex:
    """A chain of operators; ``nodes`` has the head first and every operator after its predecessor."""

    id: int
    nodes: list[StreamNode]
    parents: list[int | None]
    """Per operator: the index of its predecessor in the chain."""
    inputs: list[JobEdge] = field(default_factory=list)
    produced: list[IntermediateDataSet] = field(default_factory=list)

    @property
    def head(self) -> StreamNode:
        return self.nodes[0]

    @property
    def parallelism(self) -> int:
        return self.head.parallelism

    @property
    def max_parallelism(self) -> int:
        return min(node.max_parallelism for node in self.nodes)

    @property
    def slot_sharing_group(self) -> str:
        return self.head.slot_sharing_group

    @property
    def name(self) -> str:
        """The chain's name, as in Flink: ``A -> B -> (C, D)``."""
        return self._name(0)

    def _name(self, index: int) -> str:
        text = self.nodes[index].name
        while True:
            children = [i for i, parent in enumerate(self.parents) if parent == index]
            if not children:
                return text
            if len(children) > 1:
                return f"{text} -> ({', '.join(self._name(child) for child in children)})"
            index = children[0]
            text += f" -> {self.nodes[index].name}"


@dataclass(eq=False)
class IntermediateDataSet:
    """What a vertex produces for one outgoing edge."""

    id: str
    producer: JobVertex


@dataclass(eq=False)
class JobEdge:
    """A connection between two vertices."""

    id: int
    data_set: IntermediateDataSet
    source: JobVertex
    source_operator: int
    target: JobVertex
    partitioning: Partitioning
    tag: str | None
    input: int


@dataclass(eq=False)
class JobGraph:
    """All vertices, in topological order, and their edges."""

    name: str
    vertices: list[JobVertex]
    edges: list[JobEdge]


def is_chainable(edge: StreamEdge, graph: StreamGraph) -> bool:
    """Whether the operators at both ends of an edge may run in one chain."""
    up, down, settings = edge.source, edge.target, graph.settings
    return (
        settings.chaining
        and len(down.in_edges) == 1
        and isinstance(edge.partitioning, Forward)
        and up.parallelism == down.parallelism
        and up.slot_sharing_group == down.slot_sharing_group
        and down.chaining is ChainingStrategy.ALWAYS
        and up.chaining is not ChainingStrategy.NEVER
        and (up.max_parallelism == down.max_parallelism or settings.chain_different_max_parallelism)
    )


def build_job_graph(graph: StreamGraph) -> JobGraph:
    """Fuse what can be fused."""
    place: dict[int, tuple[JobVertex, int]] = {}
    vertices: list[JobVertex] = []
    for node in graph.nodes:
        chained = [edge for edge in node.in_edges if is_chainable(edge, graph)]
        if chained:
            vertex, parent = place[chained[0].source.id]
            vertex.nodes.append(node)
            vertex.parents.append(parent)
        else:
            vertex = JobVertex(node.id, [node], [None])
            vertices.append(vertex)
        place[node.id] = (vertex, len(vertex.nodes) - 1)
    edges: list[JobEdge] = []
    for edge in graph.edges:
        source, operator = place[edge.source.id]
        target, position = place[edge.target.id]
        if source is target and position > 0:
            continue
        data_set = IntermediateDataSet(f"{source.id}-{len(source.produced)}", source)
        source.produced.append(data_set)
        job_edge = JobEdge(len(edges), data_set, source, operator, target, edge.partitioning, edge.tag, edge.input)
        target.inputs.append(job_edge)
        edges.append(job_edge)
    return JobGraph(graph.settings.job_name, _topological(vertices, edges), edges)


def _topological(vertices: list[JobVertex], edges: list[JobEdge]) -> list[JobVertex]:
    """A chain grows after its head was placed, so vertices are put in order once all are known."""
    pending = {vertex.id: len(vertex.inputs) for vertex in vertices}
    ready = [vertex for vertex in vertices if not vertex.inputs]
    ordered: list[JobVertex] = []
    while ready:
        vertex = ready.pop(0)
        ordered.append(vertex)
        for edge in edges:
            if edge.source is vertex:
                pending[edge.target.id] -= 1
                if pending[edge.target.id] == 0:
                    ready.append(edge.target)
    return ordered
