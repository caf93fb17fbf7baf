"""The job endpoint: how other processes of the same user reach the jobs of this one (``spry.common.job_registry``)."""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import pickle
import secrets
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import cloudpickle

from spry.common.completable_future import CompletableFuture
from spry.common.errors import ExecutionError
from spry.common.job_client import JobClient
from spry.common.job_registry import RunningJob, run_directory
from spry.common.state_choices import SavepointFormatType

__all__ = ["JobEndpoint", "endpoint"]

_LONGEST_SOCKET_PATH = 100
_RETRY_SECONDS = 0.5
_ANSWER_SECONDS = 3.0


class JobEndpoint:
    """Listens for requests about the jobs of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, JobClient] = {}
        self._path: str | None = None
        self._answering: set[threading.Thread] = set()
        self._pid = os.getpid()

    def register(self, client: JobClient, name: str) -> None:
        """A job has started. Where no file can be left, it just cannot be reached."""
        job_id = str(client.get_job_id())
        directory = run_directory()
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._lock:
                self._jobs[job_id] = client
                if self._path is None:
                    self._path = self._listen(directory)
            file = directory / f"{job_id}.json"
            beside = directory / f".{job_id}.{os.getpid()}"
            beside.write_text(RunningJob(job_id, name, os.getpid(), self._path, time.time()).to_json())
            beside.replace(file)
        except OSError:
            return

    def forget(self, job_id: str) -> None:
        """The job is over."""
        self._jobs.pop(job_id, None)
        with contextlib.suppress(OSError):
            (run_directory() / f"{job_id}.json").unlink()

    def _listen(self, directory: Path) -> str:
        name = f"{os.getpid()}-{secrets.token_hex(3)}.sock"
        path = str(directory / name)
        if len(path) > _LONGEST_SOCKET_PATH:
            path = os.path.join(tempfile.mkdtemp(prefix="spry-"), name)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        os.chmod(path, 0o600)
        listener.listen(16)
        atexit.register(self._leave, path)
        threading.Thread(target=self._accept, args=(listener,), name="job endpoint", daemon=True).start()
        return path

    def _accept(self, listener: socket.socket) -> None:
        """For as long as the process lives."""
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                time.sleep(_RETRY_SECONDS)  # No files left, say: others may end soon.
                continue
            thread = threading.Thread(target=self._serve, args=(line,), name="job endpoint", daemon=True)
            self._answering.add(thread)
            thread.start()

    def _leave(self, path: str) -> None:
        """The process ends: whoever has ended its last job still gets an answer."""
        if os.getpid() != self._pid:
            return  # This is a process that was forked from it.
        with contextlib.suppress(OSError):
            os.unlink(path)
        for thread in list(self._answering):
            thread.join(_ANSWER_SECONDS)

    def _serve(self, line: socket.socket) -> None:
        try:
            self._talk(line)
        finally:
            self._answering.discard(threading.current_thread())

    def _talk(self, line: socket.socket) -> None:
        with line, line.makefile("rwb") as stream:
            try:
                asked = stream.readline()
                if not asked:
                    return  # Somebody wanted to know only whether there is anybody here.
                answer = {"answer": self._answer(json.loads(asked))}
            except Exception as error:
                answer = {"error": str(error) or type(error).__name__}
            with contextlib.suppress(OSError):
                stream.write(json.dumps(answer).encode() + b"\n")
                stream.flush()

    def _answer(self, request: dict[str, Any]) -> Any:
        client = self._jobs.get(request["job"])
        if client is None:
            raise ExecutionError("the job has ended")
        kind = request["do"]
        if kind == "status":
            metrics = client.get_metrics()
            return {
                "status": client.get_job_status().result().name,
                "checkpoint": metrics.get("job.checkpoints.last.path"),
                "restarts": metrics["job.restarts"],
                "failure": metrics["job.lastFailure"],
            }
        if kind == "cancel":
            client.cancel().result()
            return None
        if kind == "savepoint":
            return client.trigger_savepoint(request["directory"], _format(request)).result()
        if kind == "stop":
            return client.stop_with_savepoint(request["drain"], request["directory"], _format(request)).result()
        if kind == "query":
            key = pickle.loads(base64.b64decode(request["key"]))
            value: CompletableFuture[Any] = client.query_state(request["name"], key)
            if request.get("shown"):
                return repr(value.result())  # Whoever asks may not have the classes of what it is.
            return base64.b64encode(cloudpickle.dumps(value.result())).decode()
        raise ExecutionError(f"'{kind}' is nothing that can be asked")


def _format(request: dict[str, Any]) -> SavepointFormatType:
    return SavepointFormatType.NATIVE if request.get("native") else SavepointFormatType.CANONICAL


_ENDPOINT: list[JobEndpoint] = []


def endpoint() -> JobEndpoint:
    """The endpoint of this process."""
    if not _ENDPOINT or _ENDPOINT[0]._pid != os.getpid():
        _ENDPOINT[:] = [JobEndpoint()]
    return _ENDPOINT[0]
