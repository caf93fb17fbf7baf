"""Asking twice for a state by its name gives the same state."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.context = runtime_context
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        again = self.context.get_state(ValueStateDescriptor("count", Types.INT()))
        again.update((self.count.value() or 0) + 1)
        yield f"{value} {self.count.value()} {again.value()}"


def define(env):
    return env.from_collection(["a", "b", "a", "a"]).key_by(lambda w: w).process(Count())
