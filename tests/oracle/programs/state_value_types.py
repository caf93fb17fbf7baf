"""Value state of many types gives back what was put in."""

import datetime
import decimal

from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

TYPES = {
    "string": (Types.STRING(), "grün"),
    "int": (Types.INT(), -3),
    "long": (Types.LONG(), 1 << 40),
    "double": (Types.DOUBLE(), 0.1),
    "boolean": (Types.BOOLEAN(), True),
    "decimal": (Types.BIG_DEC(), decimal.Decimal("1.50")),
    "date": (Types.SQL_DATE(), datetime.date(2024, 2, 29)),
    "time": (Types.SQL_TIME(), datetime.time(12, 30, 15)),
    "timestamp": (Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 12, 30, 15, 250000)),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "a")),
    "row": (Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]), Row(id=1, name="a")),
    "list": (Types.LIST(Types.INT()), [1, 2, 3]),
    "map": (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}),
    "any": (Types.PICKLED_BYTE_ARRAY(), {"a": {1, 2}, "b": (None, 1.5)}),
}


class PutAndGet(KeyedProcessFunction):
    def open(self, runtime_context):
        self.states = {
            name: runtime_context.get_state(ValueStateDescriptor(name, kind)) for name, (kind, _) in TYPES.items()
        }

    def process_element(self, name, ctx):
        state = self.states[name]
        state.update(TYPES[name][1])
        yield f"{name} {state.value()!r}"


def define(env):
    return env.from_collection(list(TYPES), Types.STRING()).key_by(lambda _: 0, Types.INT()).process(PutAndGet())
