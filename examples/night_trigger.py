"""Windows in event time that do not wait for the morning.

A museum counts its visitors by the hour. Event time advances with the visitors, so the last hour of the evening would
be open until somebody comes the next day. The trigger sets two timers for each window: one in event time, for the
window's end, and one by the clock, for when nobody has come for a while. The one that fires first deletes the other.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from spry.common import Time, Types
from spry.datastream import ProcessAllWindowFunction, SourceFunction, StreamExecutionEnvironment
from spry.datastream.functions import SourceContext
from spry.datastream.state import ValueStateDescriptor
from spry.datastream.window import TimeWindow, Trigger, TriggerResult, TumblingEventTimeWindows

PATIENCE_MS = 1_000  # An hour would do for a real museum.
EVENING = ["2024-05-02 20:10", "2024-05-02 20:35", "2024-05-02 21:05", "2024-05-02 21:20", "2024-05-02 21:50"]
MORNING = ["2024-05-03 09:00", "2024-05-03 09:15"]


def millis(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


class Door(SourceFunction):
    """The visitors of an evening and of the next morning."""

    def run(self, ctx: SourceContext) -> None:
        self._let_in(ctx, EVENING)
        time.sleep(5 * PATIENCE_MS / 1000)  # The night.
        self._let_in(ctx, MORNING)

    def _let_in(self, ctx: SourceContext, visitors: list[str]) -> None:
        for visitor in visitors:
            ctx.collect_with_timestamp(visitor, millis(visitor))
            ctx.emit_watermark(millis(visitor) - 1)

    def cancel(self) -> None:
        """Nothing to do: the loop is short."""


class EventTimeOrSilence(Trigger[Any, TimeWindow]):
    """Fires at the end of the window, or when no element has come for a time by the clock."""

    def __init__(self, patience_ms: int) -> None:
        self._patience = patience_ms
        self._alarm = ValueStateDescriptor("alarm", Types.LONG())

    def on_element(
        self, element: Any, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE_AND_PURGE  # Late, but allowed.
        self._delete_alarm(ctx)
        alarm = ctx.get_current_processing_time() + self._patience
        ctx.get_partitioned_state(self._alarm).update(alarm)
        ctx.register_processing_time_timer(alarm)
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        self._delete_alarm(ctx)
        return TriggerResult.FIRE_AND_PURGE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        ctx.get_partitioned_state(self._alarm).clear()
        ctx.delete_event_time_timer(window.max_timestamp())
        return TriggerResult.FIRE_AND_PURGE

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        self._delete_alarm(ctx)
        ctx.delete_event_time_timer(window.max_timestamp())

    def _delete_alarm(self, ctx: Trigger.TriggerContext) -> None:
        alarm = ctx.get_partitioned_state(self._alarm)
        if alarm.value() is not None:
            ctx.delete_processing_time_timer(alarm.value())
            alarm.clear()


class Visitors(ProcessAllWindowFunction):
    """Counts the visitors of an hour, and says what has closed it."""

    def process(self, context: ProcessAllWindowFunction.Context, elements: Iterable[str]) -> Iterator[str]:
        window = context.window()
        by = "event time" if context.current_watermark() >= window.max_timestamp() else "the clock"
        hour = datetime.fromtimestamp(window.start / 1000, UTC)
        yield f"{hour:%d %b %H:%M}: {len(list(elements))} visitors, closed by {by}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    hours = env.add_source(Door(), "door").window_all(TumblingEventTimeWindows.of(Time.hours(1)))
    hours.trigger(EventTimeOrSilence(PATIENCE_MS)).process(Visitors()).print()
    env.execute("museum")


if __name__ == "__main__":
    main()
