"""Batch mode: state is per key, as in streaming mode."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{value} {self.count.value()}"


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    return env.from_collection(["a", "b", "a", "c", "b", "a"]).key_by(lambda w: w, Types.STRING()).process(Count())
