"""A timer finds the state of its key expired, or not yet."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor

SLOWLY = True


class Remind(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("last", Types.STRING())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(3)).build())
        self.last = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        if value == "pause":
            return
        self.last.update(value)
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + (500 if value == "a" else 4000))
        yield f"element {value}"

    def on_timer(self, timestamp, ctx):
        yield f"timer {ctx.get_current_key()} {self.last.value()}"


def wait(record):
    time.sleep(1 if record == "pause" else 0.05)
    return record


def define(env):
    slow = env.from_collection(["a", "b", *["pause"] * 5, "c"]).map(wait).start_new_chain().set_parallelism(1)
    return slow.key_by(lambda w: w).process(Remind())
