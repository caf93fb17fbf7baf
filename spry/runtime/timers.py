"""Timers of one operator: per key and time at most one, in event time and in processing time."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Any

__all__ = ["TimerQueue"]


class TimerQueue:
    """Timers of one time domain, in order of time.

    Deleting only forgets the timer; its place in the heap is skipped when its time comes.
    """

    __slots__ = ("_heap", "_live", "_order")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Any]] = []
        self._live: set[tuple[int, Any]] = set()
        self._order = count()

    def __len__(self) -> int:
        return len(self._live)

    def pending(self) -> list[tuple[int, Any]]:
        """The (time, key) of every timer that is set, by time."""
        return sorted(self._live, key=lambda timer: timer[0])

    def register(self, time: int, key: Any) -> None:
        """Set a timer; setting it twice is setting it once."""
        timer = (time, key)
        if timer not in self._live:
            self._live.add(timer)
            heappush(self._heap, (time, next(self._order), key))

    def delete(self, time: int, key: Any) -> None:
        """Forget a timer, if it is set."""
        self._live.discard((time, key))

    def next_time(self) -> int | None:
        """When the earliest timer is due."""
        heap, live = self._heap, self._live
        while heap and (heap[0][0], heap[0][2]) not in live:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: int) -> Iterator[tuple[int, Any]]:
        """Take out every timer due by now, in order, also those set meanwhile."""
        heap, live = self._heap, self._live
        while heap and heap[0][0] <= now:
            time, _, key = heappop(heap)
            if (time, key) in live:
                live.discard((time, key))
                yield time, key
