"""What all window operators share: the window function and its context, late elements, and how results go out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from spry.common.context import KeyedStateStore
from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP, NO_TIMESTAMP
from spry.common.errors import InvalidProgramError, StateMigrationError
from spry.common.operators import WindowOperator
from spry.common.optional_methods import has_method
from spry.common.output_tag import OutputTag
from spry.common.plan import OperatorPlan
from spry.common.type_checks import compile_enforcer
from spry.common.window_assigners import MergingWindowAssigner
from spry.runtime.blocks import detach
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.context import SubtaskContext
from spry.runtime.failures import OperatorFailure, cut_repr, explain
from spry.runtime.operators import checkpointed
from spry.runtime.operators.base import Operator, user_method
from spry.runtime.state.keyed import KeyContext, StateStore
from spry.runtime.windows.fold import create_fold

__all__ = ["MERGING_WINDOWS", "PANES", "WINDOWS", "RunningWindowBase"]

WINDOWS = "windows"
"""In checkpoints: (key, window) -> contents."""
PANES = "panes"
"""In checkpoints: (key, start) -> contents, of windows that are made of panes."""
MERGING_WINDOWS = "merging windows"
"""In checkpoints: key -> window -> the window that its contents are kept under. Without an entry, the window itself."""
_IMPLIED = "timers are implied"
"""In checkpoints: whether every window fires when it ends, so that no timers are noted."""


class _WindowContext:
    """The context of a ProcessWindowFunction and of a ProcessAllWindowFunction."""

    def __init__(self, operator: RunningWindowBase, context: SubtaskContext, merging: bool) -> None:
        self._operator = operator
        self._clock = context.services.clock
        self._global = context
        self.current = KeyContext()
        self.states = context.create_keyed_backend(self.current, "window", namespaced=True)
        self._of_window = None if merging else StateStore(self.states)
        self.at: Any = None

    def window(self) -> Any:
        """The window at hand."""
        return self.at

    def current_processing_time(self) -> int:
        """The machine's clock, in ms."""
        return self._clock()

    def current_watermark(self) -> int:
        """Event time, in ms."""
        return self._operator.watermark

    def window_state(self) -> KeyedStateStore:
        """State of this window of this key; clear it in the function's ``clear``."""
        if self._of_window is None:
            raise InvalidProgramError(
                f"operator '{self._operator.plan.name}': windows that merge have no state of their own, "
                "because it could not be merged; use global_state()"
            )
        return self._of_window

    def global_state(self) -> KeyedStateStore:
        """State of the key, shared by all of its windows."""
        return self._global

    def output(self, tag: OutputTag, value: Any) -> None:
        """Emit to a side output."""
        stamp = self.at.max_timestamp()
        self._operator.output.emit_side(tag.tag_id, [detach(value)], [stamp])


class RunningWindowBase(Operator):
    """Takes elements in, and gives a result per window."""

    takes_batches = True
    other_form = PANES
    """What in a checkpoint says that it cannot go on from there."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        given = plan.description
        assert isinstance(given, WindowOperator)
        assert context.key is not None
        self.description = description = context.services.own(
            given, given.aggregation, given.function, given.assigner, given.trigger, given.evictor
        )
        self.select: Callable[[Any], Any] = context.key.call
        self.detach: Callable[[Any], Any] = _itself if context.services.job.object_reuse else detach
        self.fold = create_fold(
            None if description.evictor is not None else description.aggregation, description.row_type
        )
        self.watermark = MIN_TIMESTAMP
        self.clock = context.services.clock
        self.event_time: bool = description.assigner.is_event_time()
        self.lateness = description.allowed_lateness
        self.merging = isinstance(description.assigner, MergingWindowAssigner)
        self.window_context = _WindowContext(self, context, self.merging)
        self._function = description.function
        self._call = self._window_call()
        self._forget: Callable[[Any], Any] | None = (
            self._function.clear if has_method(self._function, "clear") else None
        )
        self._enforce = compile_enforcer(plan.type_info) if plan.type_info is not None else None
        self._values: list[Any] = []
        self._stamps: list[int] = []
        self._dropped = context.get_metrics_group().counter("numLateRecordsDropped")

    def _window_call(self) -> Callable[[Any, Any, Any], Any] | None:
        """(key, window, elements) -> results: the window function, whatever its kind; None if there is none."""
        function, context = self._function, self.window_context
        if function is None:
            return None
        if hasattr(function, "process"):
            process = function.process
            if self.description.keyed:
                return lambda key, window, elements: process(key, context, elements)
            return lambda key, window, elements: process(context, elements)
        apply = user_method(function, "apply")
        if self.description.keyed:
            return apply
        return lambda key, window, elements: apply(window, elements)

    # Life

    def _parts(self) -> Iterable[Any]:
        """The user's objects that have a life."""
        description = self.description
        return [f for f in (description.aggregation, description.function) if f is not None]

    def initialize_state(self, context: StateInitializationContext) -> None:
        if context.keyed(self.other_form):
            raise StateMigrationError(
                f"operator '{self.plan.name}' keeps its windows in another form now than in the checkpoint, because "
                "their size, slide, aggregation or function has changed: give it another uid, or change it back"
            )
        if context.watermark is not None:
            self.watermark = context.watermark
        self.restore_windows(context, any(context.union_list_state(_IMPLIED)))
        for part in self._parts():
            checkpointed.initialize_function(part, context, self.context)

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        context.put_union_list_state(_IMPLIED, [self.snapshot_windows(context)])
        for part in self._parts():
            checkpointed.snapshot_function(part, context, self.context)

    @abstractmethod
    def restore_windows(self, context: StateInitializationContext, timers_implied: bool) -> None:
        """Go on with the windows of a checkpoint."""

    @abstractmethod
    def snapshot_windows(self, context: StateSnapshotContext) -> bool:
        """Put the windows into a checkpoint; whether each just fires when it ends, so that there are no timers."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        for part in self._parts():
            checkpointed.notify_complete(part, checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        for part in self._parts():
            checkpointed.notify_aborted(part, checkpoint_id)

    def has_fired(self, window: Any) -> bool:
        """Whether event time has passed the window's end."""
        return self.event_time and window.max_timestamp() <= self.watermark

    def open(self) -> None:
        for part in self._parts():
            opener = getattr(part, "open", None)
            if opener is not None:
                opener(self.context)

    def close(self) -> None:
        with ExitStack() as closing:  # Each is closed, even if another one fails to.
            for part in self._parts():
                closer = getattr(part, "close", None)
                if closer is not None:
                    closing.callback(closer)

    # Late elements

    def cleanup_time(self, window: Any) -> int:
        """When a window is forgotten."""
        end: int = window.max_timestamp()
        return min(end + self.lateness, MAX_WATERMARK) if self.event_time else end

    def drop_late(self, value: Any, stamp: int) -> None:
        """All of the element's windows are over: it goes to the side output for late data, or is counted."""
        if self.description.late_tag is not None:
            self.output.emit_side(self.description.late_tag, [value], None if stamp == NO_TIMESTAMP else [stamp])
        else:
            self._dropped.inc()

    # Results

    def fire(self, key: Any, window: Any, contents: Any) -> None:
        """A window gives its result."""
        elements = contents
        if self.description.aggregation is not None:
            try:
                result = self.fold.result(contents)
            except BaseException as error:
                raise self.failure(error, key, window) from None
            if self._call is None:
                self.keep_result(result, window.max_timestamp())
                return
            elements = [result]
        self.call_function(key, window, elements)

    def call_function(self, key: Any, window: Any, elements: Any) -> None:
        """Call the window function and keep its results until they are passed on."""
        assert self._call is not None
        self._at(key, window)
        stamp = window.max_timestamp()
        try:
            results = self._call(key, window, elements)
            if results is None:
                return
            for result in results:
                if result.__class__ is tuple and result and result[0].__class__ is OutputTag:
                    tag, value = result
                    self.output.emit_side(tag.tag_id, [detach(value)], [stamp])
                else:
                    self.keep_result(result, stamp)
        except OperatorFailure:
            raise
        except BaseException as error:
            raise self.failure(error, key, window) from None

    def keep_result(self, result: Any, stamp: int) -> None:
        """A result waits to be passed on; whoever gave it may change what they gave."""
        self._values.append(self.detach(result))
        self._stamps.append(stamp)

    def failure(self, error: BaseException, key: Any, window: Any) -> OperatorFailure:
        """What went wrong when a window of a key fired or ended."""
        return explain(error, None, [self], 0, f"{cut_repr(window)} of key {cut_repr(key)}")

    def forget(self, key: Any, window: Any) -> None:
        """A window is over for good: its function lets go of what it kept for it."""
        if self._forget is not None:
            self._at(key, window)
            try:
                self._forget(self.window_context)
            except OperatorFailure:
                raise
            except BaseException as error:
                raise self.failure(error, key, window) from None

    def _at(self, key: Any, window: Any) -> None:
        self.context.key_context.key = key
        self.window_context.at = window
        self.window_context.current.key = (key, window)

    def flush(self) -> None:
        """Pass on the results so far."""
        if self._values:
            values, stamps = self._values, self._stamps
            self._values, self._stamps = [], []
            if self._enforce is not None:
                values = [self._enforce(value) for value in values]
            self.output.emit(values, stamps)

    def missing_timestamp(self, value: Any) -> Exception:
        """What to say about an element without a timestamp."""
        return InvalidProgramError(
            f"the element {cut_repr(value)} has no timestamp, but {self.description.assigner!r} needs event time: "
            "call assign_timestamps_and_watermarks(...) before key_by, or use windows in processing time"
        )

    # Time

    def process_watermark(self, timestamp: int) -> None:
        self.watermark = timestamp
        self.on_event_time(timestamp)
        self.flush()
        self.output.emit_watermark(timestamp)

    @abstractmethod
    def on_event_time(self, timestamp: int) -> None:
        """Event time has come so far: fire and forget what is due."""

    def end_of_key(self) -> None:
        """Batch mode: no element of the current key follows, so event time ends for it."""
        self.watermark = MAX_WATERMARK
        self.on_event_time(MAX_WATERMARK)
        self.on_processing_time(MAX_WATERMARK)
        self.flush()
        self.watermark = MIN_TIMESTAMP

    def finish(self) -> None:
        # In streaming mode windows of the future do not fire any more, but those that are due by now do.
        self.on_processing_time(MAX_WATERMARK if self.context.batch else self.clock())
        self.flush()


def _itself(value: Any) -> Any:
    return value
