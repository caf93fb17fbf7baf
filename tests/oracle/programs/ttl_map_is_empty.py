"""A map is empty when its last entry has been removed, be it because it was found to have expired."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor, StateTtlConfig

ORDERED = True
TTL = (
    StateTtlConfig.new_builder(Time.seconds(2))
    .update_ttl_on_create_and_write()
    .never_return_expired()
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
        ("is_empty",),
        ("put", "a", 1),
        ("put", "b", 2),
        ("is_empty",),
        ("remove", "a"),
        ("wait", 1.25),
        ("wait", 1.25),
        ("get", "b"),
        ("is_empty",),
        ("put", "c", 3),
        ("remove", "c"),
        ("is_empty",),
        ("put", "d", 4),
        ("clear",),
        ("is_empty",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
