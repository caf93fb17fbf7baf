"""A trigger of one's own with list state: fires when the elements differ enough, and remembers no longer."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import Trigger, TriggerResult, TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class WhenFarApart(Trigger):
    def __init__(self):
        self.seen = ListStateDescriptor("seen", Types.LONG())
        self.fired = ValueStateDescriptor("fired", Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        seen = ctx.get_partitioned_state(self.seen)
        seen.add(element)
        known = list(seen.get())
        if max(known) - min(known) < 4:
            return TriggerResult.CONTINUE
        seen.clear()
        fired = ctx.get_partitioned_state(self.fired)
        fired.update((fired.value() or 0) + 1)
        return TriggerResult.FIRE_AND_PURGE if fired.value() == 2 else TriggerResult.FIRE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.seen).clear()
        ctx.get_partitioned_state(self.fired).clear()


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} [{window.start}, {window.end}) {list(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 3, 5, 2, 7, 9, 0, 8, 21, 22, 26, 29, 4, 12, 19])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: n % 2)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(20)))
        .trigger(WhenFarApart())
        .apply(Show())
    )
