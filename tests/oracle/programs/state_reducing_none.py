"""Adding None to a reducing state clears it, as it does in Flink's heap backend."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ReducingStateDescriptor

ORDERED = True


class Sum(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT()))

    def process_element(self, value, ctx):
        self.sum.add(value[1])
        yield f"{value[1]} {self.sum.get()}"


def define(env):
    return env.from_collection([("k", 1), ("k", 2), ("k", None), ("k", 3)]).key_by(lambda r: r[0]).process(Sum())
