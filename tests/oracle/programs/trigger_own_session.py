"""A trigger of one's own that can merge: counts elements of sessions, whose state it merges."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, Trigger, TriggerResult


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class AtLeast(Trigger):
    """Fires once at a session's end, if it has so many elements."""

    def __init__(self, count):
        self.count = count
        self.seen = ReducingStateDescriptor("seen", lambda a, b: a + b, Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        ctx.get_partitioned_state(self.seen).add(1)
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        enough = ctx.get_partitioned_state(self.seen).get() >= self.count
        return TriggerResult.FIRE if enough else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.seen)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.seen).clear()


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 20, 2, 21, 10, 15, 40, 41, 60, 61, 62])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(8)))
        .trigger(AtLeast(3))
        .apply(Show())
    )
