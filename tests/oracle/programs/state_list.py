"""List state: add, add_all, update, and iterate."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process_element(self, value, ctx):
        self.seen.add(value)
        if value % 4 == 0:
            self.seen.add_all([value * 10, value * 11])
        if value % 7 == 0:
            self.seen.update([value])
        yield f"{value % 2} {list(self.seen.get())}"


def define(env):
    return env.from_collection(range(1, 11)).key_by(lambda n: n % 2, Types.INT()).process(Collect())
