"""In batch mode state does not expire."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode
from pyflink.datastream.state import ReducingStateDescriptor, StateTtlConfig


class Sum(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
        self.sum = runtime_context.get_reducing_state(descriptor)

    def process_element(self, value, ctx):
        if value == 0:
            time.sleep(2)
        self.sum.add(value)
        yield f"{value} {self.sum.get()}"


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    return env.from_collection([1, 2, 0, 3, 4]).key_by(lambda _: 0, Types.INT()).process(Sum())
