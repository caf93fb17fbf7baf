"""ProcessFunction and KeyedProcessFunction: records, side outputs, state and timers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP, NO_TIMESTAMP
from spry.common.errors import InvalidProgramError
from spry.common.output_tag import OutputTag
from spry.common.plan import OperatorPlan
from spry.common.time_domain import TimeDomain
from spry.runtime.blocks import detach
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.clock import Clock
from spry.runtime.codegen import CodeWriter
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Emit, is_generator
from spry.runtime.operators.functions import FunctionOperator
from spry.runtime.state.keyed import KeyContext
from spry.runtime.timers import TimerQueue, drain

__all__ = ["RunningProcessOperator"]


class _TimerService:
    """The timer service that a function sees."""

    __slots__ = ("_clock", "_current", "_event", "_name", "_processing", "watermark")

    def __init__(
        self, name: str, current: KeyContext | None, event: TimerQueue, processing: TimerQueue, clock: Clock
    ) -> None:
        self._clock = clock
        self._name = name
        self._current = current
        self._event = event
        self._processing = processing
        self.watermark = MIN_TIMESTAMP

    def current_processing_time(self) -> int:
        """The machine's clock, in ms."""
        return self._clock()

    def current_watermark(self) -> int:
        """The operator's event time, in ms."""
        return self.watermark

    def _key(self) -> Any:
        if self._current is None:
            raise InvalidProgramError(
                f"operator '{self._name}' sets a timer but its input is not keyed: put key_by(...) before process(...)"
            )
        return self._current.key

    def register_event_time_timer(self, timestamp: int) -> None:
        """Fire when the watermark passes the time."""
        self._event.register(int(timestamp), self._key())

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Fire when the machine's clock passes the time."""
        self._processing.register(int(timestamp), self._key())

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._event.delete(int(timestamp), self._key())

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._processing.delete(int(timestamp), self._key())


class _Context:
    """The context that process functions see; also the one of their timers."""

    __slots__ = ("_current", "_domain", "_operator", "_timers", "stamp")

    def __init__(self, operator: RunningProcessOperator, current: KeyContext | None, timers: _TimerService) -> None:
        self._operator = operator
        self._current = current
        self._timers = timers
        self._domain = TimeDomain.EVENT_TIME
        self.stamp = NO_TIMESTAMP

    def timestamp(self) -> int | None:
        """The record's (or the timer's) time in ms, None if the record has none."""
        return None if self.stamp == NO_TIMESTAMP else self.stamp

    def timer_service(self) -> _TimerService:
        return self._timers

    def get_current_key(self) -> Any:
        if self._current is None:
            raise InvalidProgramError("there is no current key: the input is not keyed")
        return self._current.key

    def time_domain(self) -> TimeDomain:
        """Which kind of timer fires."""
        return self._domain

    def output(self, tag: OutputTag, value: Any) -> None:
        """Emit to a side output at once; ``yield tag, value`` does the same in order with other results."""
        stamps = [self.stamp] if self.stamp != NO_TIMESTAMP else None
        self._operator.output.emit_side(tag.tag_id, [detach(value)], stamps)


class RunningProcessOperator(FunctionOperator):
    """Calls ``process_element`` per record and ``on_timer`` per timer."""

    method = "process_element"

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        current = context.key_context if self.key is not None else None
        self._event = TimerQueue()
        self._processing = TimerQueue()
        clock = context.services.clock
        self._timers = _TimerService(plan.name, current, self._event, self._processing, clock)
        self._ctx = _Context(self, current, self._timers)
        self._on_timer: Callable[[int, Any], Any] | None = getattr(self.function, "on_timer", None)

    @property
    def event_timers(self) -> TimerQueue:
        return self._event

    @property
    def processing_timers(self) -> TimerQueue:
        return self._processing

    def initialize_state(self, context: StateInitializationContext) -> None:
        self._event.restore(context, "timers in event time")
        self._processing.restore(context, "timers in processing time")
        super().initialize_state(context)

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        super().snapshot_state(context)
        self._event.snapshot(context, "timers in event time")
        self._processing.snapshot(context, "timers in processing time")

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        self.set_key(g, value)
        ctx, call, result = g.bind(self._ctx, "ctx"), g.bind(self.call, "process"), g.fresh("v")
        if timestamp is not None:
            g.line(f"{ctx}.stamp = {timestamp}")
        iterable = f"{call}({value}, {ctx})"
        if not is_generator(self.call):
            results = g.fresh("r")
            g.line(f"{results} = {iterable}")
            iterable = f"{results} if {results} is not None else ()"
        with g.block(f"for {result} in {iterable}:", loop=True):
            emit(result)

    def generate_tagged(self, g: CodeWriter, value: str, emit: Emit, emit_side: Callable[[str, str], None]) -> None:
        tag_class = g.bind(OutputTag, "tag")
        with g.block(f"if {value}.__class__ is tuple and {value} and {value}[0].__class__ is {tag_class}:"):
            tag = g.fresh("t")
            g.line(f"{tag}, {value} = {value}")
            emit_side(f"{tag}.tag_id", value)
        with g.block("else:"):
            self.emit_checked(g, value, emit)

    def process_watermark(self, timestamp: int) -> None:
        self._timers.watermark = timestamp
        if len(self._event):
            self._fire(self._event, timestamp, TimeDomain.EVENT_TIME)
        self.output.emit_watermark(timestamp)

    def on_processing_time(self, now: int) -> None:
        if len(self._processing):
            self._fire(self._processing, now, TimeDomain.PROCESSING_TIME)

    def next_timer(self) -> int | None:
        return self._processing.next_time()

    def finish(self) -> None:
        # In streaming mode timers of the future do not fire any more, but those that are due by now do.
        if len(self._processing):
            now = MAX_WATERMARK if self.context.batch else self.context.services.clock()
            self._fire(self._processing, now, TimeDomain.PROCESSING_TIME)

    def end_of_key(self) -> None:
        """Batch mode: no record of the current key follows, so its timers fire."""
        self._timers.watermark = MAX_WATERMARK
        for queue, stamp, key in drain(self._event, self._processing):
            domain = TimeDomain.EVENT_TIME if queue is self._event else TimeDomain.PROCESSING_TIME
            self._on_time(stamp, key, domain)
        self._ctx.stamp = NO_TIMESTAMP
        self._timers.watermark = MIN_TIMESTAMP

    def _fire(self, queue: TimerQueue, now: int, domain: TimeDomain) -> None:
        for stamp, key in queue.due(now):
            self._on_time(stamp, key, domain)
        self._ctx.stamp = NO_TIMESTAMP

    def _on_time(self, stamp: int, key: Any, domain: TimeDomain) -> None:
        if self._on_timer is None:
            return
        ctx = self._ctx
        self.context.key_context.key = key
        ctx.stamp, ctx._domain = stamp, domain
        results = self._on_timer(stamp, ctx)
        if results is not None:
            self._emit_results(results, stamp, domain)

    def _emit_results(self, results: Any, stamp: int, domain: TimeDomain) -> None:
        for result in results:
            stamps = [stamp] if domain is TimeDomain.EVENT_TIME else None
            if result.__class__ is tuple and result and result[0].__class__ is OutputTag:
                tag, value = result
                self.output.emit_side(tag.tag_id, [value], stamps)
            else:
                self.output.emit(self.enforce_all([result]), stamps)
