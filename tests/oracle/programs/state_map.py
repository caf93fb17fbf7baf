"""Map state: put, get, contains, remove, keys, values, items, is_empty."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Tally(KeyedProcessFunction):
    def open(self, runtime_context):
        self.tally = runtime_context.get_map_state(MapStateDescriptor("tally", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        empty = self.tally.is_empty()
        letter = value[1]
        self.tally.put(letter, (self.tally.get(letter) or 0) + 1)
        if letter == "x":
            self.tally.remove("y")
        yield (
            f"{value[0]} {empty} {sorted(self.tally.keys())} {sorted(self.tally.values())} "
            f"{sorted(self.tally.items())} {self.tally.contains('y')}"
        )


def define(env):
    records = [(0, "y"), (0, "z"), (1, "y"), (0, "y"), (0, "x"), (1, "y")]
    return env.from_collection(records).key_by(lambda r: r[0], Types.INT()).process(Tally())
