"""Several states of all kinds in one function do not meet, and clear clears one of them."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return f"#{accumulator}"

    def merge(self, a, b):
        return a + b


class Everything(KeyedProcessFunction):
    def open(self, runtime_context):
        number = Types.INT()
        self.value = runtime_context.get_state(ValueStateDescriptor("value", number))
        self.other = runtime_context.get_state(ValueStateDescriptor("other", number))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", number))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", number, number))
        self.reducing = runtime_context.get_reducing_state(ReducingStateDescriptor("reducing", max, number))
        self.aggregating = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("aggregating", Count(), number)
        )

    def process_element(self, value, ctx):
        key, number = value
        self.other.update(self.value.value())
        self.value.update(number)
        self.list.add(number)
        self.map.put(number % 3, number)
        self.reducing.add(number)
        self.aggregating.add(number)
        states = [self.value, self.other, self.list, self.map, self.reducing, self.aggregating]
        if number >= 10:
            states[number % 6].clear()
        yield (
            f"{key} {self.value.value()} {self.other.value()} {list(self.list.get() or [])} "
            f"{sorted(self.map.items())} {self.reducing.get()} {self.aggregating.get()}"
        )


def define(env):
    numbers = [3, 8, 1, 10, 11, 5, 12, 13, 2, 14, 15, 4]
    records = [(key, number) for number in numbers for key in ("a", "b")]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).process(Everything())
