"""What the operating system knows about the processes of a job (Linux, through /proc)."""

import os
from pathlib import Path

__all__ = ["disk_usage", "open_files", "peak_rss", "rss", "slot_pids", "threads"]


def _status(pid: int, field: str) -> int:
    """A number of /proc/PID/status; 0 if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    return 0


def rss(pid: int) -> float:
    """Resident memory now, in MB."""
    return round(_status(pid, "VmRSS") / 1024, 1)


def peak_rss(pid: int) -> float:
    """The most resident memory that the process has had, in MB."""
    return round(_status(pid, "VmHWM") / 1024, 1)


def threads(pid: int) -> int:
    return _status(pid, "Threads")


def open_files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            found.setdefault(_status(int(entry), "PPid"), []).append(int(entry))
    return found


def slot_pids(jvm: int) -> list[int]:
    """The processes of slots: Spark starts daemons, and each of them forks one worker."""
    children = _children()
    return sorted(worker for daemon in children.get(jvm, ()) for worker in children.get(daemon, ()))


def disk_usage(directory: str) -> tuple[int, int]:
    """Files and bytes below a directory; what vanishes meanwhile does not count."""
    files = size = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            try:
                size += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue
            files += 1
    return files, size
