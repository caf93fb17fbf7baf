"""One function object in two places: each has its own state."""

from pyflink.common import Types
from pyflink.datastream import MapFunction
from pyflink.datastream.state import ReducingStateDescriptor


class RunningSum(MapFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))

    def map(self, value):
        self.sum.add(value)
        return self.sum.get()


def define(env):
    running_sum = RunningSum()
    numbers = env.from_collection(range(1, 6), Types.LONG())
    once = numbers.key_by(lambda n: 0, Types.INT()).map(running_sum, Types.LONG())
    return once.key_by(lambda n: 0, Types.INT()).map(running_sum, Types.LONG())
