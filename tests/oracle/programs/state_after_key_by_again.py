"""State of a stream that was keyed once more belongs to the new key."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield *value, self.count.value()


class CountAgain(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.sum.update((self.sum.value() or 0) + value[2])
        if self.count.value() == 6:
            yield f"{value[1]} {self.sum.value()}"


def define(env):
    records = [("abc"[n % 3], "xy"[n % 2]) for n in range(12)]
    counted = env.from_collection(records).key_by(lambda r: r[0]).process(Count())
    return counted.key_by(lambda r: r[1]).process(CountAgain())
