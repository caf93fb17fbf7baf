"""Windows: what a window assigner puts elements into."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from io import BytesIO

from spry.common.serializer import TypeSerializer

__all__ = [
    "MAX_TIMESTAMP",
    "CountWindow",
    "CountWindowSerializer",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "TimeWindow",
    "TimeWindowSerializer",
    "Window",
    "window_start",
    "window_starts",
]

MAX_TIMESTAMP = 2**63 - 1


class Window(ABC):
    """A group of elements. Windows of one's own need ``__eq__`` and ``__hash__``."""

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """The largest timestamp that still belongs to the window."""


def window_start(timestamp: int, offset: int, size: int) -> int:
    """The start of the window of this size that the timestamp is in; starts are aligned to the offset.

    >>> window_start(12, 0, 5), window_start(-1, 0, 5), window_start(12, 3, 5)
    (10, -5, 8)
    """
    return timestamp - (timestamp - offset) % size


def window_starts(timestamp: int, offset: int, size: int, slide: int) -> range:
    """The starts of the windows of this size, one every slide, that the timestamp is in; the latest first.

    >>> list(window_starts(12, 0, 10, 5)), list(window_starts(12, 0, 2, 5)), list(window_starts(11, 0, 2, 5))
    ([10, 5], [], [10])
    """
    return range(window_start(timestamp, offset, slide), timestamp - size, -slide)


class TimeWindow(Window):
    """A stretch of time: from ``start`` on, up to but without ``end``, in ms."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Whether they overlap or touch, so that sessions merge."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """The smallest window that holds both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """The start of the window that the timestamp is in."""
        return window_start(timestamp, offset, window_size)

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: Callable[[list[TimeWindow], TimeWindow], None]) -> None:
        """Find the windows that overlap or touch, and say of each such group what it becomes."""
        merge = getattr(callback, "merge", callback)
        group: list[TimeWindow] = []
        covered: TimeWindow | None = None
        for window in sorted(windows):
            if covered is not None and covered.intersects(window):
                group.append(window)
                covered = covered.cover(window)
                continue
            if covered is not None and len(group) > 1:
                merge(group, covered)
            group, covered = [window], window
        if covered is not None and len(group) > 1:
            merge(group, covered)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TimeWindow):
            return NotImplemented
        return self.start == other.start and self.end == other.end

    def __lt__(self, other: TimeWindow) -> bool:
        return (self.start, self.end) < (other.start, other.end)

    def __le__(self, other: TimeWindow) -> bool:
        return (self.start, self.end) <= (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class CountWindow(Window):
    """A number of elements; windows are numbered from 0 per key."""

    __slots__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id

    def max_timestamp(self) -> int:
        return MAX_TIMESTAMP

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, CountWindow) else NotImplemented

    def __hash__(self) -> int:
        return hash((CountWindow, self.id))

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The one window that holds everything."""

    __slots__ = ()

    @staticmethod
    def get() -> GlobalWindow:
        """The window: there is one."""
        return _GLOBAL

    def max_timestamp(self) -> int:
        return MAX_TIMESTAMP

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalWindow)

    def __hash__(self) -> int:
        return hash(GlobalWindow)

    def __repr__(self) -> str:
        return "GlobalWindow"


_GLOBAL = GlobalWindow()


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Writes a time window: start and end, 8 bytes each."""

    _FORM = struct.Struct(">qq")

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        stream.write(self._FORM.pack(element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        return TimeWindow(*self._FORM.unpack(stream.read(self._FORM.size)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """Writes a count window: its number, 8 bytes."""

    _FORM = struct.Struct(">q")

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        stream.write(self._FORM.pack(element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        return CountWindow(*self._FORM.unpack(stream.read(self._FORM.size)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Writes the global window: one byte that says nothing."""

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        stream.write(b"\0")

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        stream.read(1)
        return _GLOBAL
