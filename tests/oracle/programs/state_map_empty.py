"""Map state: is_empty before, after put_all of nothing, after the last entry was removed, after clear."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor

ORDERED = True


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))

    def process_element(self, step, ctx):
        method, arguments = step[1], step[2:]
        result = getattr(self.map, method)(*arguments)
        yield f"{method} {arguments} {result} {self.map.is_empty()} {sorted(self.map.items())}"


def define(env):
    steps = [
        ("is_empty",),
        ("remove", "a"),
        ("clear",),
        ("put_all", {}),
        ("put", "a", 1),
        ("contains", "a"),
        ("contains", "b"),
        ("get", "b"),
        ("remove", "b"),
        ("remove", "a"),
        ("is_empty",),
        ("put_all", {"b": 2, "c": 3}),
        ("put_all", {"c": 4, "d": 5}),
        ("remove", "b"),
        ("get", "c"),
        ("clear",),
        ("get", "c"),
        ("put", "e", 0),
        ("get", "e"),
        ("contains", "e"),
    ]
    return env.from_collection([("k", *step) for step in steps]).key_by(lambda s: s[0]).process(Steps())
