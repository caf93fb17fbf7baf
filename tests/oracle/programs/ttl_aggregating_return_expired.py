"""An aggregate that has expired, if that is shown."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import AggregatingStateDescriptor, StateTtlConfig

ORDERED = True
TTL = (
    StateTtlConfig.new_builder(Time.seconds(2))
    .update_ttl_on_create_and_write()
    .return_expired_if_not_cleaned_up()
    .disable_cleanup_in_background()
    .build()
)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = AggregatingStateDescriptor("state", Mean(), Types.PICKLED_BYTE_ARRAY())
        descriptor.enable_time_to_live(TTL)
        self.state = runtime_context.get_aggregating_state(descriptor)

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
