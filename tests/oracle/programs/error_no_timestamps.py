"""Windows in event time over elements without timestamps."""

from pyflink.common import Time
from pyflink.datastream.window import TumblingEventTimeWindows

FAILS = "assign_timestamps_and_watermarks"


def define(env):
    return (
        env.from_collection([1, 3])
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda a, b: a + b)
    )
