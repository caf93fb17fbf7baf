"""List state: what was never written, emptied, or updated with nothing, is empty."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor

ORDERED = True


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.INT()))

    def process_element(self, step, ctx):
        method, arguments = step[1], step[2:]
        getattr(self.items, method)(*arguments)
        yield f"{method} {arguments} {list(self.items.get() or [])} {list(self.items)}"


def define(env):
    steps = [
        ("clear",),
        ("add_all", []),
        ("add", 1),
        ("add_all", []),
        ("update", []),
        ("add", 2),
        ("add", 2),
        ("clear",),
        ("clear",),
        ("add_all", [3, 4]),
        ("update", [5, 5]),
        ("add", 6),
        ("update", []),
        ("update", []),
        ("add", 7),
    ]
    return env.from_collection([("k", *step) for step in steps]).key_by(lambda s: s[0]).process(Steps())
