"""Map state with None for a value: the entry is there."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.map.put(value[1], value[2])
        name = value[1]
        yield f"{value} {self.map.contains(name)} {self.map.get(name)} {self.map.is_empty()} {sorted(self.map.keys())}"


def define(env):
    records = [("k", "a", None), ("k", "b", 1), ("k", "b", None), ("k", "a", 2)]
    return env.from_collection(records).key_by(lambda r: r[0]).process(Steps())
