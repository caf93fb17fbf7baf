"""The stream graph: one node per operator, one edge per connection.

Union, partitioning and side outputs make no nodes. They become *virtual nodes* while the graph is generated, which
resolve to the operators behind them, and what they say ends up on the edges.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from spry.common.errors import InvalidProgramError
from spry.common.operators import (
    ChainingStrategy,
    GlobalCommitterOperator,
    OperatorDescription,
    SourceFunctionOperator,
    SourceOperator,
)
from spry.common.partitioning import Forward, KeyGroups, Partitioning, Rebalance
from spry.common.source import Boundedness
from spry.graph.transformations import (
    DEFAULT_SLOT_SHARING_GROUP,
    OperatorTransformation,
    PartitionTransformation,
    SideOutputTransformation,
    Transformation,
    UnionTransformation,
)

__all__ = ["StreamEdge", "StreamGraph", "StreamGraphSettings", "StreamNode", "generate_stream_graph"]

_LARGEST_MAX_PARALLELISM = 1 << 15


@dataclass(frozen=True)
class StreamGraphSettings:
    """What the environment says about the whole graph."""

    job_name: str
    parallelism: int
    max_parallelism: int | None
    chaining: bool
    chain_different_max_parallelism: bool
    batch: bool
    generates_uids: bool = True


@dataclass(eq=False)
class StreamNode:
    """An operator."""

    id: int
    name: str
    text: str
    uid: str
    description: OperatorDescription
    parallelism: int
    max_parallelism: int
    slot_sharing_group: str
    chaining: ChainingStrategy
    type_info: Any
    in_edges: list[StreamEdge] = field(default_factory=list)
    out_edges: list[StreamEdge] = field(default_factory=list)
    side_types: dict[str, Any] = field(default_factory=dict)
    has_user_uid: bool = False
    has_own_max_parallelism: bool = False
    """The program has said it, for the operator or for all."""

    @property
    def bounded(self) -> bool:
        """For sources: whether the source ends by itself."""
        if isinstance(self.description, SourceOperator):
            return self.description.source.get_boundedness() is Boundedness.BOUNDED
        if isinstance(self.description, SourceFunctionOperator):
            return bool(getattr(self.description.function, "bounded", False))
        return True


@dataclass(eq=False)
class StreamEdge:
    """A connection between two operators."""

    source: StreamNode
    target: StreamNode
    partitioning: Partitioning
    tag: str | None
    input: int = 0
    explicit: bool = False
    """The user asked for this partitioning."""


@dataclass(eq=False)
class StreamGraph:
    """All operators of a job, in topological order."""

    settings: StreamGraphSettings
    nodes: list[StreamNode]

    @property
    def edges(self) -> list[StreamEdge]:
        return [edge for node in self.nodes for edge in node.in_edges]

    @property
    def sources(self) -> list[StreamNode]:
        return [node for node in self.nodes if node.description.is_source]

    def to_json(self) -> str:
        """The execution plan, in Flink's JSON form."""
        nodes = []
        for node in self.nodes:
            pact = "Operator"
            if node.description.is_source:
                pact = "Data Source"
            elif node.description.is_sink:
                pact = "Data Sink"
            entry: dict[str, Any] = {
                "id": node.id,
                "type": node.name,
                "pact": pact,
                "contents": node.text or node.name,
                "parallelism": node.parallelism,
            }
            if node.in_edges:
                entry["predecessors"] = [
                    {"id": edge.source.id, "ship_strategy": edge.partitioning.ship_strategy, "side": "second"}
                    for edge in node.in_edges
                ]
            nodes.append(entry)
        return json.dumps({"nodes": nodes}, indent=2)


@dataclass(frozen=True)
class _Origin:
    """What a transformation resolves to: an operator, and what lies between it and the reader."""

    node: StreamNode
    partitioning: Partitioning | None = None
    tag: str | None = None


def _full_name(t: OperatorTransformation) -> str:
    """The name with what Flink puts before it, in plans and everywhere else that people read it."""
    prefix = "Source: " if t.description.is_source else "Sink: " if t.description.is_sink else ""
    return prefix + t.name


def generate_stream_graph(sinks: list[Transformation], settings: StreamGraphSettings) -> StreamGraph:
    """The stream graph of all transformations that were recorded."""
    return _Generator(settings).generate(sinks)


class _Generator:
    def __init__(self, settings: StreamGraphSettings) -> None:
        self._settings = settings
        self._nodes: list[StreamNode] = []
        self._origins: dict[int, list[_Origin]] = {}
        self._uids: dict[str, str] = {}

    def generate(self, transformations: list[Transformation]) -> StreamGraph:
        for transformation in transformations:
            self._visit(transformation)
        return StreamGraph(self._settings, self._nodes)

    def _visit(self, root: Transformation) -> list[_Origin]:
        """Inputs first; without recursion, as chains may be long."""
        stack = [root]
        while stack:
            top = stack[-1]
            if top.id in self._origins:
                stack.pop()
                continue
            missing = [i for i in top.inputs if i.id not in self._origins]
            if missing:
                stack.extend(reversed(missing))
                continue
            self._origins[top.id] = self._translate(top)
            stack.pop()
        return self._origins[root.id]

    def _translate(self, transformation: Transformation) -> list[_Origin]:
        if isinstance(transformation, UnionTransformation):
            return [origin for i in transformation.union for origin in self._origins[i.id]]
        if isinstance(transformation, PartitionTransformation):
            return [
                _Origin(origin.node, transformation.partitioning, origin.tag)
                for origin in self._origins[transformation.input.id]
            ]
        if isinstance(transformation, SideOutputTransformation):
            origins = []
            for origin in self._origins[transformation.input.id]:
                if origin.tag is not None:
                    raise InvalidProgramError(
                        f"side output '{transformation.tag}' is asked of side output '{origin.tag}': "
                        "ask the operator that emits it"
                    )
                known = origin.node.side_types.setdefault(transformation.tag, transformation.type_info)
                if known != transformation.type_info:
                    raise InvalidProgramError(
                        f"side output '{transformation.tag}' of operator '{origin.node.name}' is asked for with two "
                        f"types: {known} and {transformation.type_info}; use one OutputTag"
                    )
                origins.append(_Origin(origin.node, origin.partitioning, transformation.tag))
            return origins
        if isinstance(transformation, OperatorTransformation):
            return [_Origin(self._add_node(transformation))]
        raise TypeError(f"unknown transformation {type(transformation).__name__}")

    def _add_node(self, t: OperatorTransformation) -> StreamNode:
        origins = self._origins[t.input.id] if t.input is not None else []
        parallelism = t.parallelism or self._settings.parallelism
        name = _full_name(t)
        node = StreamNode(
            id=t.id,
            name=name,
            text=t.text or name,
            uid="",
            description=t.description,
            parallelism=parallelism,
            max_parallelism=self._max_parallelism(t, parallelism),
            slot_sharing_group=self._slot_sharing_group(t, origins),
            chaining=t.chaining,
            type_info=t.type_info if t.declared else None,
            has_user_uid=t.uid is not None or t.uid_hash is not None,
            has_own_max_parallelism=bool(t.max_parallelism or self._settings.max_parallelism),
        )
        for origin in origins:
            self._add_edge(origin, node)
        node.uid = self._uid(t, node)
        self._nodes.append(node)
        return node

    def _max_parallelism(self, t: OperatorTransformation, parallelism: int) -> int:
        chosen = t.max_parallelism or self._settings.max_parallelism
        if chosen is None:
            # As in Flink: 1.5 times the parallelism, to the next power of two, from 128 on.
            target = parallelism + parallelism // 2
            chosen = min(max(1 << max(target - 1, 0).bit_length(), 128), _LARGEST_MAX_PARALLELISM)
        if parallelism > chosen:
            raise InvalidProgramError(
                f"operator '{t.name}' has parallelism {parallelism} but max parallelism {chosen}: "
                "raise the one (set_max_parallelism) or lower the other (set_parallelism)"
            )
        return chosen

    @staticmethod
    def _slot_sharing_group(t: OperatorTransformation, origins: list[_Origin]) -> str:
        if t.slot_sharing_group is not None:
            return t.slot_sharing_group
        groups = {origin.node.slot_sharing_group for origin in origins}
        return groups.pop() if len(groups) == 1 else DEFAULT_SLOT_SHARING_GROUP

    def _add_edge(self, origin: _Origin, node: StreamNode) -> None:
        source, partitioning = origin.node, origin.partitioning
        if partitioning is None:
            partitioning = Forward() if source.parallelism == node.parallelism else Rebalance()
        elif isinstance(partitioning, Forward) and source.parallelism != node.parallelism:
            raise InvalidProgramError(
                f"forward() needs equal parallelism, but '{source.name}' has {source.parallelism} and "
                f"'{node.name}' has {node.parallelism}: use rebalance(), rescale(), broadcast(), shuffle() or global_()"
            )
        edge = StreamEdge(source, node, partitioning, origin.tag, explicit=origin.partitioning is not None)
        source.out_edges.append(edge)
        node.in_edges.append(edge)

    def _uid(self, t: OperatorTransformation, node: StreamNode) -> str:
        """The user's uid, or one made from the operator's place in the graph."""
        if t.uid_hash is not None:
            uid = t.uid_hash
        elif t.uid is not None:
            uid = t.uid
        elif isinstance(t.description, GlobalCommitterOperator) and node.in_edges[0].source.has_user_uid:
            uid = f"{node.in_edges[0].source.uid}-global-committer"
        elif not self._settings.generates_uids and (t.description.is_source or t.description.key is not None):
            raise InvalidProgramError(
                f"operator '{t.name}' has state but no uid, and pipeline.auto-generate-uids is off: give it one with "
                "uid('...')"
            )
        else:
            place = [str(len(self._nodes)), type(t.description).__name__]
            place += [f"{e.source.uid}/{e.tag}/{isinstance(e.partitioning, KeyGroups)}" for e in node.in_edges]
            uid = hashlib.md5("|".join(place).encode(), usedforsecurity=False).hexdigest()
        if uid in self._uids:
            raise InvalidProgramError(
                f"operators '{self._uids[uid]}' and '{t.name}' have the same uid '{uid}': uids must differ within a job"
            )
        self._uids[uid] = t.name
        return uid
