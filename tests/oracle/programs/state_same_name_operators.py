"""States of the same name in different operators are different states."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, MapFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Number(MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map(self, value):
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        return value[0], value[1], number


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.seen.add(value[2])
        yield f"{value[1]} {len(list(self.seen.get()))}"


def define(env):
    records = [("a", 1), ("b", 1), ("a", 2), ("a", 1), ("b", 1)]
    return env.from_collection(records).key_by(lambda r: r[0]).map(Number()).key_by(lambda r: r[1]).process(Collect())
