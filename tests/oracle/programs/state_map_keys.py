"""Map state with entries by tuples.

PyFlink does not find them again.
"""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor

RULES = [
    "1 ('a', 'b') 1 False [('a', 'b')]",
    "1 ('b', 'a') 1 True [('a', 'b'), ('b', 'a')]",
    "2 ('a', 'b') 1 False [('a', 'b')]",
    "1 ('a', 'b') 2 True [('a', 'b'), ('b', 'a')]",
    "2 ('c', 'a') 1 False [('a', 'b'), ('c', 'a')]",
    "1 ('a', 'b') 3 True [('a', 'b'), ('b', 'a')]",
]


class Routes(KeyedProcessFunction):
    def open(self, runtime_context):
        pair = Types.TUPLE([Types.STRING(), Types.STRING()])
        self.count = runtime_context.get_map_state(MapStateDescriptor("count", pair, Types.LONG()))

    def process_element(self, value, ctx):
        day, *route = value
        route = tuple(route)
        self.count.put(route, (self.count.get(route) or 0) + 1)
        yield f"{day} {route} {self.count.get(route)} {self.count.contains(route[::-1])} {sorted(self.count.keys())}"


def define(env):
    records = [(1, "a", "b"), (1, "b", "a"), (2, "a", "b"), (1, "a", "b"), (2, "c", "a"), (1, "a", "b")]
    return env.from_collection(records).key_by(lambda r: r[0], Types.INT()).process(Routes())
