"""The processes of a job on this machine, found as an operator would find them, to end them without warning."""

from __future__ import annotations

import os
import signal
from pathlib import Path

__all__ = ["executor_processes", "kill", "slot_processes"]


def _all() -> dict[int, tuple[int, str]]:
    """Every process: pid -> (parent, command line)."""
    found = {}
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                stat = (directory / "stat").read_text()
                command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue  # It has just ended.
            found[int(directory.name)] = (int(stat.rpartition(")")[2].split()[1]), command)
    return found


def _descendants(of: int, processes: dict[int, tuple[int, str]]) -> set[int]:
    found = {of}
    while True:
        more = {pid for pid, (parent, _) in processes.items() if parent in found} - found
        if not more:
            return found - {of}
        found |= more


def slot_processes(driver: int) -> list[int]:
    """The worker processes below a process (and what they have forked)."""
    processes = _all()
    return [
        pid
        for pid in sorted(_descendants(driver, processes))
        if "pyspark.daemon" in processes[pid][1] and "pyspark.daemon" in processes.get(processes[pid][0], (0, ""))[1]
    ]


def executor_processes(of: int) -> list[int]:
    """The executors below a process."""
    processes = _all()
    return [pid for pid in sorted(_descendants(of, processes)) if "CoarseGrainedExecutorBackend" in processes[pid][1]]


def kill(pid: int) -> bool:
    """End a process at once; whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
