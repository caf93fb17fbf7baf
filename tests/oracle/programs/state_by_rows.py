"""State by keys that are rows."""

from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor

ROW = Types.ROW_NAMED(["city", "year"], [Types.STRING(), Types.INT()])


class Months(KeyedProcessFunction):
    def open(self, runtime_context):
        self.months = runtime_context.get_map_state(MapStateDescriptor("months", Types.INT(), Types.DOUBLE()))

    def process_element(self, value, ctx):
        key = ctx.get_current_key()
        self.months.put(value[2], value[3])
        yield f"{key} {sorted(self.months.items())}"


def define(env):
    records = [("a", 1, 1, 0.5), ("b", 1, 1, 1.5), ("a", 2, 1, 2.5), ("a", 1, 2, 3.5), ("b", 1, 1, 4.5)]
    return env.from_collection(records).key_by(lambda r: Row(r[0], r[1]), ROW).process(Months())
