"""A job's graphs for people and for programs: operators, chains, subtasks and levels, slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spry.graph.execution_graph import ExecutionGraph, build_execution_graph
from spry.graph.job_graph import build_job_graph
from spry.graph.stream_graph import StreamGraph

__all__ = ["JobGraphs"]


@dataclass(frozen=True)
class JobGraphs:
    """All graphs of one job."""

    stream: StreamGraph
    execution: ExecutionGraph

    @staticmethod
    def of(stream: StreamGraph) -> JobGraphs:
        """The graphs that follow from a stream graph."""
        return JobGraphs(stream, build_execution_graph(build_job_graph(stream)))

    # For programs

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        settings, execution = self.stream.settings, self.execution
        return {
            "job": settings.job_name,
            "mode": "batch" if settings.batch else "streaming",
            "stream_graph": {"operators": self._operators(), "edges": self._stream_edges()},
            "job_graph": {"vertices": self._vertices(), "edges": self._job_edges()},
            "execution_graph": {
                "levels": execution.levels,
                "slots": execution.slots,
                "slot_sharing_groups": self._groups(),
                "subtasks": [
                    {"vertex": s.vertex.id, "index": s.index, "slot": s.slot, "level": s.vertex.level, "name": s.name}
                    for s in execution.subtasks()
                ],
            },
            "slots": [
                {"slot": slot, "group": self._group_of(slot), "levels": levels}
                for slot, levels in self._slots().items()
            ],
        }

    def _operators(self) -> list[dict[str, Any]]:
        return [
            {
                "id": node.id,
                "name": node.name,
                "uid": node.uid if node.has_user_uid else None,
                "parallelism": node.parallelism,
                "max_parallelism": node.max_parallelism,
                "slot_sharing_group": node.slot_sharing_group,
            }
            for node in self.stream.nodes
        ]

    def _stream_edges(self) -> list[dict[str, Any]]:
        return [
            {
                "from": edge.source.id,
                "to": edge.target.id,
                "ship_strategy": edge.partitioning.ship_strategy,
                "side_output": edge.tag,
            }
            for edge in self.stream.edges
        ]

    def _vertices(self) -> list[dict[str, Any]]:
        return [
            {
                "id": vertex.id,
                "name": vertex.name,
                "operators": [node.id for node in vertex.nodes],
                "parallelism": vertex.parallelism,
                "slot_sharing_group": vertex.slot_sharing_group,
            }
            for vertex in self.execution.job_graph.vertices
        ]

    def _job_edges(self) -> list[dict[str, Any]]:
        return [
            {
                "from": edge.source.id,
                "to": edge.target.id,
                "ship_strategy": edge.partitioning.ship_strategy,
                "side_output": edge.tag,
                "within_slot": plan.local,
            }
            for edge, plan in zip(self.execution.job_graph.edges, self.execution.edges, strict=True)
        ]

    def _groups(self) -> dict[str, list[int]]:
        groups: dict[str, set[int]] = {}
        for vertex in self.execution.vertices:
            slots = groups.setdefault(vertex.job_vertex.slot_sharing_group, set())
            slots.update(subtask.slot for subtask in vertex.subtasks)
        return {name: sorted(slots) for name, slots in groups.items()}

    def _group_of(self, slot: int) -> str:
        return next(name for name, slots in self._groups().items() if slot in slots)

    def _slots(self) -> dict[int, dict[int, list[str]]]:
        """Per slot, per level, the subtasks."""
        slots: dict[int, dict[int, list[str]]] = {slot: {} for slot in range(self.execution.slots)}
        for subtask in self.execution.subtasks():
            slots[subtask.slot].setdefault(subtask.vertex.level, []).append(subtask.name)
        return slots

    # For people

    def as_text(self) -> str:
        """Everything in a form that is read in a terminal."""
        settings, execution = self.stream.settings, self.execution
        mode = "batch" if settings.batch else "streaming"
        lines = [f"Job '{settings.job_name}', {mode}", ""]
        operators, edges = self._operators(), self._stream_edges()
        lines.append(f"Stream graph: {_count(len(operators), 'operator')}, {_count(len(edges), 'edge')}")
        lines += _listing(operators, edges)
        vertices, job_edges = self._vertices(), self._job_edges()
        lines += ["", f"Job graph: {_count(len(vertices), 'chain')}, {_count(len(job_edges), 'edge')}"]
        lines += _listing(vertices, job_edges)
        subtasks = len(execution.subtasks())
        lines += [
            "",
            f"Execution graph: {_count(subtasks, 'subtask')}, {_count(execution.levels, 'level')} "
            f"(an epoch is {_count(execution.levels, 'Spark stage')}), {_count(execution.slots, 'slot')}",
        ]
        for level in range(execution.levels):
            here = [vertex for vertex in execution.vertices if vertex.level == level]
            for number, vertex in enumerate(here):
                head = f"level {level}" if number == 0 else ""
                slots = _ranges([subtask.slot for subtask in vertex.subtasks])
                lines.append(
                    f"  {head:9}{vertex.id:>4}  {vertex.name}  x{vertex.parallelism}, "
                    f"{'slot' if slots.isdigit() else 'slots'} {slots}"
                )
        groups = self._groups()
        lines += ["", f"Slots: {_count(execution.slots, 'slot')} in {_count(len(groups), 'slot sharing group')}"]
        for name, numbers in groups.items():
            lines.append(f"  group '{name}'")
            for slot in numbers:
                chains = [
                    f"{subtask.vertex.id} ({subtask.index + 1}/{subtask.vertex.parallelism})"
                    for subtask in execution.subtasks()
                    if subtask.slot == slot
                ]
                lines.append(f"    slot {slot:<4} {', '.join(chains)}")
        return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _ranges(numbers: list[int]) -> str:
    first, last = min(numbers), max(numbers)
    return str(first) if first == last else f"{first}-{last}"


def _listing(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> list[str]:
    """One line per node, with where its input comes from; so diamonds are as easy as chains."""
    width = min(max(len(node["name"]) for node in nodes), 60)
    lines = []
    for node in nodes:
        inputs = [_input(edge) for edge in edges if edge["to"] == node["id"]]
        parallelism = f"x{node['parallelism']}"
        line = f"  {node['id']:>4}  {node['name']:{width}}  {parallelism:<4} "
        lines.append((line + ("<- " + ", ".join(inputs) if inputs else "")).rstrip())
    return lines


def _input(edge: dict[str, Any]) -> str:
    side = f", side output '{edge['side_output']}'" if edge["side_output"] is not None else ""
    within = ", within the slot" if edge.get("within_slot") else ""
    return f"{edge['from']} ({edge['ship_strategy']}{side}{within})"
