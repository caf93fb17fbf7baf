"""A flat map on a keyed stream has state: it pairs each record with all before it."""

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor


class Pairs(FlatMapFunction):
    def open(self, runtime_context):
        self.before = runtime_context.get_list_state(ListStateDescriptor("before", Types.INT()))
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.INT(), Types.BOOLEAN()))

    def flat_map(self, value):
        for other in self.before.get() or []:
            if not self.seen.contains(other + value):
                self.seen.put(other + value, True)
                yield other, value
        self.before.add(value)


def define(env):
    return env.from_collection([1, 2, 3, 4, 5, 6, 8]).key_by(lambda n: n % 2, Types.INT()).flat_map(Pairs())
