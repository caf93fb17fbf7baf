"""The jobs that a program starts, so that the command can wait for them and cancel them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from spry.common.errors import JobCancelledError
from spry.common.job_client import JobClient
from spry.graph.submission import JobSubmission, PipelineExecutor, load_executor

__all__ = ["Jobs", "tracked_jobs"]

_CANCEL_SECONDS = 20.0


class Jobs:
    """Jobs in the order of their start."""

    def __init__(self) -> None:
        self._clients: list[JobClient] = []

    def add(self, client: JobClient) -> None:
        self._clients.append(client)

    def running(self) -> list[JobClient]:
        """Those that have not ended."""
        return [c for c in self._clients if not c.get_job_status().result().is_terminal_state()]

    def wait(self) -> None:
        """Wait for the jobs that still run; raises the first failure among them."""
        for client in self.running():
            result = client.get_job_execution_result()
            while True:
                try:
                    result.result(0.5)
                    break
                except TimeoutError:
                    if result.done():
                        raise
                except JobCancelledError:
                    break

    def cancel(self) -> int:
        """Cancel the jobs that still run, wait for their end; how many there were."""
        running = self.running()
        pending = []
        for client in running:
            try:
                pending.append(client.cancel())
            except Exception as error:  # It has ended in the meantime, or is being cancelled already.
                if not client.get_job_status().result().is_terminal_state():
                    sys.stderr.write(f"spry: {error}\n")
        for ended in pending:
            try:
                ended.result(_CANCEL_SECONDS)
            except Exception as error:
                sys.stderr.write(f"spry: the job did not end: {str(error) or type(error).__name__}\n")
        return len(running)


class _TrackingExecutor:
    """An executor that notes the jobs it starts."""

    def __init__(self, executor: PipelineExecutor, jobs: Jobs) -> None:
        self._executor = executor
        self._jobs = jobs

    def execute_async(self, submission: JobSubmission) -> JobClient:
        client = self._executor.execute_async(submission)
        self._jobs.add(client)
        return client


@contextmanager
def tracked_jobs() -> Iterator[Jobs]:
    """Within the block, all jobs that this process starts are noted."""
    jobs, load = Jobs(), load_executor
    module: Any = import_module("spry.datastream.stream_execution_environment")

    def load_tracking() -> PipelineExecutor:
        return _TrackingExecutor(load(), jobs)

    module.load_executor = load_tracking
    try:
        yield jobs
    finally:
        module.load_executor = load
