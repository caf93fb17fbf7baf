"""Aggregating state with an accumulator that is changed in place, and a result of another type."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import AggregatingStateDescriptor


class Median(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value)
        accumulator.sort()
        return accumulator

    def get_result(self, accumulator):
        return f"{accumulator[len(accumulator) // 2]} of {len(accumulator)}"

    def merge(self, a, b):
        return sorted(a + b)


class Medians(KeyedProcessFunction):
    def open(self, runtime_context):
        kind = Types.PICKLED_BYTE_ARRAY()
        self.median = runtime_context.get_aggregating_state(AggregatingStateDescriptor("median", Median(), kind))

    def process_element(self, value, ctx):
        before = self.median.get()
        self.median.add(value)
        yield f"{value} {before} {self.median.get()}"
        if value == 9:
            self.median.clear()


def define(env):
    return env.from_collection([5, 1, 8, 3, 9, 2, 7, 4, 6, 0]).key_by(lambda n: n % 2, Types.INT()).process(Medians())
