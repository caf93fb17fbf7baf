"""Reading an entry keeps that entry alive, if reading counts; contains reads, too."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor, StateTtlConfig

ORDERED = True
TTL = StateTtlConfig.new_builder(Time.seconds(2)).update_ttl_on_read_and_write().never_return_expired().build()


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
        ("put_all", {"a": 1, "b": 2, "c": 3}),
        ("wait", 1.25),
        ("get", "a"),
        ("contains", "b"),
        ("wait", 1.25),
        ("get", "c"),
        ("get", "a"),
        ("get", "b"),
        ("wait", 1.25),
        ("items",),
        ("wait", 1.25),
        ("keys",),
        ("wait", 1.25),
        ("values",),
        ("wait", 1.25),
        ("wait", 1.25),
        ("items",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
