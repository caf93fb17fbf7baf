"""A trigger of one's own that fires by the clock while the stream pauses, besides the end of the window."""

import time

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import Trigger, TriggerResult, TumblingEventTimeWindows

SLOWLY = True


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class OrAfterAWhile(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        if element[0] == "wake me":
            ctx.register_processing_time_timer(ctx.get_current_processing_time() + 400)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {[time for _, time in inputs]}"


def wait(record):
    time.sleep(2 if record[0] == "pause" else 0.05)
    return record


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    records = [("go", 1), ("wake me", 2), ("pause", 21), ("go", 3), ("go", 22), ("wake me", 11)]
    slow = env.from_collection(records).map(wait).start_new_chain().set_parallelism(1)
    return (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .trigger(OrAfterAWhile())
        .apply(Show())
    )
