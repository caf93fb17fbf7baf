"""The window operator for any assigner, trigger and evictor: it asks them per element."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP, NO_TIMESTAMP
from spry.common.errors import InvalidProgramError
from spry.common.evictors import Evictor, TimestampedValue
from spry.common.plan import OperatorPlan
from spry.common.state import StateDescriptor
from spry.common.triggers import Trigger, TriggerResult
from spry.common.window_assigners import WindowAssigner
from spry.runtime.blocks import detach
from spry.runtime.checkpoints.context import CONTENTS, StateInitializationContext, StateSnapshotContext
from spry.runtime.context import SubtaskContext
from spry.runtime.failures import OperatorFailure, cut_repr, explain
from spry.runtime.state.backends import uses_rocksdb
from spry.runtime.state.keyed import KeyContext, Table
from spry.runtime.timers import TimerQueue, drain
from spry.runtime.windows.base import MERGING_WINDOWS, WINDOWS, RunningWindowBase
from spry.runtime.windows.fold import create_fold
from spry.runtime.windows.merging_window_set import MergingWindowSet

__all__ = ["RunningGeneralWindowOperator"]


class _AssignerContext(WindowAssigner.WindowAssignerContext):
    def __init__(self, context: SubtaskContext) -> None:
        self._context = context

    def get_current_processing_time(self) -> int:
        return self._context.services.clock()

    def get_runtime_context(self) -> SubtaskContext:
        return self._context


class _TriggerContext(Trigger.OnMergeContext, Evictor.EvictorContext):
    """Time, timers and state for the trigger (and the evictor) of the window at hand."""

    def __init__(self, operator: RunningGeneralWindowOperator) -> None:
        self._operator = operator
        self._current = KeyContext()
        self._states = operator.context.create_keyed_backend(self._current, "trigger", namespaced=True)
        self._merged: list[Any] = []
        self.key: Any = None
        self.window: Any = None

    def at(self, key: Any, window: Any, merged: list[Any] | None = None) -> None:
        """Turn to a window; ``merged`` are those that it was made of."""
        self.key, self.window = key, window
        self._current.key = (key, window)
        self._merged = merged or []

    def get_current_processing_time(self) -> int:
        return self._operator.clock()

    def get_metric_group(self) -> Any:
        return self._operator.context.get_metrics_group()

    def get_current_watermark(self) -> int:
        return self._operator.watermark

    def register_processing_time_timer(self, time: int) -> None:
        self._operator.processing_timers.register(time, (self.key, self.window))

    def register_event_time_timer(self, time: int) -> None:
        self._operator.event_timers.register(time, (self.key, self.window))

    def delete_processing_time_timer(self, time: int) -> None:
        self._operator.processing_timers.delete(time, (self.key, self.window))

    def delete_event_time_timer(self, time: int) -> None:
        self._operator.event_timers.delete(time, (self.key, self.window))

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
        return self._states.state(state_descriptor)

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        self._states.merge(state_descriptor, (self.key, self.window), [(self.key, part) for part in self._merged])


class RunningGeneralWindowOperator(RunningWindowBase):
    """Flink's rules in full: assigner, merging, trigger, evictor, lateness."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        description = self.description
        self._assigner: Any = description.assigner
        self._trigger: Trigger[Any, Any] = description.trigger
        self._evictor: Evictor[Any, Any] | None = description.evictor
        self._evicted_fold = create_fold(description.aggregation, description.row_type)
        self._assigner_context = _AssignerContext(context)
        self._trigger_context = _TriggerContext(self)
        self._on_disk = uses_rocksdb(context.services.job.configuration) and not context.batch
        self._contents: Table = {}
        """(key, state window) -> contents; a state window is the window itself unless windows merge."""
        if self._on_disk:
            self._contents = context.create_keyed_backend(KeyContext(), CONTENTS, namespaced=True).table(WINDOWS)
        self._sets: dict[Any, MergingWindowSet] = {}
        self.event_timers = TimerQueue()
        self.processing_timers = TimerQueue()

    # Checkpoints

    def snapshot_windows(self, context: StateSnapshotContext) -> bool:
        if not self._on_disk:
            context.put_keyed(WINDOWS, self._contents.items, len(self._contents), namespaced=True)
        if self.merging:
            context.put_keyed(
                MERGING_WINDOWS,
                lambda: ((key, known.state_windows()) for key, known in self._sets.items()),
                len(self._sets),
            )
        self.event_timers.snapshot(context, "timers in event time", namespaced=True)
        self.processing_timers.snapshot(context, "timers in processing time", namespaced=True)
        return False

    def restore_windows(self, context: StateInitializationContext, timers_implied: bool) -> None:
        self.event_timers.restore(context, "timers in event time")
        self.processing_timers.restore(context, "timers in processing time")
        for (key, window), contents in context.keyed(WINDOWS):
            self._contents[(key, window)] = contents
            if timers_implied:
                self._imply(key, window)
        for key, state_windows in context.keyed(MERGING_WINDOWS):
            self._sets[key] = MergingWindowSet(self._assigner.merge_windows, state_windows)

    def _imply(self, key: Any, window: Any) -> None:
        """Do for a window what its first element would have done."""
        timers = self.event_timers if self.event_time else self.processing_timers
        if not self.has_fired(window):
            timers.register(window.max_timestamp(), (key, window))
        cleanup = self.cleanup_time(window)
        if cleanup != MAX_WATERMARK:
            timers.register(cleanup, (key, window))
        if self.merging:
            known = self._sets.setdefault(key, MergingWindowSet(self._assigner.merge_windows))
            known.state_windows()[window] = window

    # Elements

    def process_batch(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        value: Any = None
        try:
            for value, stamp in zip(values, repeat(NO_TIMESTAMP) if timestamps is None else timestamps, strict=False):
                if stamp == NO_TIMESTAMP and self.event_time:
                    raise self.missing_timestamp(value)
                self._process(value, stamp)
        except OperatorFailure:
            raise
        except BaseException as error:
            raise explain(error, None, [self], 0, cut_repr(value)) from None
        self.flush()

    def _process(self, value: Any, stamp: int) -> None:
        key = self.select(value)
        self.context.key_context.key = key
        windows = list(self._assigner.assign_windows(value, stamp, self._assigner_context))
        taken = False
        for window in windows:
            if self.merging:
                window = self._merge(key, window)
            if self._is_late(window):
                if self.merging:
                    self._retire(key, window)
                continue
            taken = True
            # Each window has contents of its own, so several must not share the element.
            self._add(key, window, value if len(windows) == 1 else detach(value), stamp)
        if not taken and self.event_time and stamp + self.lateness <= self.watermark:
            self.drop_late(value, stamp)

    def _is_late(self, window: Any) -> bool:
        return self.event_time and self.cleanup_time(window) <= self.watermark

    def _add(self, key: Any, window: Any, value: Any, stamp: int) -> None:
        place = self._place(key, window)
        element = value if self._evictor is None else TimestampedValue(value, stamp)
        contents = self._contents
        contents[place] = self.fold.add(contents[place], element) if place in contents else self.fold.first(element)
        self._trigger_context.at(key, window)
        self._act(key, window, self._trigger.on_element(value, stamp, window, self._trigger_context))
        cleanup = self.cleanup_time(window)
        if cleanup != MAX_WATERMARK:
            timers = self.event_timers if self.event_time else self.processing_timers
            timers.register(cleanup, (key, window))

    def _place(self, key: Any, window: Any) -> tuple[Any, Any]:
        return (key, self._sets[key].state_window(window)) if self.merging else (key, window)

    # Merging

    def _merge(self, key: Any, window: Any) -> Any:
        known = self._sets.get(key)
        if known is None:
            known = self._sets[key] = MergingWindowSet(self._assigner.merge_windows)

        def on_merge(result: Any, parts: list[Any], state_window: Any, state_windows: list[Any]) -> None:
            if self._is_late(result) if self.event_time else result.max_timestamp() <= self.clock():
                raise InvalidProgramError(
                    f"the merged window {result!r} is over already: "
                    f"{type(self._assigner).__name__}.merge_windows must not make windows end earlier"
                )
            self._trigger_context.at(key, result, parts)
            self._trigger.on_merge(result, self._trigger_context)
            for part in parts:
                self._trigger_context.at(key, part)
                self._trigger.clear(part, self._trigger_context)
                timers = self.event_timers if self.event_time else self.processing_timers
                timers.delete(self.cleanup_time(part), (key, part))
            contents = self._contents
            target = (key, state_window)
            for source in state_windows:
                if (key, source) in contents:
                    moved = contents.pop((key, source))
                    contents[target] = self.fold.merge(contents[target], moved) if target in contents else moved

        return known.add(window, on_merge)

    def _retire(self, key: Any, window: Any) -> None:
        known = self._sets.get(key)
        if known is not None:
            known.retire(window)
            if not len(known):
                del self._sets[key]

    # Firing

    def _act(self, key: Any, window: Any, result: TriggerResult) -> None:
        """Do what the trigger says."""
        if result is TriggerResult.CONTINUE:
            return
        if not isinstance(result, TriggerResult):
            raise TypeError(f"{self._trigger!r} must return a TriggerResult, not {result!r}")
        place = self._place(key, window)
        if result.is_fire() and place in self._contents:
            if self._evictor is None:
                # If the contents stay, what goes out must not change with them.
                contents = self._contents
                self.fire(key, window, contents.pop(place) if result.is_purge() else self.fold.copy(contents[place]))
            else:
                self._fire_evicting(key, window, place)
        if result.is_purge():
            self._contents.pop(place, None)

    def _fire_evicting(self, key: Any, window: Any, place: tuple[Any, Any]) -> None:
        evictor, kept = self._evictor, self._contents[place]
        assert evictor is not None
        self._trigger_context.at(key, window)
        evictor.evict_before(kept, len(kept), window, self._trigger_context)
        elements = [element.get_value() for element in kept]
        if self.description.aggregation is None:
            self.call_function(key, window, elements)
        elif elements:
            self._fire_folded(key, window, elements)
        evictor.evict_after(kept, len(kept), window, self._trigger_context)
        if kept:
            self._contents[place] = kept  # It has been changed in place.
        else:
            del self._contents[place]

    def _fire_folded(self, key: Any, window: Any, elements: list[Any]) -> None:
        fold = self._evicted_fold
        contents = fold.first(detach(elements[0]))
        for element in elements[1:]:
            contents = fold.add(contents, detach(element))
        result = fold.result(contents)
        if self.description.function is None:
            self.keep_result(result, window.max_timestamp())
        else:
            self.call_function(key, window, [result])

    # Time

    def on_event_time(self, timestamp: int) -> None:
        for time, (key, window) in self.event_timers.due(timestamp):
            self._on_timer(time, key, window, self._trigger.on_event_time, self.event_time)

    def on_processing_time(self, now: int) -> None:
        for time, (key, window) in self.processing_timers.due(now):
            self._on_timer(time, key, window, self._trigger.on_processing_time, not self.event_time)
        self.flush()

    def next_timer(self) -> int | None:
        return self.processing_timers.next_time()

    def end_of_key(self) -> None:
        self.watermark = MAX_WATERMARK
        for queue, time, (key, window) in drain(self.event_timers, self.processing_timers):
            if queue is self.event_timers:
                self._on_timer(time, key, window, self._trigger.on_event_time, self.event_time)
            else:
                self._on_timer(time, key, window, self._trigger.on_processing_time, not self.event_time)
        self.flush()
        self.watermark = MIN_TIMESTAMP

    def _on_timer(self, time: int, key: Any, window: Any, call: Any, cleaning: bool) -> None:
        if self.merging and (key not in self._sets or self._sets[key].state_window(window) is None):
            return  # The window has merged into another since.
        self.context.key_context.key = key
        self._trigger_context.at(key, window)
        try:
            self._act(key, window, call(time, window, self._trigger_context))
            if cleaning and time == self.cleanup_time(window):
                self._clear(key, window)
        except OperatorFailure:
            raise
        except BaseException as error:
            raise self.failure(error, key, window) from None

    def _clear(self, key: Any, window: Any) -> None:
        """The window is over for good."""
        self._contents.pop(self._place(key, window), None)
        self._trigger_context.at(key, window)
        self._trigger.clear(window, self._trigger_context)
        self.forget(key, window)
        if self.merging:
            self._retire(key, window)
