"""Slot names: each stands for a worker process of its own.

Spark starts a daemon per distinct environment and keeps it for as long as the application lives, so names are used
again: a job leases as many as it has slots and gives them back at its end.
"""

from __future__ import annotations

import threading
import time

__all__ = ["SlotNames", "slot_names"]

_LEAVING_SECONDS = 1.5
"""A process that was told to end is gone after this."""


class SlotNames:
    """The names of one Spark application."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[int, float] = {}
        """Number -> when it may be used again, on the monotonic clock."""
        self._count = 0

    def lease(self, count: int) -> list[str]:
        """Names that nobody else uses, those with a warm process first."""
        now = time.monotonic()
        with self._lock:
            ready = sorted(number for number, since in self._free.items() if since <= now)[:count]
            for number in ready:
                del self._free[number]
            while len(ready) < count:
                ready.append(self._count)
                self._count += 1
        return [f"slot-{number}" for number in ready]

    def give_back(self, name: str, process_stays: bool) -> None:
        """The slot is closed; its process can be used again, or ends now."""
        with self._lock:
            number = int(name.removeprefix("slot-"))
            self._free[number] = time.monotonic() + (0.0 if process_stays else _LEAVING_SECONDS)


_NAMES: dict[str, SlotNames] = {}


def slot_names(application_id: str) -> SlotNames:
    """The slot names of a Spark application."""
    return _NAMES.setdefault(application_id, SlotNames())
