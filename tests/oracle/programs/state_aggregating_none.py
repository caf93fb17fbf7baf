"""Adding None to an aggregating state clears it, as it does in Flink's heap backend."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import AggregatingStateDescriptor

ORDERED = True


class Total(AggregateFunction):
    def create_accumulator(self):
        return [100]

    def add(self, value, accumulator):
        return [*accumulator, value]

    def get_result(self, accumulator):
        return sum(accumulator)

    def merge(self, a, b):
        return a + b


class Sum(KeyedProcessFunction):
    def open(self, runtime_context):
        kind = Types.PICKLED_BYTE_ARRAY()
        self.sum = runtime_context.get_aggregating_state(AggregatingStateDescriptor("sum", Total(), kind))

    def process_element(self, value, ctx):
        self.sum.add(value[1])
        yield f"{value[1]} {self.sum.get()}"


def define(env):
    return env.from_collection([("k", 1), ("k", 2), ("k", None), ("k", 3)]).key_by(lambda r: r[0]).process(Sum())
