"""Watermark alignment: sources of a group wait for the slowest of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from spry.common.elements import MAX_WATERMARK
from spry.common.operators import SourceOperator
from spry.graph.execution_graph import ExecutionJobVertex

__all__ = ["WatermarkAlignment"]


@dataclass
class _Group:
    """The sources that wait for one another: how far each subtask has come, and how far ahead each source may be."""

    drifts: dict[int, int] = field(default_factory=dict)
    watermarks: dict[tuple[int, int], int] = field(default_factory=dict)


class WatermarkAlignment:
    """Learns from reports how far sources have come, and says how far each may read on."""

    def __init__(self, vertices: Iterable[ExecutionJobVertex]) -> None:
        self._groups: dict[str, _Group] = {}
        self._group_of: dict[int, _Group] = {}
        for vertex in vertices:
            description = vertex.job_vertex.head.description
            strategy = description.strategy if isinstance(description, SourceOperator) else None
            if strategy is not None and strategy.alignment is not None:
                group = self._groups.setdefault(strategy.alignment.watermark_group, _Group())
                group.drifts[vertex.id] = strategy.alignment.max_allowed_watermark_drift_ms
                self._group_of[vertex.id] = group

    def take_in(self, vertex_id: int, subtask: int, watermark: int | None, finished: bool) -> None:
        """What a subtask reports. Who is idle (None) or has finished holds nobody back."""
        group = self._group_of.get(vertex_id)
        if group is None:
            return
        if finished or watermark is None:
            group.watermarks.pop((vertex_id, subtask), None)
        else:
            group.watermarks[(vertex_id, subtask)] = watermark

    def limits(self) -> dict[int, int]:
        """Vertex id of a source -> the watermark past which it waits."""
        return {
            vertex_id: min(min(group.watermarks.values()) + drift, MAX_WATERMARK)
            for group in self._groups.values()
            if group.watermarks
            for vertex_id, drift in group.drifts.items()
        }
