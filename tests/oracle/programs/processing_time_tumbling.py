"""Windows by the clock that have not ended when the input does give nothing."""

from pyflink.common import Time
from pyflink.datastream.window import TumblingProcessingTimeWindows


def define(env):
    numbers = env.from_collection([1, 2, 3])
    windows = TumblingProcessingTimeWindows.of(Time.days(10000))
    return numbers.key_by(lambda _: 0).window(windows).reduce(lambda a, b: a + b).union(numbers)
