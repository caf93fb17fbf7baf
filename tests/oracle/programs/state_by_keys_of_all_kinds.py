"""Each key has its own state, whatever the keys are."""

import datetime
import decimal

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value[1])
        yield f"{ctx.get_current_key()!r} {self.count.value()} {sorted(self.seen.get())}"


def define(env):
    keys = [
        "a",
        "",
        "1",
        1,
        -1,
        1 << 70,
        2.5,
        b"a",
        ("a", 1),
        ("a", (1, "b")),
        (),
        datetime.date(2024, 1, 1),
        datetime.datetime(2024, 1, 1),
        decimal.Decimal("1.5"),
        frozenset(["a"]),
    ]
    records = [(key, n) for n in range(2) for key in keys]
    return env.from_collection(records).key_by(lambda r: r[0]).process(Count())
