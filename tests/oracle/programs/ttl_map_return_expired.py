"""Entries that have expired are shown once more, if they are still there."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor, StateTtlConfig

ORDERED = True
TTL = (
    StateTtlConfig.new_builder(Time.seconds(2))
    .update_ttl_on_create_and_write()
    .return_expired_if_not_cleaned_up()
    .disable_cleanup_in_background()
    .build()
)


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = MapStateDescriptor("state", Types.STRING(), Types.INT())
        descriptor.enable_time_to_live(TTL)
        self.state = runtime_context.get_map_state(descriptor)

    def process_element(self, step, ctx):
        method, *arguments = step
        if method == "wait":
            time.sleep(arguments[0])
            return
        result = getattr(self.state, method)(*arguments)
        yield f"{method} {arguments} {sorted(result) if hasattr(result, '__iter__') else result}"


def define(env):
    steps = [
        ("put_all", {"a": 1, "b": 2, "c": 3, "d": 4}),
        ("wait", 1.25),
        ("put", "d", 5),
        ("wait", 1.25),
        ("get", "a"),
        ("get", "a"),
        ("contains", "b"),
        ("contains", "b"),
        ("items",),
        ("items",),
        ("is_empty",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
