"""Directories for files that are of no use once the process is gone, however it goes.

Each process has a directory per kind and place, with a file ``owner`` in it that it keeps locked. The system gives the
lock back even if the process is killed: the next one that uses the same place removes what has no owner any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["remove_scratch", "remove_stale_siblings", "scratch_directory"]

_PREFIX = "spry-scratch-"
_OWNER = "owner"
_BEING_MADE_SECONDS = 3600
_STALE_SECONDS = 24 * 3600


@dataclass(slots=True)
class _Owned:
    path: Path
    descriptor: int
    directories: set[Path] = field(default_factory=set)


class _Process:
    """What this process owns, by place and kind."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owned: dict[tuple[str, str], _Owned] = {}

    def forget(self) -> None:
        """In a forked process: what is there is the parent's, and its locks must not outlive it."""
        self.lock = threading.Lock()
        for owned in self.owned.values():
            with contextlib.suppress(OSError):
                os.close(owned.descriptor)
        self.owned.clear()


_process = _Process()
os.register_at_fork(after_in_child=_process.forget)


def scratch_directory(parent: str | None, kind: str) -> Path:
    """A new directory below this one, or where temporary files go. Remove it with ``remove_scratch``."""
    place = os.path.abspath(parent or tempfile.gettempdir())
    with _process.lock:
        owned = _process.owned.get((place, kind))
        if owned is None or not owned.path.is_dir():
            os.makedirs(place, exist_ok=True)
            _remove_ownerless(place, kind)
            owned = _process.owned[place, kind] = _own(place, kind)
        directory = Path(tempfile.mkdtemp(dir=owned.path))
        owned.directories.add(directory)
        return directory


def remove_scratch(directory: Path) -> None:
    """Remove a scratch directory; the process's own goes with its last one."""
    shutil.rmtree(directory, ignore_errors=True)
    with _process.lock:
        for place, owned in list(_process.owned.items()):
            owned.directories.discard(directory)
            if not owned.directories:
                del _process.owned[place]
                shutil.rmtree(owned.path, ignore_errors=True)
                os.close(owned.descriptor)


def _own(place: str, kind: str) -> _Owned:
    path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-", dir=place))
    descriptor = os.open(path / f".{_OWNER}", os.O_CREAT | os.O_RDWR, 0o600)
    with contextlib.suppress(OSError):  # Where nobody can lock nobody is found dead, either.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.rename(path / f".{_OWNER}", path / _OWNER)  # It is never seen unlocked.
    return _Owned(path, descriptor)


def _remove_ownerless(place: str, kind: str) -> None:
    for path in Path(place).glob(f"{_PREFIX}{kind}-*"):
        with contextlib.suppress(OSError):
            if _is_ours(path) and _is_ownerless(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_ownerless(path: Path) -> bool:
    try:
        descriptor = os.open(path / _OWNER, os.O_RDWR)
    except FileNotFoundError:
        return _age(path) > _BEING_MADE_SECONDS
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)
    return True


def _is_ours(path: Path) -> bool:
    return path.lstat().st_uid == os.getuid() and path.is_dir() and not path.is_symlink()


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime


def remove_stale_siblings(directory: Path) -> None:
    """Remove directories beside a ``<kind>-<job>-<slot>`` that are other jobs' and untouched for a day.

    These outlive their process, as the next one may want them; there must be no harm in it if they are gone.
    """
    job = directory.name.rpartition("-")[0]
    kind = job.rpartition("-")[0]
    for path in directory.parent.glob(f"{kind}-*"):
        with contextlib.suppress(OSError):
            if path.name.rpartition("-")[0] != job and _is_ours(path) and _age(path) > _STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
