"""Value state: None at first, a value per key, and cleared."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        before = self.count.value()
        if value[1] == "clear":
            self.count.clear()
        else:
            self.count.update((before or 0) + 1)
        yield f"{value[0]} {before} {self.count.value()}"


def define(env):
    records = [("a", ""), ("b", ""), ("a", ""), ("a", "clear"), ("b", ""), ("a", "")]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).process(Count())
