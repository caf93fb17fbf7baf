"""State may be asked for when it is first needed, and a name can be made of the record."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor


class ByKind(KeyedProcessFunction):
    def open(self, runtime_context):
        self.context = runtime_context
        self.states = {}

    def process_element(self, value, ctx):
        kind = value[1]
        if kind not in self.states:
            self.states[kind] = self.context.get_list_state(ListStateDescriptor(f"of {kind}", Types.INT()))
        self.states[kind].add(value[2])
        yield f"{value[0]} {kind} {list(self.states[kind].get())}"


def define(env):
    records = [("a", "x", 1), ("a", "y", 2), ("b", "x", 3), ("a", "x", 4), ("b", "y", 5), ("b", "x", 6)]
    return env.from_collection(records).key_by(lambda r: r[0]).process(ByKind())
