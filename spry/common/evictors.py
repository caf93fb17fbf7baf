"""Evictors: which elements leave a window before or after its function sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Number
from typing import Any, Generic, TypeVar

from spry.common.elements import NO_TIMESTAMP
from spry.common.time import Duration, Time
from spry.common.window import Window

__all__ = ["CountEvictor", "DeltaEvictor", "Evictor", "TimeEvictor", "TimestampedValue"]

T = TypeVar("T")
W = TypeVar("W", bound=Window)


class TimestampedValue(Generic[T]):
    """An element of a window with its timestamp."""

    __slots__ = ("_timestamp", "_value")

    def __init__(self, value: T, timestamp: int = NO_TIMESTAMP) -> None:
        self._value = value
        self._timestamp = timestamp

    def get_value(self) -> T:
        return self._value

    def get_timestamp(self) -> int:
        if self._timestamp == NO_TIMESTAMP:
            raise ValueError(f"the element {self._value!r} has no timestamp")
        return self._timestamp

    def has_timestamp(self) -> bool:
        return self._timestamp != NO_TIMESTAMP

    def __repr__(self) -> str:
        return f"TimestampedValue({self._value!r}, {self._timestamp if self.has_timestamp() else None})"


class Evictor(ABC, Generic[T, W]):
    """Takes elements out of a window. ``elements`` is a list: change it in place, ``del elements[:3]`` for instance."""

    class EvictorContext(ABC):
        """What an evictor may look at."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The machine's clock, in ms."""

        @abstractmethod
        def get_metric_group(self) -> Any:
            """Where metrics are registered."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Event time, in ms."""

    @abstractmethod
    def evict_before(
        self, elements: list[TimestampedValue[T]], size: int, window: W, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Called before the window function: what is taken out it does not see, nor any later one."""

    @abstractmethod
    def evict_after(
        self, elements: list[TimestampedValue[T]], size: int, window: W, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Called after the window function: what is taken out no later one sees."""


class _BuiltInEvictor(Evictor[Any, Any]):
    """Evicts by one rule, either before the window function or after it."""

    def __init__(self, do_evict_after: bool) -> None:
        self.after = do_evict_after

    @abstractmethod
    def _evict(self, elements: list[TimestampedValue[Any]]) -> None: ...

    def evict_before(self, elements: list[TimestampedValue[Any]], size: int, window: Any, evictor_context: Any) -> None:
        if not self.after:
            self._evict(elements)

    def evict_after(self, elements: list[TimestampedValue[Any]], size: int, window: Any, evictor_context: Any) -> None:
        if self.after:
            self._evict(elements)


class CountEvictor(_BuiltInEvictor):
    """Keeps the last so many elements."""

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        if isinstance(max_count, bool) or not isinstance(max_count, int) or max_count < 0:
            raise ValueError(f"CountEvictor needs a number of elements to keep, not {max_count!r}")
        self.max_count = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        """Keep so many."""
        return CountEvictor(max_count, do_evict_after)

    def _evict(self, elements: list[TimestampedValue[Any]]) -> None:
        del elements[: max(0, len(elements) - self.max_count)]

    def __repr__(self) -> str:
        return f"CountEvictor({self.max_count})"


class TimeEvictor(_BuiltInEvictor):
    """Keeps the elements that are not older than the newest by this time or more."""

    def __init__(self, window_size: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        if isinstance(window_size, bool) or not isinstance(window_size, int) or window_size < 0:
            raise ValueError(f"TimeEvictor needs a length of time in ms, not {window_size!r}")
        self.window_size = window_size

    @staticmethod
    def of(window_size: Time | Duration, do_evict_after: bool = False) -> TimeEvictor:
        """Keep what is at most this old."""
        if not isinstance(window_size, Time | Duration):
            raise TypeError(f"TimeEvictor.of needs a Time such as Time.seconds(5), not {window_size!r}")
        return TimeEvictor(window_size.to_milliseconds(), do_evict_after)

    def _evict(self, elements: list[TimestampedValue[Any]]) -> None:
        if not elements or not elements[0].has_timestamp():
            return
        oldest = max(element.get_timestamp() for element in elements) - self.window_size
        elements[:] = [element for element in elements if element.get_timestamp() > oldest]

    def __repr__(self) -> str:
        return f"TimeEvictor({self.window_size})"


class DeltaEvictor(_BuiltInEvictor):
    """Keeps the elements that differ by less than the threshold from the last one."""

    def __init__(
        self, threshold: float, delta_function: Callable[[Any, Any], float], do_evict_after: bool = False
    ) -> None:
        super().__init__(do_evict_after)
        delta = getattr(delta_function, "get_delta", delta_function)
        if not callable(delta):
            raise TypeError(f"DeltaEvictor needs a function of an element and the last one, not {delta_function!r}")
        if not isinstance(threshold, Number):
            raise TypeError(f"DeltaEvictor needs a number as its threshold, not {threshold!r}")
        self.threshold = threshold
        self._delta: Callable[[Any, Any], float] = delta

    @staticmethod
    def of(threshold: float, delta_function: Callable[[Any, Any], float], do_evict_after: bool = False) -> DeltaEvictor:
        """Keep those for which the function of them and the last element gives less than the threshold."""
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _evict(self, elements: list[TimestampedValue[Any]]) -> None:
        if elements:
            last, delta, threshold = elements[-1].get_value(), self._delta, self.threshold
            elements[:] = [element for element in elements if delta(element.get_value(), last) < threshold]

    def __repr__(self) -> str:
        return f"DeltaEvictor({self.threshold})"
