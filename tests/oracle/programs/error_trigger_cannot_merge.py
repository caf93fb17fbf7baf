"""Sessions need a trigger that can merge.

PyFlink does not check it, and merges the windows all the same.
"""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import EventTimeSessionWindows, Trigger, TriggerResult

FAILS = "merge"


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Always(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        return TriggerResult.FIRE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def can_merge(self):
        return False

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 3])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        .trigger(Always())
        .reduce(lambda a, b: a + b)
    )
