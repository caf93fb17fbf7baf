"""Reading a list keeps all of its elements alive, if reading counts."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, StateTtlConfig

ORDERED = True
TTL = StateTtlConfig.new_builder(Time.seconds(2)).update_ttl_on_read_and_write().never_return_expired().build()


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ListStateDescriptor("state", Types.STRING())
        descriptor.enable_time_to_live(TTL)
        self.state = runtime_context.get_list_state(descriptor)

    def process_element(self, step, ctx):
        method, *arguments = step
        if method == "wait":
            time.sleep(arguments[0])
            return
        result = getattr(self.state, method)(*arguments)
        yield f"{method} {arguments} {result if result is None else list(result)}"


def define(env):
    steps = [
        ("add", "a"),
        ("wait", 1.25),
        ("add", "b"),
        ("get",),
        ("wait", 1.25),
        ("get",),
        ("wait", 1.25),
        ("get",),
        ("wait", 1.25),
        ("wait", 1.25),
        ("add", "c"),
        ("get",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
