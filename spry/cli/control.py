"""Commands for jobs that run: ``spry list``, ``savepoint``, ``stop``, ``cancel``, ``query``."""

from __future__ import annotations

import argparse
import ast
import base64
import pickle
import sys
import time
from typing import Any

from spry.common.errors import ExecutionError
from spry.common.job_registry import ask, find_job, running_jobs
from spry.runtime.checkpoints.storage import absolute

__all__ = ["control"]


def control(arguments: argparse.Namespace) -> int:
    """Carry out one of the commands; gives the exit code."""
    try:
        if arguments.command == "list":
            _list()
        else:
            _do(arguments)
    except ExecutionError as error:
        sys.stderr.write(f"spry: {error}\n")
        return 1
    return 0


def _list() -> None:
    jobs = running_jobs()
    if not jobs:
        print("no jobs are running on this machine")
    for job in jobs:
        try:
            known = ask(job, {"do": "status"}, 5.0)
        except ExecutionError as error:
            known = {"status": f"({error})", "checkpoint": None}
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(job.started))
        print(f"{job.job_id}  {known['status']:<10} since {since}  process {job.pid}  {job.name}")
        if known.get("restarts"):
            print(f"{'':34}restarted {known['restarts']} times, last after: {known['failure']}")
        if known["checkpoint"]:
            print(f"{'':34}last checkpoint: {known['checkpoint']}")


def _do(arguments: argparse.Namespace) -> None:
    job = find_job(arguments.job)
    if arguments.command == "cancel":
        ask(job, {"do": "cancel"})
        print(f"Cancelled job {job.job_id} ({job.name})")
    elif arguments.command == "query":
        key = base64.b64encode(pickle.dumps(_python_value(arguments.key))).decode()
        print(ask(job, {"do": "query", "name": arguments.name, "key": key, "shown": True}))
    else:
        directory = absolute(arguments.directory) if arguments.directory is not None else None
        request = {"do": arguments.command, "native": arguments.native, "directory": directory}
        if arguments.command == "stop":
            request["drain"] = arguments.drain
        print(ask(job, request))


def _python_value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
