"""Triggers: when a window gives its result, and when it forgets its elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from numbers import Number
from typing import Any, Generic, TypeVar

from spry.common.state import ReducingStateDescriptor, StateDescriptor, ValueStateDescriptor
from spry.common.time import Duration, Time
from spry.common.window import MAX_TIMESTAMP, Window

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountTrigger",
    "DeltaTrigger",
    "EventTimeTrigger",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "Trigger",
    "TriggerResult",
]

T = TypeVar("T")
W = TypeVar("W", bound=Window)


class TriggerResult(Enum):
    """What is to happen with a window: (give its result, forget its elements)."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """Whether the window gives its result."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Whether the window forgets its elements."""
        return self.value[1]


class Trigger(ABC, Generic[T, W]):
    """Decides when a window fires. Derive from it for triggers of one's own.

    What a trigger remembers it keeps in partitioned state, which belongs to one window of one key; the object itself is
    shared by all windows of a subtask.
    """

    class TriggerContext(ABC):
        """Time, timers and state of the window at hand."""

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
        def register_processing_time_timer(self, time: int) -> None:
            """Call ``on_processing_time`` for this window when the clock shows the time."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Call ``on_event_time`` for this window when the watermark passes the time."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None: ...

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None: ...

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
            """State of this window of this key."""

    class OnMergeContext(TriggerContext):
        """The same, of the window that others have become."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Merge the state that the windows before had into that of this one."""

    @abstractmethod
    def on_element(self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called for every element that is added to the window."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called when a timer by the clock fires that this trigger set for the window."""

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called when an event-time timer fires that this trigger set for the window."""

    def can_merge(self) -> bool:
        """Whether it can be used for windows that merge; then ``on_merge`` must be there."""
        return False

    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Called when windows have merged into this one: merge their state, set timers anew."""
        raise TypeError(f"{type(self).__name__} has no on_merge(window, ctx), which windows that merge need")

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Called when the window ends: delete timers, clear state."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _BuiltInTrigger(Trigger[Any, Any]):
    """Does nothing when a time comes, unless it says otherwise."""

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE


class EventTimeTrigger(_BuiltInTrigger):
    """Fires when the watermark passes the end of the window; for late elements at once."""

    @staticmethod
    def create() -> EventTimeTrigger:
        """The trigger."""
        return EventTimeTrigger()

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())


class ProcessingTimeTrigger(_BuiltInTrigger):
    """Fires when the clock passes the end of the window."""

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """The trigger."""
        return ProcessingTimeTrigger()

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(window.max_timestamp())


def _interval(owner: str, interval: Any) -> int:
    millis = interval.to_milliseconds() if isinstance(interval, Time | Duration) else interval
    if isinstance(millis, bool) or not isinstance(millis, int):
        raise TypeError(f"{owner}: the interval must be a Time such as Time.seconds(5), not {interval!r}")
    if millis <= 0:
        raise ValueError(f"{owner}: the interval must be positive, not {millis} ms")
    return millis


class _ContinuousTrigger(_BuiltInTrigger):
    """Fires at every multiple of the interval; remembers per window when it does so next."""

    def __init__(self, interval: int) -> None:
        self.interval = _interval(type(self).__name__, interval)
        self._next = ReducingStateDescriptor("fire-time", min)

    def _schedule(
        self, last: int, now: int, window: Any, ctx: Trigger.TriggerContext, register: Callable[[int], None]
    ) -> None:
        """Set the timer for the next multiple of the interval, or for the window's end if that comes first.

        The end of a window in event time may lie in the past of the clock: then it does not come any more.
        """
        due, end = last + self.interval, window.max_timestamp()
        if now <= end:
            due = min(due, end)
        ctx.get_partitioned_state(self._next).add(due)
        register(due)

    def _start(self, now: int, window: Any, ctx: Trigger.TriggerContext, register: Callable[[int], None]) -> None:
        if ctx.get_partitioned_state(self._next).get() is None:
            self._schedule(now - now % self.interval, now, window, ctx, register)

    def _is_due(self, time: int, ctx: Trigger.TriggerContext) -> bool:
        state = ctx.get_partitioned_state(self._next)
        if state.get() != time:
            return False
        state.clear()
        return True

    def _merge(self, ctx: Trigger.OnMergeContext, register: Callable[[int], None]) -> None:
        ctx.merge_partitioned_state(self._next)
        due = ctx.get_partitioned_state(self._next).get()
        if due is not None:
            register(due)

    def _clear(self, ctx: Trigger.TriggerContext, delete: Callable[[int], None]) -> None:
        state = ctx.get_partitioned_state(self._next)
        due = state.get()
        if due is not None:
            delete(due)
            state.clear()

    def can_merge(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.interval})"


class ContinuousEventTimeTrigger(_ContinuousTrigger):
    """Fires at every multiple of the interval in event time, and at the window's end."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousEventTimeTrigger:
        """Fire at every multiple of this."""
        return ContinuousEventTimeTrigger(_interval("ContinuousEventTimeTrigger.of", interval))

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        self._start(timestamp, window, ctx, ctx.register_event_time_timer)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        if time == window.max_timestamp():
            return TriggerResult.FIRE
        if not self._is_due(time, ctx):
            return TriggerResult.CONTINUE
        # At the end of the input a window that never ends has given its last result.
        if not ctx.get_current_watermark() == MAX_TIMESTAMP == window.max_timestamp():
            self._schedule(time, time + 1, window, ctx, ctx.register_event_time_timer)
        return TriggerResult.FIRE

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        self._merge(ctx, ctx.register_event_time_timer)

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        self._clear(ctx, ctx.delete_event_time_timer)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger):
    """Fires at every multiple of the interval by the clock, as long as the window lasts."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousProcessingTimeTrigger:
        """Fire at every multiple of this."""
        return ContinuousProcessingTimeTrigger(_interval("ContinuousProcessingTimeTrigger.of", interval))

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        self._start(ctx.get_current_processing_time(), window, ctx, ctx.register_processing_time_timer)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        if not self._is_due(time, ctx):
            return TriggerResult.CONTINUE
        self._schedule(time, time + 1, window, ctx, ctx.register_processing_time_timer)
        return TriggerResult.FIRE

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        self._merge(ctx, ctx.register_processing_time_timer)

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        self._clear(ctx, ctx.delete_processing_time_timer)


class CountTrigger(_BuiltInTrigger):
    """Fires at every so many elements of a window."""

    def __init__(self, window_size: int) -> None:
        if isinstance(window_size, bool) or not isinstance(window_size, int) or window_size < 1:
            raise ValueError(f"CountTrigger needs a positive number of elements, not {window_size!r}")
        self.count = window_size
        self._seen = ReducingStateDescriptor("count", _add)

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Fire at every so many elements."""
        return CountTrigger(window_size)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        seen = ctx.get_partitioned_state(self._seen)
        seen.add(1)
        if seen.get() < self.count:
            return TriggerResult.CONTINUE
        seen.clear()
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        ctx.merge_partitioned_state(self._seen)

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self._seen).clear()

    def __repr__(self) -> str:
        return f"CountTrigger({self.count})"


def _add(a: int, b: int) -> int:
    return a + b


class DeltaTrigger(_BuiltInTrigger):
    """Fires when an element differs by more than the threshold from the one that it fired at last.

    >>> DeltaTrigger.of(10, lambda old, new: new["km"] - old["km"])
    DeltaTrigger(10)
    """

    def __init__(self, threshold: float, delta_function: Callable[[Any, Any], float]) -> None:
        delta = getattr(delta_function, "get_delta", delta_function)
        if not callable(delta):
            raise TypeError(f"DeltaTrigger needs a function of the old and the new element, not {delta_function!r}")
        if not isinstance(threshold, Number):
            raise TypeError(f"DeltaTrigger needs a number as its threshold, not {threshold!r}")
        self.threshold = threshold
        self._delta: Callable[[Any, Any], float] = delta
        self._last = ValueStateDescriptor("last-element")

    @staticmethod
    def of(threshold: float, delta_function: Callable[[Any, Any], float], type_info: Any = None) -> DeltaTrigger:
        """Fire when the function of the last and the new element gives more than the threshold."""
        return DeltaTrigger(threshold, delta_function)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        last = ctx.get_partitioned_state(self._last)
        known = last.value()
        if known is None:
            last.update(element)
        elif self._delta(known, element) > self.threshold:
            last.update(element)
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self._last).clear()

    def __repr__(self) -> str:
        return f"DeltaTrigger({self.threshold})"


class NeverTrigger(_BuiltInTrigger):
    """Never fires: the default of global windows."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        return None

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        return None


class PurgingTrigger(Trigger[T, W]):
    """Fires when another trigger does; the window then forgets its elements.

    >>> PurgingTrigger.of(CountTrigger.of(3))
    PurgingTrigger(CountTrigger(3))
    """

    def __init__(self, nested_trigger: Trigger[T, W]) -> None:
        if not isinstance(nested_trigger, Trigger):
            raise TypeError(f"PurgingTrigger needs a Trigger, not {nested_trigger!r}")
        self.nested = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[T, W]) -> PurgingTrigger[T, W]:
        """Let the window forget its elements when this trigger fires."""
        return PurgingTrigger(nested_trigger)

    @staticmethod
    def _purge(result: TriggerResult) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result

    def on_element(self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return self._purge(self.nested.on_element(element, timestamp, window, ctx))

    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return self._purge(self.nested.on_event_time(time, window, ctx))

    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return self._purge(self.nested.on_processing_time(time, window, ctx))

    def can_merge(self) -> bool:
        return self.nested.can_merge()

    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        self.nested.on_merge(window, ctx)

    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        self.nested.clear(window, ctx)

    def __repr__(self) -> str:
        return f"PurgingTrigger({self.nested!r})"
