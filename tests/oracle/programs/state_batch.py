"""Batch mode: keyed state of a key is there for all of its records."""

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction, RuntimeExecutionMode
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Differences(FlatMapFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.INT()))

    def flat_map(self, value):
        last = self.last.value()
        self.last.update(value[1])
        if last is not None:
            self.all.add(value[1] - last)
            yield f"{value[0]} {list(self.all.get())}"


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    records = [("a", 1), ("b", 10), ("a", 4), ("b", 7), ("a", 2), ("c", 0), ("b", 7)]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).flat_map(Differences())
