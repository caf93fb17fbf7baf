"""Many keys, one after the other and mixed: none sees what is another's."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor


class Check(KeyedProcessFunction):
    def open(self, runtime_context):
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.INT(), Types.INT()))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT()))

    def process_element(self, value, ctx):
        key = value % 37
        self.list.add(value)
        self.map.put(value, key)
        self.sum.add(key)
        listed, mapped = list(self.list.get()), dict(self.map.items())
        if any(n % 37 != key for n in [*listed, *mapped]) or set(mapped.values()) != {key}:
            yield f"{key} has {listed} {mapped}"
        if value >= 370:
            yield f"{key} {len(listed)} {len(mapped)} {self.sum.get()}"
        if value % 5 == 0:
            self.list.clear()


def define(env):
    return env.from_collection(range(407), Types.INT()).key_by(lambda n: n % 37, Types.INT()).process(Check())
