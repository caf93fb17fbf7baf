"""Aggregating state holds an accumulator, and gives its result."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import AggregatingStateDescriptor


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Means(KeyedProcessFunction):
    def open(self, runtime_context):
        kind = Types.TUPLE([Types.INT(), Types.INT()])
        self.mean = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean(), kind))

    def process_element(self, value, ctx):
        self.mean.add(value)
        yield f"{value % 2} {self.mean.get()}"


def define(env):
    return env.from_collection(range(6)).key_by(lambda n: n % 2, Types.INT()).process(Means())
