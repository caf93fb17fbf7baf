"""Executors: which there are, and which slot goes where."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from spry.common.errors import JobSubmissionError

__all__ = ["Executor", "executors", "place_slots"]

_WAIT_SECONDS = 60.0
_SETTLE_SECONDS = 3.0
"""Executors register one after the other; when none has for this long, these are all."""


@dataclass(frozen=True, slots=True)
class Executor:
    """A process of Spark's that runs tasks."""

    id: str
    host: str
    cores: int

    @property
    def location(self) -> str:
        """How Spark's scheduler is told to prefer it."""
        return f"executor_{self.host}_{self.id}"


def executors(context: Any, slots: int) -> list[Executor]:
    """The live executors; waits for the first one, and a little for as many cores as there are slots."""
    local = context.master.startswith("local")
    started = time.monotonic()
    deadline = started + _WAIT_SECONDS
    known, since = 0, started
    while True:
        if context._jsc.sc().isStopped():
            raise JobSubmissionError(f"the Spark application at '{context.master}' has been stopped or has failed")
        found = _list(context, local)
        if len(found) != known:
            known, since = len(found), time.monotonic()
        enough = local or sum(executor.cores for executor in found) >= slots
        if found and (enough or time.monotonic() - since > _SETTLE_SECONDS):
            return found
        if time.monotonic() > deadline:
            raise JobSubmissionError(
                f"no executor has registered at '{context.master}' within {_WAIT_SECONDS:.0f} s: does the "
                "cluster have free workers with enough memory?"
            )
        time.sleep(0.1)


def _list(context: Any, local: bool) -> list[Executor]:
    listing = context._jsc.sc().statusStore().executorList(True)
    found = []
    for index in range(listing.size()):
        entry = listing.apply(index)
        if not entry.isActive() or (entry.id() == "driver" and not local):
            continue
        host = entry.hostPort().rsplit(":", 1)[0]
        found.append(Executor(entry.id(), host, entry.totalCores()))
    return sorted(found, key=lambda executor: executor.id)


def place_slots(slots: int, available: list[Executor]) -> list[Executor]:
    """An executor for each slot: as many slots per core everywhere, neighbours apart."""
    load = {executor.id: 0 for executor in available}
    placed = []
    for _ in range(slots):
        best = min(available, key=lambda e: ((load[e.id] + 1) / max(e.cores, 1), load[e.id]))
        load[best.id] += 1
        placed.append(best)
    return placed
