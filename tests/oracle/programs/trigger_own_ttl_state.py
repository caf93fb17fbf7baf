"""The state of a trigger expires, too: it fires on two elements that come soon after one another."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import WindowFunction
from pyflink.datastream.state import ReducingStateDescriptor, StateTtlConfig
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult


class TwoAtOnce(Trigger):
    def __init__(self):
        self.count = ReducingStateDescriptor("count", lambda a, b: a + b, Types.INT())
        self.count.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())

    def on_element(self, element, timestamp, window, ctx):
        if element < 0:
            time.sleep(2)
        count = ctx.get_partitioned_state(self.count)
        count.add(1)
        return TriggerResult.FIRE if count.get() >= 2 else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{list(inputs)}"


def define(env):
    return (
        env.from_collection([1, -2, -3, 4, -5])
        .key_by(lambda _: 0, Types.INT())
        .window(GlobalWindows.create())
        .trigger(TwoAtOnce())
        .apply(Show())
    )
