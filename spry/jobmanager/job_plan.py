"""What slots are sent of a job: made of what was submitted and of the execution graph."""

from __future__ import annotations

from spry.common.job_id import JobID
from spry.common.options import PipelineOptions
from spry.common.plan import JobPlan, RestoreState
from spry.graph.execution_graph import ExecutionGraph
from spry.graph.submission import JobSubmission

__all__ = ["create_job_plan", "python_requirements"]


def create_job_plan(
    submission: JobSubmission,
    graph: ExecutionGraph,
    job_id: JobID,
    attempt: int,
    checkpointing: bool,
    restore: RestoreState | None,
) -> JobPlan:
    """The plan of one attempt to run the job."""
    settings = submission.graph.settings
    return JobPlan(
        job_id=str(job_id),
        job_name=settings.job_name,
        attempt=attempt,
        slots=graph.slots,
        levels=graph.levels,
        batch=settings.batch,
        vertices=graph.vertex_plans(),
        edges=tuple(graph.edges),
        configuration=submission.configuration.to_dict(),
        job_parameters=submission.job_parameters,
        object_reuse=submission.configuration.get(PipelineOptions.OBJECT_REUSE),
        cached_files=submission.cached_files,
        python_files=submission.python_files,
        python_archives=submission.python_archives,
        checkpointing=checkpointing,
        restore=restore,
    )


def python_requirements(submission: JobSubmission) -> str | None:
    """The contents of the requirements file, and the directory of packages; None if the job needs none."""
    given = submission.python_requirements
    if given is None:
        return None
    path, cache = given
    try:
        with open(path, encoding="utf-8") as file:
            return f"{file.read()}\0{cache or ''}"
    except OSError as error:
        raise FileNotFoundError(f"Python requirements file '{path}': {error.strerror}") from None
