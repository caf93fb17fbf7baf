"""Reducing state holds one value: all that was added, reduced."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ReducingStateDescriptor


class Sum(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT()))

    def process_element(self, value, ctx):
        before = self.sum.get()
        self.sum.add(value)
        yield f"{value % 3} {before} {self.sum.get()}"


def define(env):
    return env.from_collection(range(9)).key_by(lambda n: n % 3, Types.INT()).process(Sum())
