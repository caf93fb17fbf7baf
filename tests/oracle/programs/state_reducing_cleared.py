"""Reducing state: None without values and after clear; the first value is not reduced."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, ReduceFunction
from pyflink.datastream.state import ReducingStateDescriptor


class Join(ReduceFunction):
    def reduce(self, value1, value2):
        return f"({value1}+{value2})"


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        self.joined = runtime_context.get_reducing_state(ReducingStateDescriptor("joined", Join(), Types.STRING()))

    def process_element(self, value, ctx):
        if value[1] == "clear":
            self.joined.clear()
        else:
            self.joined.add(value[1])
        yield f"{value[0]} {self.joined.get()}"


def define(env):
    words = ["clear", "a", "b", "c", "clear", "d", "clear", "clear", "e", "f"]
    records = [(key, word) for word in words for key in (1, 2) if (key, word) != (2, "clear")]
    return env.from_collection(records).key_by(lambda r: r[0], Types.INT()).process(Collect())
