"""State of any objects, declared as pickled."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor

ANY = Types.PICKLED_BYTE_ARRAY()


class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", ANY))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", ANY, ANY))
        self.union = runtime_context.get_reducing_state(ReducingStateDescriptor("union", lambda a, b: a | b, ANY))

    def process_element(self, value, ctx):
        self.list.add(value)
        self.map.put((value, str(value)), {"half": value / 2})
        self.union.add({value % 4})
        halves = sorted((key, half["half"]) for key, half in self.map.items())
        yield f"{list(self.list.get())} {halves} {sorted(self.union.get())}"


def define(env):
    return env.from_collection(range(6)).key_by(lambda n: n % 2).process(Keep())
