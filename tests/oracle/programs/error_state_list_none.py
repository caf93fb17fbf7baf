"""None cannot be added to a list state."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor

FAILS = "None cannot be added to a list state"


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.STRING()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        yield list(self.seen.get())


def define(env):
    return env.from_collection([("k", "a"), ("k", None)]).key_by(lambda r: r[0]).process(Collect())
