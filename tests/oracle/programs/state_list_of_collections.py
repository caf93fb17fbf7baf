"""List state whose elements are collections themselves; what is given stays the caller's."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        self.rows = runtime_context.get_list_state(ListStateDescriptor("rows", Types.LIST(Types.INT())))

    def process_element(self, value, ctx):
        new = [[value], [value, value + 1]]
        self.rows.add_all(new)
        new.clear()
        before = list(self.rows.get())
        self.rows.update(before[-3:])
        before.clear()
        yield f"{value % 2} {list(self.rows.get())}"


def define(env):
    return env.from_collection(range(6)).key_by(lambda n: n % 2, Types.INT()).process(Collect())
