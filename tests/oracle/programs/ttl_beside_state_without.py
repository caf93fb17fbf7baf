"""State that expires and state that does not, in one function; the times to live may differ."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import FlatMapFunction
from pyflink.datastream.state import ListStateDescriptor, StateTtlConfig, ValueStateDescriptor


class Both(FlatMapFunction):
    def open(self, runtime_context):
        short = ValueStateDescriptor("short", Types.INT())
        short.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
        long = ListStateDescriptor("long", Types.INT())
        long.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        self.short = runtime_context.get_state(short)
        self.long = runtime_context.get_list_state(long)
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def flat_map(self, value):
        if value == 0:
            time.sleep(2)
        yield f"{value} {self.short.value()} {list(self.long.get() or [])} {self.count.value()}"
        self.short.update(value)
        self.long.add(value)
        self.count.update((self.count.value() or 0) + 1)


def define(env):
    return env.from_collection([1, 2, 0, 3, 4]).key_by(lambda _: "k").flat_map(Both())
