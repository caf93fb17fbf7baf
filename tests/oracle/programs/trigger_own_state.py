"""A trigger of one's own with state per window: fires when the sum of a window passes a limit, and purges."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import Trigger, TriggerResult, TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Limit(Trigger):
    def __init__(self, limit):
        self.limit = limit
        self.sum = ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        total = ctx.get_partitioned_state(self.sum)
        total.add(element[0])
        if total.get() < self.limit:
            return TriggerResult.CONTINUE
        total.clear()
        return TriggerResult.FIRE_AND_PURGE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.sum).clear()


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} [{window.start}, {window.end}) {[n for n, _ in inputs]}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    records = [(4, 1), (3, 2), (4, 11), (8, 3), (7, 12), (2, 4), (9, 5), (12, 13), (1, 25)]
    return (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: pair[0] % 2)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .trigger(Limit(10))
        .apply(Show())
    )
