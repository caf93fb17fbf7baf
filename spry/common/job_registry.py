"""Where the jobs that run on this machine can be reached by other processes of the same user.

Every process that runs jobs listens on a Unix socket, and leaves a file per job in one directory: ``SPRY_RUN_DIR``,
else ``~/.spry/run``. A request and its answer are one line of JSON each.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spry.common.errors import ExecutionError

__all__ = ["RUN_DIR_VARIABLE", "RunningJob", "ask", "find_job", "run_directory", "running_jobs"]

RUN_DIR_VARIABLE = "SPRY_RUN_DIR"
_KNOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that some process on this machine runs."""

    job_id: str
    name: str
    pid: int
    socket: str
    started: float
    """Seconds since 1970."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def run_directory() -> Path:
    """Where the files are."""
    chosen = os.environ.get(RUN_DIR_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".spry" / "run"


def running_jobs() -> list[RunningJob]:
    """All jobs of this user on this machine, the oldest first. What killed processes left behind is removed."""
    found = []
    for path in run_directory().glob("*.sock"):
        owner = path.name.partition("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            with contextlib.suppress(OSError):
                path.unlink()
    for path in run_directory().glob("*.json"):
        try:
            job = RunningJob(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            continue  # It is being written, or removed.
        if _is_there(job):
            found.append(job)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
    return sorted(found, key=lambda job: job.started)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_there(job: RunningJob) -> bool:
    """Whether its process listens. That there is a process with its number says little: numbers come again."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(_KNOCK_SECONDS)
        try:
            line.connect(job.socket)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True  # It is busy.
    return True


def find_job(text: str) -> RunningJob:
    """The running job with this id, the beginning of it, or this name."""
    jobs = running_jobs()
    found = [job for job in jobs if job.job_id == text] or [
        job for job in jobs if job.job_id.startswith(text) or job.name == text
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise ExecutionError(f"'{text}' is more than one job: {', '.join(job.job_id for job in found)}")
    known = ", ".join(f"{job.job_id} ({job.name})" for job in jobs) or "none is running on this machine"
    raise ExecutionError(f"there is no running job '{text}' ({known})")


def ask(job: RunningJob, request: dict[str, Any], timeout: float | None = None) -> Any:
    """Send a request to the process that runs the job; gives the answer, or raises what it says went wrong."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(timeout)
        try:
            line.connect(job.socket)
            line.sendall(json.dumps({**request, "job": job.job_id}).encode() + b"\n")
            with line.makefile("rb") as stream:
                answer = stream.readline()
        except OSError as error:
            raise ExecutionError(f"the process {job.pid} of job '{job.name}' does not answer: {error}") from None
    if not answer:
        raise ExecutionError(f"the process {job.pid} of job '{job.name}' has ended")
    said = json.loads(answer)
    if "error" in said:
        raise ExecutionError(said["error"])
    return said["answer"]
