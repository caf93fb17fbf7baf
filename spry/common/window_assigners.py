"""Window assigners: which windows an element belongs to.

The built-in ones are plain data, so that the runtime can choose a faster way for them than to ask per element.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from enum import Enum
from typing import Any, Generic, Self, TypeVar

from spry.common.serializer import TypeSerializer
from spry.common.state import ValueStateDescriptor
from spry.common.time import Duration, Time
from spry.common.triggers import (
    CountTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
)
from spry.common.window import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
    Window,
    window_start,
    window_starts,
)

__all__ = [
    "CountSlidingWindowAssigner",
    "CountTumblingWindowAssigner",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "GlobalWindows",
    "MergingWindowAssigner",
    "ProcessingTimeSessionWindows",
    "SessionWindowTimeGapExtractor",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "WindowAssigner",
    "WindowStagger",
]

T = TypeVar("T")
W = TypeVar("W", bound=Window)
W2 = TypeVar("W2", bound=Window)


def _millis(owner: str, name: str, length: Any) -> int:
    if isinstance(length, Time | Duration):
        return length.to_milliseconds()
    raise TypeError(f"{owner}: {name} must be a Time such as Time.seconds(5) (or a Duration), not {length!r}")


def _millis_or_0(owner: str, name: str, length: Any) -> int:
    return 0 if length is None else _millis(owner, name, length)


def _positive(owner: str, name: str, millis: Any) -> int:
    if isinstance(millis, bool) or not isinstance(millis, int):
        raise TypeError(f"{owner}: {name} must be a number of ms, not {millis!r}")
    if millis <= 0:
        raise ValueError(f"{owner}: {name} must be positive, not {millis} ms")
    return millis


def _offset(owner: str, offset: Any, period: int) -> int:
    millis = offset if isinstance(offset, int) else _millis(owner, "offset", offset)
    if abs(millis) >= period:
        raise ValueError(f"{owner}: the offset must be shorter than the period of {period} ms, not {millis} ms")
    return millis


class WindowAssigner(ABC, Generic[T, W]):
    """Says which windows an element belongs to. Derive from it for windows of one's own."""

    class WindowAssignerContext(ABC):
        """What an assigner may look at."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The machine's clock, in ms."""

        @abstractmethod
        def get_runtime_context(self) -> Any:
            """The runtime context: state of the current key, metrics ..."""

    @abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """The windows of this element. Called once per element."""

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T, W]:
        """The trigger of these windows where the program names none."""

    def get_window_serializer(self) -> TypeSerializer[W] | None:
        """How windows are written in snapshots; by pickling where nothing is said."""
        return None

    @abstractmethod
    def is_event_time(self) -> bool:
        """Whether windows end by event time (and elements can be late) or by the clock."""


class MergingWindowAssigner(WindowAssigner[T, W]):
    """An assigner whose windows merge, as sessions do."""

    class MergeCallback(ABC, Generic[W2]):
        """Is told which windows merge."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """These windows become that one."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]) -> None:
        """Say which of a key's windows merge, and into what."""


class WindowStagger(Enum):
    """Where the windows of different subtasks begin, so that they do not all fire in the same moment."""

    ALIGNED = "aligned"
    """All at the same time."""
    RANDOM = "random"
    """Each subtask at a random distance."""
    NATURAL = "natural"
    """Each subtask at the distance that its first element arrived at."""

    def offset(self, now: int, size: int) -> int:
        """The distance of a subtask whose first element comes now."""
        if self is WindowStagger.RANDOM:
            return int(random.random() * size)
        return max(0, now - window_start(now, 0, size)) if self is WindowStagger.NATURAL else 0


# By which time windows go


class _InEventTime(WindowAssigner[Any, TimeWindow]):
    """Windows that go by the elements' timestamps."""

    def get_default_trigger(self, env: Any) -> Trigger[Any, TimeWindow]:
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        return True

    @staticmethod
    def _time(timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        return timestamp


class _ByTheClock(WindowAssigner[Any, TimeWindow]):
    """Windows that go by the machine's clock."""

    def get_default_trigger(self, env: Any) -> Trigger[Any, TimeWindow]:
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        return False

    @staticmethod
    def _time(timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        return context.get_current_processing_time()


class _TimeWindows(WindowAssigner[Any, TimeWindow]):
    """Windows that are stretches of time, by one time or the other."""

    _time: Callable[[int, Any], int]

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        return TimeWindowSerializer()


# Tumbling and sliding windows


class _TumblingWindows(_TimeWindows):
    def __init__(self, size: int, offset: int = 0, window_stagger: WindowStagger = WindowStagger.ALIGNED) -> None:
        owner = type(self).__name__
        self.size = _positive(owner, "size", size)
        self.offset = _offset(owner, offset, size)
        if not isinstance(window_stagger, WindowStagger):
            raise TypeError(f"{owner}: the stagger must be a WindowStagger, not {window_stagger!r}")
        self.stagger = window_stagger
        self._stagger_offset: int | None = None

    @classmethod
    def of(
        cls,
        size: Time | Duration,
        offset: Time | Duration | None = None,
        window_stagger: WindowStagger = WindowStagger.ALIGNED,
    ) -> Self:
        """Windows of this size.

        :param offset: Where they start: ``Time.hours(-8)`` makes days begin at midnight in UTC+8.
        :param window_stagger: Whether the windows of different subtasks start at different times.
        """
        owner = f"{cls.__name__}.of"
        return cls(_millis(owner, "size", size), _millis_or_0(owner, "offset", offset), window_stagger)

    def assign_windows(
        self, element: Any, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        if self._stagger_offset is None:
            self._stagger_offset = self.stagger.offset(context.get_current_processing_time(), self.size)
        offset = (self.offset + self._stagger_offset) % self.size
        start = window_start(self._time(timestamp, context), offset, self.size)
        return [TimeWindow(start, start + self.size)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size}, {self.offset})"


class TumblingEventTimeWindows(_TumblingWindows, _InEventTime):
    """Windows of equal size side by side, in event time.

    >>> TumblingEventTimeWindows.of(Time.seconds(10))
    TumblingEventTimeWindows(10000, 0)
    """


class TumblingProcessingTimeWindows(_TumblingWindows, _ByTheClock):
    """Windows of equal size side by side, by the machine's clock."""


class _SlidingWindows(_TimeWindows):
    def __init__(self, size: int, slide: int, offset: int = 0) -> None:
        owner = type(self).__name__
        self.size = _positive(owner, "size", size)
        self.slide = _positive(owner, "slide", slide)
        self.offset = _offset(owner, offset, slide)

    @classmethod
    def of(cls, size: Time | Duration, slide: Time | Duration, offset: Time | Duration | None = None) -> Self:
        """Windows of this size that begin every slide."""
        owner = f"{cls.__name__}.of"
        return cls(_millis(owner, "size", size), _millis(owner, "slide", slide), _millis_or_0(owner, "offset", offset))

    def assign_windows(
        self, element: Any, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        starts = window_starts(self._time(timestamp, context), self.offset, self.size, self.slide)
        return [TimeWindow(start, start + self.size) for start in starts]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size}, {self.slide}, {self.offset})"


class SlidingEventTimeWindows(_SlidingWindows, _InEventTime):
    """Windows of equal size, one per slide, in event time: an element is in several if the slide is shorter."""


class SlidingProcessingTimeWindows(_SlidingWindows, _ByTheClock):
    """Windows of equal size, one per slide, by the machine's clock."""


# Sessions


class SessionWindowTimeGapExtractor(ABC):
    """Says per element how long a pause ends its session."""

    @abstractmethod
    def extract(self, element: Any) -> int:
        """The gap in ms, more than 0."""


Gaps = SessionWindowTimeGapExtractor | Callable[[Any], int]
"""What says the gap of an element."""


class _SessionWindows(_TimeWindows, MergingWindowAssigner[Any, TimeWindow]):
    """Each element is a window as long as the gap; windows that overlap or touch merge."""

    @abstractmethod
    def gap_of(self, element: Any) -> int:
        """The gap after an element."""

    def assign_windows(
        self, element: Any, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        start = self._time(timestamp, context)
        return [TimeWindow(start, start + self.gap_of(element))]

    def merge_windows(self, windows: Iterable[TimeWindow], callback: Any) -> None:
        TimeWindow.merge_windows(windows, callback)


class _FixedGap(_SessionWindows):
    def __init__(self, session_gap: int) -> None:
        self.gap = _positive(type(self).__name__, "gap", session_gap)

    @classmethod
    def with_gap(cls, size: Time | Duration) -> Self:
        """Sessions that end after a pause of this length."""
        return cls(_millis(f"{cls.__name__}.with_gap", "the gap", size))

    def gap_of(self, element: Any) -> int:
        return self.gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.gap})"


class _DynamicGap(_SessionWindows):
    def __init__(self, session_window_time_gap_extractor: Gaps) -> None:
        extractor = session_window_time_gap_extractor
        extract = getattr(extractor, "extract", extractor)
        if isinstance(extractor, type) or not callable(extract):
            raise TypeError(
                f"{type(self).__name__} takes a SessionWindowTimeGapExtractor or a function of the element, "
                f"not {extractor!r}"
            )
        self.extract: Callable[[Any], int] = extract

    @classmethod
    def with_dynamic_gap(cls, extractor: Gaps) -> Self:
        """Sessions whose elements say how long a pause ends them."""
        return cls(extractor)

    def gap_of(self, element: Any) -> int:
        gap = self.extract(element)
        if isinstance(gap, bool) or not isinstance(gap, int):
            raise TypeError(f"the session gap must be a number of ms, not {gap!r}")
        if gap <= 0:
            raise ValueError(f"the session gap must be positive, not {gap} ms")
        return gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class DynamicEventTimeSessionWindows(_DynamicGap, _InEventTime):
    """Sessions in event time whose gap each element says."""


class DynamicProcessingTimeSessionWindows(_DynamicGap, _ByTheClock):
    """Sessions by the machine's clock whose gap each element says."""


class EventTimeSessionWindows(_FixedGap, _InEventTime):
    """Sessions in event time: a session ends when nothing has come for as long as the gap."""

    @staticmethod
    def with_dynamic_gap(extractor: Gaps) -> DynamicEventTimeSessionWindows:
        """Sessions whose elements say how long a pause ends them."""
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_FixedGap, _ByTheClock):
    """Sessions by the machine's clock."""

    @staticmethod
    def with_dynamic_gap(extractor: Gaps) -> DynamicProcessingTimeSessionWindows:
        """Sessions whose elements say how long a pause ends them."""
        return DynamicProcessingTimeSessionWindows(extractor)


# Everything, and by count


class GlobalWindows(WindowAssigner[Any, GlobalWindow]):
    """All elements of a key in one window. It never ends, so a trigger has to say when it fires."""

    @staticmethod
    def create() -> GlobalWindows:
        """The assigner."""
        return GlobalWindows()

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[GlobalWindow]:
        return (GlobalWindow.get(),)

    def get_default_trigger(self, env: Any) -> Trigger[Any, GlobalWindow]:
        return NeverTrigger()

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"


class _CountWindows(WindowAssigner[Any, CountWindow]):
    """Numbers a key's elements, and makes windows of them by their numbers."""

    size: int

    def __init__(self) -> None:
        self._counts: Any = None

    def _next(self, context: WindowAssigner.WindowAssignerContext) -> int:
        if self._counts is None:
            self._counts = context.get_runtime_context().get_state(ValueStateDescriptor("_count-window-elements"))
        number: int = self._counts.value() or 0
        self._counts.update(number + 1)
        return number

    def get_default_trigger(self, env: Any) -> Trigger[Any, CountWindow]:
        # Nothing follows in a window that is full, and nothing else ends it: it need not keep its elements.
        return PurgingTrigger(CountTrigger(self.size))

    def get_window_serializer(self) -> TypeSerializer[CountWindow]:
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        return False


class CountTumblingWindowAssigner(_CountWindows):
    """Windows of so many elements of a key each."""

    def __init__(self, window_size: int) -> None:
        super().__init__()
        self.size = _count(type(self).__name__, "size", window_size)

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        """Windows of so many elements."""
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(
        self, element: Any, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        return [CountWindow(self._next(context) // self.size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self.size})"


class CountSlidingWindowAssigner(_CountWindows):
    """Windows of so many elements of a key each; one begins at every so many."""

    def __init__(self, window_size: int, window_slide: int) -> None:
        super().__init__()
        self.size = _count(type(self).__name__, "size", window_size)
        self.slide = _count(type(self).__name__, "slide", window_slide)

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        """Windows of so many elements, the next of which begins after so many."""
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(
        self, element: Any, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        number = self._next(context)
        last = number // self.slide
        first = max(0, (number - self.size) // self.slide + 1)
        return [CountWindow(window) for window in range(last, first - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self.size}, {self.slide})"


def _count(owner: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{owner}: {name} must be a positive number of elements, not {value!r}")
    return value
