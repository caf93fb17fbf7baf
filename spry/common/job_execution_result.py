"""What remains of a job that has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spry.common.job_id import JobID

__all__ = ["JobExecutionResult"]


class JobExecutionResult:
    """The outcome of a job that has ended: how long it took, and what its accumulators hold.

    >>> result = JobExecutionResult(JobID("0" * 32), 1500, {"lines": 7})
    >>> result.get_net_runtime(), result.get_accumulator_result("lines")
    (1500, 7)
    """

    def __init__(self, job_id: JobID, net_runtime_ms: int, accumulators: Mapping[str, Any] | None = None) -> None:
        self._job_id = job_id
        self._net_runtime_ms = net_runtime_ms
        self._accumulators = dict(accumulators or {})

    def get_job_id(self) -> JobID:
        return self._job_id

    def is_job_execution_result(self) -> bool:
        """Whether the job has ended and this is its result, which is always so for this class."""
        return True

    def get_net_runtime(self) -> int:
        """How long the job ran, in milliseconds."""
        return self._net_runtime_ms

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """What this accumulator holds, ``None`` if there is none of this name."""
        return self._accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """What all accumulators hold, by name."""
        return dict(self._accumulators)

    def __str__(self) -> str:
        text = f"Job {self._job_id} finished after {self._net_runtime_ms} ms."
        for name, value in sorted(self._accumulators.items()):
            text += f"\n  {name}: {value!r}"
        return text

    def __repr__(self) -> str:
        return f"JobExecutionResult({self._job_id}, {self._net_runtime_ms} ms)"
