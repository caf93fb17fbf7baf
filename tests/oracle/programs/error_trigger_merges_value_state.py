"""Value state cannot be merged."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, Trigger, TriggerResult

FAILS = "merge"


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Count(Trigger):
    def __init__(self):
        self.count = ValueStateDescriptor("count", Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        ctx.get_partitioned_state(self.count).update(1)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.count)

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.count).clear()


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 5, 3])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(3)))
        .trigger(Count())
        .reduce(lambda a, b: a + b)
    )
