"""A timer by the clock clears the state of its key; other keys keep theirs."""

import time

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

SLOWLY = True


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        if value == "a" and self.count.value() is None:
            timers.register_processing_time_timer(timers.current_processing_time() + 500)
        self.count.update((self.count.value() or 0) + 1)
        yield f"{value} {self.count.value()}"

    def on_timer(self, timestamp, ctx):
        yield f"timer {ctx.get_current_key()} {self.count.value()}"
        self.count.clear()


def wait(record):
    time.sleep(2 if record == "pause" else 0.05)
    return record


def define(env):
    records = ["a", "b", "a", "pause", "a", "b", "pause", "b"]
    slow = env.from_collection(records).map(wait).start_new_chain().set_parallelism(1)
    return slow.key_by(lambda w: w).process(Count())
