"""Timers of one operator: per key and time at most one, in event time and in processing time."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Any

from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext

__all__ = ["TimerQueue", "drain"]

_SPARE_TIMES = 1000


class _Keys(dict[Any, None]):
    """The keys that have a timer at one time, in the order in which they set it."""

    __slots__ = ()


class TimerQueue:
    """Timers of one time domain, in order of time.

    For each time there is the key that has a timer then, or a set of keys if several have: of millions of timers most
    are alone at their time, or share it with many. The heap holds each time once. Deleting a time's last key leaves
    the time in the heap, where it is skipped when its turn comes.
    """

    __slots__ = ("_heap", "_keys", "_size")

    def __init__(self) -> None:
        self._heap: list[int] = []
        self._keys: dict[int, Any] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def pending(self) -> list[tuple[int, Any]]:
        """The (time, key) of every timer that is set, by time."""
        return [(time, key) for time in sorted(self._keys) for key in self._at(time)]

    def snapshot(self, context: StateSnapshotContext, name: str, namespaced: bool = False) -> None:
        """Put all timers into a checkpoint; ``namespaced`` if they are set for keys and something else (windows)."""
        if self._size:
            context.put_keyed(name, lambda: ((owner, time) for time, owner in self.pending()), self._size, namespaced)

    def restore(self, context: StateInitializationContext, name: str) -> None:
        """Set the timers that a checkpoint has for this subtask."""
        for owner, time in sorted(context.keyed(name), key=_time_of):
            self.register(time, owner)

    def _at(self, time: int) -> list[Any]:
        found = self._keys[time]
        return list(found) if found.__class__ is _Keys else [found]

    def register(self, time: int, key: Any) -> None:
        """Set a timer; setting it twice is setting it once."""
        keys = self._keys
        if time not in keys:
            keys[time] = key
            self._size += 1
            heappush(self._heap, time)
            return
        found = keys[time]
        if found.__class__ is not _Keys:
            if found == key:
                return
            keys[time] = _Keys({found: None, key: None})
            self._size += 1
        elif key not in found:
            found[key] = None
            self._size += 1

    def delete(self, time: int, key: Any) -> None:
        """Forget a timer, if it is set."""
        keys = self._keys
        if time not in keys:
            return
        found = keys[time]
        if found.__class__ is not _Keys:
            if found != key:
                return
            del keys[time]
        elif key in found:
            del found[key]
            if not found:
                del keys[time]
        else:
            return
        self._size -= 1
        if len(self._heap) > 2 * len(keys) + _SPARE_TIMES:
            self._heap[:] = keys  # Times without timers would pile up where timers are set and deleted all the time.
            heapify(self._heap)

    def next_time(self) -> int | None:
        """When the earliest timer is due."""
        heap, keys = self._heap, self._keys
        while heap and heap[0] not in keys:
            heappop(heap)
        return heap[0] if heap else None

    def due(self, now: int) -> Iterator[tuple[int, Any]]:
        """Take out every timer due by now, in order, also those set meanwhile."""
        heap, keys = self._heap, self._keys
        while heap and heap[0] <= now:
            time = heap[0]
            if time not in keys:
                heappop(heap)
                continue
            found = keys[time]
            if found.__class__ is not _Keys:
                del keys[time]
                self._size -= 1
                yield time, found
                continue
            for key in list(found):
                if key in found:  # Else one that fired before has deleted it.
                    del found[key]
                    self._size -= 1
                    yield time, key
            if not found and keys.get(time) is found:
                del keys[time]

    def clear(self) -> None:
        """Forget every timer."""
        self._heap.clear()
        self._keys.clear()
        self._size = 0


def _time_of(entry: tuple[Any, int]) -> int:
    return entry[1]


def drain(event: TimerQueue, processing: TimerQueue) -> Iterator[tuple[TimerQueue, int, Any]]:
    """Batch mode, at the end of a key: take out every timer, those in event time first, each with its queue.

    Time is over then, so that timers that are set meanwhile are forgotten.
    """
    pending = [(queue, time, key) for queue in (event, processing) for time, key in queue.pending()]
    for queue, time, key in pending:
        left = len(queue)
        queue.delete(time, key)
        if len(queue) < left:  # Else one that fired before has deleted it.
            yield queue, time, key
    event.clear()
    processing.clear()
