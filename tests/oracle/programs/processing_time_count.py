"""Windows by the clock with a count trigger."""

from pyflink.common import Time
from pyflink.datastream.window import CountTrigger, TumblingProcessingTimeWindows


def define(env):
    windows = TumblingProcessingTimeWindows.of(Time.days(10000))
    return (
        env.from_collection(range(1, 8))
        .key_by(lambda n: n % 2)
        .window(windows)
        .trigger(CountTrigger.of(2))
        .reduce(lambda a, b: a * 10 + b)
    )
