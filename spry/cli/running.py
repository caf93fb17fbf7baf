"""``spry run``: a program with settings from the command line, here or in the background."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import spry
from spry import pyflink_alias
from spry.cli.failures import show
from spry.cli.jobs import Jobs, tracked_jobs
from spry.cli.program import Program
from spry.common.configuration import Configuration
from spry.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["LOG_DIR_VARIABLE", "aliased", "configured", "run", "run_detached"]

LOG_DIR_VARIABLE = "SPRY_LOG_DIR"
"""Names the directory for the logs of detached programs; ``~/.spry/logs`` if it is not set."""

_INTERRUPTED = 130
_TERMINATED = 143


class _Terminated(KeyboardInterrupt):
    """SIGTERM ends a program as Ctrl-C does."""


@contextmanager
def configured(overrides: Configuration) -> Iterator[None]:
    """Within the block, environments start from these settings."""
    known = StreamExecutionEnvironment._overrides
    StreamExecutionEnvironment._overrides = overrides
    try:
        yield
    finally:
        StreamExecutionEnvironment._overrides = known


@contextmanager
def aliased(wanted: bool) -> Iterator[None]:
    """Within the block, if so wanted, ``pyflink`` is another name of Spry."""
    new = wanted and not pyflink_alias.installed()
    if new:
        pyflink_alias.install()
    try:
        yield
    finally:
        if new:
            pyflink_alias.uninstall()


@contextmanager
def _terminable() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    known = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, known)


def run(program: Program, overrides: Configuration, alias: bool) -> int:
    """Run the program and wait for all of its jobs; gives the exit code."""
    with (
        configured(overrides),
        aliased(alias),
        _terminable(),
        tracked_jobs() as jobs,
        program.installed() as start,
    ):
        try:
            try:
                start()
            except SystemExit as leaving:
                code = _exit_code(leaving)
            else:
                code = 0
            jobs.wait()
            return code
        except KeyboardInterrupt as interrupt:
            return _cancel(jobs, interrupt)
        except BaseException as error:
            show(error)
            _cancel_quietly(jobs)
            return 1


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code
    sys.stderr.write(f"{leaving.code}\n")
    return 1


def _cancel(jobs: Jobs, interrupt: KeyboardInterrupt) -> int:
    code = _TERMINATED if isinstance(interrupt, _Terminated) else _INTERRUPTED
    if not _cancel_quietly(jobs):
        os._exit(code)
    sys.stdout.flush()
    sys.stderr.write("\nspry: cancelled\n")
    return code


def _cancel_quietly(jobs: Jobs) -> bool:
    """Cancel what still runs; False if the user does not want to wait for that."""
    try:
        jobs.cancel()
    except KeyboardInterrupt:
        return False
    return True


def run_detached(program: Program, words: list[str], log: str | None) -> int:
    """Run ``spry run`` with these words in a process of its own that outlives this one; returns at once."""
    program.check()
    path = Path(log) if log is not None else _log_path(program)
    path.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    home = str(Path(spry.__file__).parent.parent)
    if not home.endswith("-packages"):
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{home}{os.pathsep}{known}" if known else home
    environment["PYTHONUNBUFFERED"] = "1"
    with open(path, "ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "spry", "run", *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment,
        )
    print(f"Started {program.target} in the background: process {process.pid}, log {path}")
    print(f"  follow:  tail -f {path}")
    print(f"  cancel:  kill {process.pid}")
    return 0


def _log_path(program: Program) -> Path:
    directory = os.environ.get(LOG_DIR_VARIABLE)
    place = Path(directory) if directory else Path.home() / ".spry" / "logs"
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return place.absolute() / f"{program.name}-{stamp}-{os.getpid()}.log"
