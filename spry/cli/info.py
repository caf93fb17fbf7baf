"""``spry info``: the graphs of a program's first job, without running it and without Spark."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Any, NoReturn

from spry.cli.failures import show
from spry.cli.graphs import JobGraphs
from spry.cli.program import Program
from spry.cli.running import aliased, configured
from spry.common.configuration import Configuration
from spry.common.errors import ExecutionError
from spry.datastream.stream_execution_environment import StreamExecutionEnvironment
from spry.graph.stream_graph import StreamGraph

__all__ = ["info"]


class _Submitted(BaseException):
    """Ends the program at its first job."""

    def __init__(self, graph: StreamGraph) -> None:
        super().__init__("the program has submitted its job")
        self.graph = graph


def _take(env: StreamExecutionEnvironment, job_name: str) -> NoReturn:
    raise _Submitted(env.get_stream_graph(job_name))


def _printing_to_stderr(wanted: bool) -> AbstractContextManager[Any]:
    return redirect_stdout(sys.stderr) if wanted else nullcontext()


def info(program: Program, overrides: Configuration, alias: bool, as_json: bool) -> int:
    """Print the graphs of the program's first job; gives the exit code."""
    graph = None
    known: Any = StreamExecutionEnvironment._on_submit
    StreamExecutionEnvironment._on_submit = staticmethod(_take)
    try:
        # What the program prints must not get into the JSON.
        with configured(overrides), aliased(alias), program.installed() as start, _printing_to_stderr(as_json):
            start()
    except _Submitted as submitted:
        graph = submitted.graph
    except SystemExit:
        graph = None
    except BaseException as error:
        show(error)
        return 1
    finally:
        StreamExecutionEnvironment._on_submit = known
    if graph is None:
        show(ExecutionError(f"{program.target} has ended without starting a job: it must call execute()"))
        return 1
    graphs = JobGraphs.of(graph)
    print(json.dumps(graphs.as_dict(), indent=2) if as_json else graphs.as_text())
    return 0
