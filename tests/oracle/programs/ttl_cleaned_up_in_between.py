"""With clean-up for every record, what has expired goes though nobody reads it, and is not shown any more."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor

TTL = (
    StateTtlConfig.new_builder(Time.seconds(1))
    .return_expired_if_not_cleaned_up()
    .cleanup_incrementally(10, True)
    .build()
)


class Last(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("last", Types.INT())
        descriptor.enable_time_to_live(TTL)
        self.last = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        name, number = value
        if name == "wait":
            time.sleep(number)
        elif name == "a":
            yield f"a {number} {self.last.value()}"
            self.last.update(number)


def define(env):
    records = [("a", 1), ("a", 2), ("wait", 2), *[("b", n) for n in range(20)], ("a", 3)]
    return env.from_collection(records).key_by(lambda r: r[0]).process(Last()).set_parallelism(1)
