"""A trigger of one's own that moves its timer: it deletes the old one, and fires after the last element."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import Trigger, TriggerResult, TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class AfterLast(Trigger):
    def __init__(self):
        self.due = ValueStateDescriptor("due", Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        due = ctx.get_partitioned_state(self.due)
        if due.value() is not None:
            ctx.delete_event_time_timer(due.value())
        due.update(timestamp + 3)
        ctx.register_event_time_timer(timestamp + 3)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        due = ctx.get_partitioned_state(self.due)
        if due.value() != time:
            return TriggerResult.CONTINUE
        due.clear()
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.due).clear()


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {list(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 4, 12, 2, 15, 18])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .trigger(AfterLast())
        .apply(Show())
    )
