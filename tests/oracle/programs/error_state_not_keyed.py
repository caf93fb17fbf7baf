"""Keyed state needs a keyed stream."""

from pyflink.common import Types
from pyflink.datastream import MapFunction
from pyflink.datastream.state import ValueStateDescriptor

FAILS = "keyed"


class Count(MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map(self, value):
        self.count.update(value)
        return value


def define(env):
    return env.from_collection([1, 2]).map(Count())
