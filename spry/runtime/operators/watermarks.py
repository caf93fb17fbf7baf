"""Timestamps and watermarks: what ``assign_timestamps_and_watermarks`` does."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from spry.common.config_options import parse_duration
from spry.common.elements import MIN_TIMESTAMP, NO_TIMESTAMP, Watermark
from spry.common.plan import OperatorPlan
from spry.common.watermark_strategy import GeneratorKind, WatermarkOutput, WatermarkStrategy
from spry.runtime.context import SubtaskContext
from spry.runtime.failures import cut_repr, explain
from spry.runtime.operators.base import Operator, Output
from spry.runtime.operators.functions import is_pure

__all__ = ["RunningTimestampsAndWatermarksOperator"]


class _StreamOutput(WatermarkOutput):
    """Where a generator emits; lets only later watermarks through."""

    def __init__(self) -> None:
        self.output: Output | None = None
        self.last = MIN_TIMESTAMP
        self.idle = False

    def emit_watermark(self, watermark: Watermark) -> None:
        assert self.output is not None
        stamp = watermark.timestamp
        if stamp > self.last:
            self.mark_active()
            self.last = stamp
            self.output.emit_watermark(stamp)

    def mark_idle(self) -> None:
        assert self.output is not None
        if not self.idle:
            self.idle = True
            self.output.emit_status(True)

    def mark_active(self) -> None:
        assert self.output is not None
        if self.idle:
            self.idle = False
            self.output.emit_status(False)


class RunningTimestampsAndWatermarksOperator(Operator):
    """Gives each record its timestamp and generates watermarks.

    The built-in generators are periodic: they emit when the watermark interval has passed on the clock. A generator of
    the user's may also emit at any record; its watermark then takes exactly that place in the stream.
    """

    takes_batches = True

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        strategy: WatermarkStrategy = plan.description.strategy  # type: ignore[attr-defined]
        self._strategy = strategy
        self._assign = strategy.extract_timestamp_function()
        self._bounded = strategy.kind is GeneratorKind.BOUNDED_OUT_OF_ORDERNESS
        supplier = strategy.generator_supplier
        self._generator: Any = supplier() if supplier is not None else None
        self._highest = MIN_TIMESTAMP
        self._out = _StreamOutput()
        interval = context.services.job.configuration.get("pipeline.auto-watermark-interval", "200 ms")
        self._interval = parse_duration(interval).to_millis()
        self._clock = context.services.clock
        self._due = self._clock() + self._interval
        self._last_record = self._clock()

    @property
    def may_keep(self) -> bool:
        # The generator of a program sees the records, and so may its assigner.
        return self._generator is not None or not (self._assign is None or is_pure(self._assign))

    def process_batch(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        self._out.output = self.output
        self._out.mark_active()
        self._last_record = self._clock()
        if self._assign is not None:
            timestamps = self._assign_all(values, repeat(NO_TIMESTAMP) if timestamps is None else timestamps)
        if self._generator is not None:
            self._by_record(values, timestamps)
        else:
            if self._bounded and timestamps is not None:
                self._highest = (
                    max(self._highest, *timestamps) if len(timestamps) > 1 else max(self._highest, timestamps[0])
                )
            self.output.emit(values, timestamps)
        self._periodic(self._last_record)

    def _assign_all(self, values: Sequence[Any], timestamps: Iterable[int]) -> Sequence[int]:
        assign, assigned = self._assign, array("q")
        assert assign is not None
        put = assigned.append
        value: Any = None
        stamp: Any = 0
        try:
            for value, before in zip(values, timestamps, strict=False):
                stamp = 0
                stamp = assign(value, before)
                put(stamp)
        except BaseException as error:
            if isinstance(error, TypeError) and not isinstance(stamp, int):
                error = TypeError(f"the timestamp of {cut_repr(value)} must be an int (ms since 1970), got {stamp!r}")
            raise explain(error, None, [self], 0, cut_repr(value)) from None
        return assigned

    def _by_record(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Ask the user's generator at each record; cut the run where it emits."""
        on_event, cut = self._generator.on_event, _Cut()
        start = 0
        for at, value in enumerate(values):
            stamp = NO_TIMESTAMP if timestamps is None else timestamps[at]
            on_event(value, stamp, cut)
            if cut.actions:
                stop = at + 1
                self.output.emit(values[start:stop], None if timestamps is None else timestamps[start:stop])
                start = stop
                cut.replay(self._out)
        if start < len(values):
            self.output.emit(values[start:], None if timestamps is None else timestamps[start:])

    def _periodic(self, now: int) -> None:
        if self._interval <= 0 or now < self._due:
            return
        self._due = now + self._interval
        self._out.output = self.output
        if self._generator is not None:
            self._generator.on_periodic_emit(self._out)
        elif self._bounded and self._highest != MIN_TIMESTAMP:
            self._out.emit_watermark(Watermark(self._highest - self._strategy.out_of_orderness_ms - 1))

    def on_processing_time(self, now: int) -> None:
        self._out.output = self.output
        idle_after = self._strategy.idle_timeout_ms
        if idle_after is not None and now - self._last_record >= idle_after:
            self._out.mark_idle()
        else:
            self._periodic(now)

    def next_timer(self) -> int | None:
        if self._out.idle or (self._highest == MIN_TIMESTAMP and self._generator is None):
            return None
        if self._highest - self._strategy.out_of_orderness_ms - 1 > self._out.last or self._generator is not None:
            return self._due
        idle_after = self._strategy.idle_timeout_ms
        return None if idle_after is None else self._last_record + idle_after

    def process_watermark(self, timestamp: int) -> None:
        """Watermarks from before end here, but for the one that says that the stream has ended."""
        if timestamp == 2**63 - 1:
            self._out.output = self.output
            self._out.emit_watermark(Watermark(timestamp))

    def process_status(self, idle: bool) -> None:
        """Idleness is decided here, not before."""


class _Cut(WatermarkOutput):
    """Notes what a generator emits at a record, to be done after the record is through."""

    def __init__(self) -> None:
        self.actions: list[Watermark | bool] = []

    def emit_watermark(self, watermark: Watermark) -> None:
        self.actions.append(watermark)

    def mark_idle(self) -> None:
        self.actions.append(True)

    def mark_active(self) -> None:
        self.actions.append(False)

    def replay(self, out: _StreamOutput) -> None:
        for action in self.actions:
            if isinstance(action, Watermark):
                out.emit_watermark(action)
            elif action:
                out.mark_idle()
            else:
                out.mark_active()
        self.actions.clear()
