"""Collected records on their way from a job to the program that asked for them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

__all__ = ["CollectBuffer"]


class CollectBuffer:
    """A bounded queue between the job master and ``execute_and_collect``'s iterator."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: deque[Any] = deque()
        self._changed = threading.Condition()
        self._ended = False
        self._failure: BaseException | None = None
        self.abandoned = False
        """The reader has gone: nothing more need be kept."""

    @property
    def full(self) -> bool:
        """Whether the job should wait for the reader."""
        return len(self._items) >= self._capacity and not self.abandoned

    def put_all(self, values: Iterable[Any]) -> None:
        """Append; never waits, as an epoch's records have to go somewhere."""
        with self._changed:
            if not self.abandoned:
                self._items.extend(values)
            self._changed.notify_all()

    def wait_for_room(self, timeout: float) -> bool:
        """Wait until the reader has made room; whether it has."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.full, timeout)

    def end(self, failure: BaseException | None = None) -> None:
        """Nothing follows; the reader gets the failure after what is left."""
        with self._changed:
            self._ended = True
            self._failure = failure
            self._changed.notify_all()

    def abandon(self) -> None:
        """The reader has gone."""
        with self._changed:
            self.abandoned = True
            self._items.clear()
            self._changed.notify_all()

    def get(self) -> Any:
        """The next record; StopIteration at the end, the job's failure if it failed."""
        with self._changed:
            # A timeout keeps the main thread open to Ctrl-C.
            while not self._items and not self._ended:
                self._changed.wait(0.2)
            if self._items:
                value = self._items.popleft()
                if len(self._items) == self._capacity - 1:
                    self._changed.notify_all()
                return value
            if self._failure is not None:
                raise self._failure
            raise StopIteration
