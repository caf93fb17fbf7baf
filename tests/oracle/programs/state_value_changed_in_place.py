"""A value that was changed in place is kept when it is written back."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        seen = self.seen.value() or {"order": [], "count": 0}
        seen["order"].append(value[1])
        seen["count"] += 1
        self.seen.update(seen)
        yield f"{value[0]} {seen}"


def define(env):
    records = [(n % 3, chr(97 + n)) for n in range(9)]
    return env.from_collection(records).key_by(lambda r: r[0]).process(Collect())
