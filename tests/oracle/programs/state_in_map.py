"""A map function on a keyed stream has keyed state, too."""

from pyflink.common import Types
from pyflink.datastream import MapFunction
from pyflink.datastream.state import ValueStateDescriptor


class Difference(MapFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))

    def map(self, value):
        last = self.last.value()
        self.last.update(value[1])
        return value[0], value[1], None if last is None else value[1] - last


def define(env):
    return (
        env.from_collection([("a", 5), ("b", 1), ("a", 7), ("b", -1), ("a", 7)])
        .key_by(lambda p: p[0])
        .map(Difference())
    )
