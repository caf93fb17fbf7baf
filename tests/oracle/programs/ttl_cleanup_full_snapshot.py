"""Clean-up in full snapshots changes nothing for who reads."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor

ORDERED = True
TTL = (
    StateTtlConfig.new_builder(Time.seconds(2))
    .update_ttl_on_create_and_write()
    .never_return_expired()
    .cleanup_full_snapshot()
    .build()
)


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
        ("value",),
        ("wait", 1.25),
        ("value",),
        ("update", "b"),
        ("value",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
