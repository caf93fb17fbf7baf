"""Value state: what is falsy is a value, too; None clears."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

ORDERED = True


class Remember(KeyedProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        before = self.last.value()
        self.last.update(value[1])
        yield f"{before!r} {self.last.value()!r}"


def define(env):
    values = [5, 0, "", False, [], {}, (), 0.0, None, 7, None, None, "end"]
    return env.from_collection([("k", value) for value in values]).key_by(lambda r: r[0]).process(Remember())
