"""Leaving a worker process as it was found, so that the next job can use it.

Starting a process costs a few tenths of a second. One is used again only if nothing of the last job is left in it:
modules of the user's are forgotten, the path and the working directory are put back. If a thread is still running, a
file of the job's was installed, or memory stays high, the process ends instead.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import Any

__all__ = ["ProcessState", "hush"]

_RSS_LIMIT = 300 << 20
_STDERR: list[int] = []
"""Where standard error went before the process was hushed."""


class ProcessState:
    """What a process was like before a job."""

    def __init__(self) -> None:
        hush(False)
        self._modules = set(sys.modules)
        self._path = list(sys.path)
        self._directory = os.getcwd()
        self._environment = dict(os.environ)
        self._main = dict(vars(sys.modules["__main__"]))

    def restore(self) -> bool:
        """Put everything back; whether the process is fit for another job."""
        new = set(sys.modules) - self._modules
        users = {name.partition(".")[0] for name in new if _is_users(sys.modules[name])}
        for name in new:
            # By top-level name, so that packages without a file of their own go with their contents.
            if name.partition(".")[0] in users:
                del sys.modules[name]
        sys.path[:] = self._path
        main = vars(sys.modules["__main__"])
        for name in set(main) - set(self._main):
            del main[name]
        main.update(self._main)
        os.environ.clear()
        os.environ.update(self._environment)
        os.chdir(self._directory)
        gc.unfreeze()
        gc.collect()
        others = [t for t in threading.enumerate() if t is not threading.main_thread() and not _is_sparks(t)]
        return not others and _resident_bytes() < _RSS_LIMIT


def hush(quiet: bool) -> None:
    """Whether the process may write to standard error.

    Between jobs it has nothing to say: when Spark ends it for being idle, all that PySpark would write is a traceback.
    """
    while not quiet and _STDERR:
        kept = _STDERR.pop()
        os.dup2(kept, 2)
        os.close(kept)
    if quiet and not _STDERR:
        _STDERR.append(os.dup(2))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def _is_users(module: Any) -> bool:
    """Whether a module may be another one next time: it is neither the interpreter's nor installed."""
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    return not any(place in file for place in ("site-packages", "dist-packages", sys.prefix, sys.base_prefix)) and (
        not (getattr(module, "__name__", "") + ".").startswith(("spry.", "pyspark.", "py4j."))
    )


def _is_sparks(thread: threading.Thread) -> bool:
    return thread.name.startswith("pyspark")


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
