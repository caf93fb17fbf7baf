"""An entry whose value is None expires as others do."""

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
        descriptor = MapStateDescriptor("state", Types.STRING(), Types.PICKLED_BYTE_ARRAY())
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
        ("put", "a", None),
        ("contains", "a"),
        ("get", "a"),
        ("wait", 1.25),
        ("put", "b", 1),
        ("keys",),
        ("wait", 1.25),
        ("contains", "a"),
        ("keys",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
