"""A trigger of one's own on global windows: event-time timers that fire and set the next one.

PyFlink never fires event-time timers of global windows.
"""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult

RULES = 3 * ["1 [1, 3]"] + 2 * ["0 [12, 24]"]


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class EveryTen(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(timestamp - timestamp % 10 + 10)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        if time >= 40:
            return TriggerResult.PURGE
        ctx.register_event_time_timer(time + 10)
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 3, 12, 24])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: n % 2)
        .window(GlobalWindows.create())
        .trigger(EveryTen())
        .apply(Show())
    )
