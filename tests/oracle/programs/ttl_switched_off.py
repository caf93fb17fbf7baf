"""A configuration that is switched off: the value stays."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor

ORDERED = True
TTL = StateTtlConfig.new_builder(Time.seconds(2)).set_update_type(StateTtlConfig.UpdateType.Disabled).build()


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("state", Types.STRING())
        descriptor.enable_time_to_live(TTL)
        self.state = runtime_context.get_state(descriptor)

    def process_element(self, step, ctx):
        method, *arguments = step
        if method == "wait":
            time.sleep(arguments[0])
            return
        result = getattr(self.state, method)(*arguments)
        yield f"{method} {arguments} {result}"


def define(env):
    steps = [
        ("update", "a"),
        ("wait", 1.25),
        ("wait", 1.25),
        ("value",),
        ("update", "b"),
        ("value",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
