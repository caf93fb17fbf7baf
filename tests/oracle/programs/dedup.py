"""Only the first record of each key passes: flat map with state."""

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction
from pyflink.datastream.state import ValueStateDescriptor


class First(FlatMapFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def flat_map(self, value):
        if not self.seen.value():
            self.seen.update(True)
            yield value


def define(env):
    return env.from_collection(["a", "b", "a", "c", "b", "a"]).key_by(lambda w: w).flat_map(First())
