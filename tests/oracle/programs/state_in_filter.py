"""A filter on a keyed stream has state: it lets every other record of a key pass."""

from pyflink.common import Types
from pyflink.datastream import FilterFunction
from pyflink.datastream.state import ValueStateDescriptor


class EveryOther(FilterFunction):
    def open(self, runtime_context):
        self.passed = runtime_context.get_state(ValueStateDescriptor("passed", Types.BOOLEAN()))

    def filter(self, value):
        passes = not self.passed.value()
        self.passed.update(passes)
        return passes


def define(env):
    records = [("abc"[n % 3 if n < 7 else 0], n) for n in range(12)]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).filter(EveryOther())
