"""A reduce function has keyed state of its own, beside what it reduces."""

from pyflink.common import Types
from pyflink.datastream import ReduceFunction
from pyflink.datastream.state import ValueStateDescriptor


class NumberedSum(ReduceFunction):
    def open(self, runtime_context):
        self.calls = runtime_context.get_state(ValueStateDescriptor("calls", Types.INT()))

    def reduce(self, value1, value2):
        calls = (self.calls.value() or 0) + 1
        self.calls.update(calls)
        return value1[0], value1[1] + value2[1], calls


def define(env):
    records = [("a", 1, 0), ("b", 10, 0), ("a", 2, 0), ("a", 3, 0), ("b", 20, 0), ("c", 5, 0)]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).reduce(NumberedSum())
