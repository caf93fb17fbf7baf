"""Handing a job over for execution.

The API builds a :class:`JobSubmission`; a :class:`PipelineExecutor` runs it. The executor is found by name, so that
writing a program down needs nothing of what runs it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol

from spry.common.collect import CollectBuffer
from spry.common.configuration import Configuration
from spry.common.job_client import JobClient
from spry.graph.stream_graph import StreamGraph

__all__ = ["JobSubmission", "PipelineExecutor", "load_executor"]

_EXECUTOR = "spry.jobmanager.executor"


@dataclass(frozen=True)
class JobSubmission:
    """A job and all that belongs to it."""

    graph: StreamGraph
    configuration: Configuration
    job_parameters: dict[str, str] = field(default_factory=dict)
    cached_files: dict[str, tuple[str, bool]] = field(default_factory=dict)
    python_files: tuple[str, ...] = ()
    python_archives: tuple[tuple[str, str | None], ...] = ()
    python_requirements: tuple[str, str | None] | None = None
    collectors: dict[str, CollectBuffer] = field(default_factory=dict)


class PipelineExecutor(Protocol):
    """Runs jobs."""

    def execute_async(self, submission: JobSubmission) -> JobClient: ...


def load_executor() -> PipelineExecutor:
    """The executor that runs jobs on Spark."""
    executor: PipelineExecutor = import_module(_EXECUTOR).create_executor()
    return executor
