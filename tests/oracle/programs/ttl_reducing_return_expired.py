"""A reduced value that has expired, if that is shown."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ReducingStateDescriptor, StateTtlConfig

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
        descriptor = ReducingStateDescriptor("state", lambda a, b: a + b, Types.INT())
        descriptor.enable_time_to_live(TTL)
        self.state = runtime_context.get_reducing_state(descriptor)

    def process_element(self, step, ctx):
        method, *arguments = step
        if method == "wait":
            time.sleep(arguments[0])
            return
        result = getattr(self.state, method)(*arguments)
        yield f"{method} {arguments} {result}"


def define(env):
    steps = [
        ("add", 1),
        ("wait", 1.25),
        ("wait", 1.25),
        ("get",),
        ("get",),
        ("add", 2),
        ("wait", 1.25),
        ("wait", 1.25),
        ("add", 4),
        ("get",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
