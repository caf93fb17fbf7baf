"""Event time where it begins: timestamps, watermarks and idleness, of one stream of records or of a source's splits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

from spry.common.config_options import parse_duration
from spry.common.elements import MIN_TIMESTAMP, NO_TIMESTAMP, Watermark
from spry.common.plan import JobPlan
from spry.common.watermark_strategy import GeneratorKind, WatermarkOutput, WatermarkStrategy
from spry.runtime.clock import Clock
from spry.runtime.failures import cut_repr, explain
from spry.runtime.operators.base import Operator

__all__ = [
    "StreamWatermarks",
    "TimestampsAndWatermarks",
    "WatermarkOutputMultiplexer",
    "slowest",
    "watermark_interval",
    "watermark_time",
]


def watermark_interval(job: JobPlan) -> int:
    """How often generators are asked, in ms; 0 for never."""
    return parse_duration(job.configuration.get("pipeline.auto-watermark-interval", "200 ms")).to_millis()


def watermark_time(watermark: Any) -> int:
    """A watermark's time. A number of ms stands for a watermark, as it does where sources emit."""
    time = getattr(watermark, "timestamp", watermark)
    if isinstance(time, bool) or not isinstance(time, int):
        raise TypeError(f"emit_watermark takes a Watermark, or its time in ms, not {watermark!r}")
    return time


class StreamWatermarks(WatermarkOutput):
    """The watermarks of a whole stream: only later ones get through, and idleness only when it changes."""

    def __init__(self, emit_watermark: Callable[[int], None], emit_status: Callable[[bool], None]) -> None:
        self._emit_watermark = emit_watermark
        self._emit_status = emit_status
        self.last = MIN_TIMESTAMP
        self.idle = False

    def emit_watermark(self, watermark: Watermark) -> None:
        time = watermark_time(watermark)
        if time > self.last:
            self.mark_active()
            self.last = time
            self._emit_watermark(time)

    def snapshot(self) -> dict[str, Any]:
        """How far the stream has come."""
        return {"last": self.last, "idle": self.idle}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.last, self.idle = state["last"], state["idle"]

    def repeat(self) -> None:
        """Say again how far the stream has come, to those who have not heard it."""
        if self.last > MIN_TIMESTAMP:
            self._emit_watermark(self.last)
        if self.idle:
            self._emit_status(True)

    def mark_idle(self) -> None:
        if not self.idle:
            self.idle = True
            self._emit_status(True)

    def mark_active(self) -> None:
        if self.idle:
            self.idle = False
            self._emit_status(False)


class _Part(WatermarkOutput):
    """The watermarks of one split. The whole is brought up to date once per change, whatever that brings with it."""

    def __init__(self, whole: WatermarkOutputMultiplexer) -> None:
        self._whole = whole
        self.last = MIN_TIMESTAMP
        self.idle = False

    def emit_watermark(self, watermark: Watermark) -> None:
        time = watermark_time(watermark)
        if time > self.last:
            self.idle = False
            self.last = time
            self._whole.update()

    def mark_idle(self) -> None:
        if not self.idle:
            self.idle = True
            self._whole.update()

    def mark_active(self) -> None:
        if self.idle:
            self.idle = False
            self._whole.update()


class WatermarkOutputMultiplexer:
    """Makes one stream's watermarks of those of several splits: the least of those that are not idle."""

    def __init__(self, target: WatermarkOutput) -> None:
        self._target = target
        self._parts: dict[str, _Part] = {}

    def register(self, split_id: str) -> WatermarkOutput:
        """A split is there. Until it has a watermark, the stream has none."""
        part = self._parts[split_id] = _Part(self)
        return part

    def unregister(self, split_id: str) -> None:
        """A split has ended: it holds nobody back any more."""
        self._parts.pop(split_id, None)
        self.update()

    def restore(self, split_id: str, state: dict[str, Any]) -> None:
        """A split goes on from a checkpoint."""
        part = self._parts[split_id]
        part.last, part.idle = state["last"], state["idle"]

    def snapshot(self, split_id: str) -> dict[str, Any]:
        """How far a split has come."""
        part = self._parts[split_id]
        return {"last": part.last, "idle": part.idle}

    def watermark_of(self, split_id: str) -> int:
        """How far a split has come."""
        return self._parts[split_id].last

    def update(self) -> None:
        """Say what has changed for the stream as a whole."""
        if not self._parts:
            return
        active = [part.last for part in self._parts.values() if not part.idle]
        if not active:
            # All are idle: what the furthest has reached holds, before the stream is idle, too.
            self._emit(max(part.last for part in self._parts.values()))
            self._target.mark_idle()
            return
        self._target.mark_active()
        self._emit(min(active))

    def _emit(self, timestamp: int) -> None:
        if timestamp > MIN_TIMESTAMP:
            self._target.emit_watermark(Watermark(timestamp))


def slowest(states: list[dict[str, Any]]) -> dict[str, Any]:
    """Several streams as one that is nowhere ahead of any of them."""
    lowest: dict[str, Any] = {
        name: min(state[name] for state in states if name in state) for name in ("last", "highest", "emitted")
    }
    return {**lowest, "idle": all(state["idle"] for state in states)}


class TimestampsAndWatermarks:
    """Applies a strategy to a stream of records.

    The built-in generators are periodic: they emit when the watermark interval has passed on the clock. A generator of
    the user's may also emit at any record; its watermark then takes exactly that place in the stream.
    """

    def __init__(
        self,
        strategy: WatermarkStrategy,
        operator: Operator,
        clock: Clock,
        interval: int,
        emit: Callable[[Sequence[Any], Sequence[int] | None], None],
        watermarks: WatermarkOutput,
    ) -> None:
        self._operator = operator
        self._emit = emit
        self._watermarks = watermarks
        self._assign = strategy.extract_timestamp_function()
        self._bounded = strategy.kind is GeneratorKind.BOUNDED_OUT_OF_ORDERNESS
        self._distance = strategy.out_of_orderness_ms + 1
        supplier = strategy.generator_supplier
        self.generator: Any = supplier() if supplier is not None else None
        self._idle_after = strategy.idle_timeout_ms
        self._highest = MIN_TIMESTAMP
        self._emitted = MIN_TIMESTAMP
        self._interval = interval
        self._clock = clock
        self._due = clock() + interval
        self._last_record = clock()
        self._idle = False

    def snapshot(self) -> dict[str, Any]:
        """What the generator has seen. One of the user's making begins anew after a restore."""
        return {"highest": self._highest, "emitted": self._emitted}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._highest, self._emitted = state["highest"], state["emitted"]

    def process(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """A run of records: give them timestamps, pass them on, and emit the watermarks that are due."""
        if not len(values):
            return
        now = self._last_record = self._clock()
        if self._idle:
            self._idle = False
            self._watermarks.mark_active()
        if self._assign is not None:
            timestamps = self._assign_all(values, repeat(NO_TIMESTAMP) if timestamps is None else timestamps)
        if self.generator is not None:
            self._by_record(values, timestamps)
        else:
            if self._bounded and timestamps is not None:
                self._highest = max(self._highest, max(timestamps))  # noqa: PLW3301 (quick on arrays)
            self._emit(values, timestamps)
        self._periodic(now)

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
            raise explain(error, None, [self._operator], 0, cut_repr(value)) from None
        return assigned

    def _by_record(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Ask the user's generator at each record; cut the run where it emits."""
        on_event, cut = self.generator.on_event, _Cut()
        start = 0
        value: Any = None
        for at, value in enumerate(values):
            stamp = NO_TIMESTAMP if timestamps is None else timestamps[at]
            try:
                on_event(value, stamp, cut)
            except BaseException as error:
                raise explain(error, None, [self._operator], 0, cut_repr(value)) from None
            if cut.actions:
                stop = at + 1
                self._emit(values[start:stop], None if timestamps is None else timestamps[start:stop])
                start = stop
                cut.replay(self._watermarks)
        if start < len(values):
            self._emit(values[start:], None if timestamps is None else timestamps[start:])

    def _periodic(self, now: int) -> None:
        if self._interval <= 0 or now < self._due:
            return
        self._due = now + self._interval
        if self.generator is not None:
            self.generator.on_periodic_emit(self._watermarks)
        elif self._bounded and self._highest != MIN_TIMESTAMP:
            self._emitted = self._highest - self._distance
            self._watermarks.emit_watermark(Watermark(self._emitted))

    def wait(self) -> None:
        """The stream is held back: the time until it may go on does not make it idle."""
        self._last_record = self._clock()

    def on_processing_time(self, now: int) -> None:
        """Emit what is due by the clock, or become idle."""
        if self._idle_after is not None and now - self._last_record >= self._idle_after:
            if not self._idle:
                self._idle = True
                self._watermarks.mark_idle()
        else:
            self._periodic(now)

    def next_timer(self) -> int | None:
        """When there is something to do by the clock; None if only records bring anything."""
        times = []
        if self._interval > 0 and (self.generator is not None or self._highest - self._distance > self._emitted):
            times.append(self._due)
        if self._idle_after is not None:
            times.append(self._last_record + self._idle_after)
        return min(times) if times and not self._idle else None


class _Cut(WatermarkOutput):
    """Notes what a generator emits at a record, to be done after the record is through."""

    def __init__(self) -> None:
        self.actions: list[Watermark | bool] = []

    def emit_watermark(self, watermark: Watermark) -> None:
        self.actions.append(Watermark(watermark_time(watermark)))

    def mark_idle(self) -> None:
        self.actions.append(True)

    def mark_active(self) -> None:
        self.actions.append(False)

    def replay(self, out: WatermarkOutput) -> None:
        """Do it."""
        for action in self.actions:
            if isinstance(action, Watermark):
                out.emit_watermark(action)
            elif action:
                out.mark_idle()
            else:
                out.mark_active()
        self.actions.clear()
