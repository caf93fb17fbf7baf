"""Map state as a dict: get, set, in, del and iteration."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Inventory(KeyedProcessFunction):
    def open(self, runtime_context):
        self.stock = runtime_context.get_map_state(MapStateDescriptor("stock", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        _, item, amount = value
        if item in self.stock:
            self.stock[item] = self.stock[item] + amount
        else:
            self.stock[item] = amount
        if self.stock[item] <= 0:
            del self.stock[item]
        yield f"{value} {sorted(self.stock)} {sorted(self.stock.items())} {self.stock['none']}"


def define(env):
    records = [
        ("n", "tea", 5),
        ("s", "tea", 1),
        ("n", "milk", 2),
        ("n", "tea", -5),
        ("s", "tea", -2),
        ("n", "tea", 1),
        ("s", "milk", 4),
        ("n", "milk", -1),
    ]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).process(Inventory())
