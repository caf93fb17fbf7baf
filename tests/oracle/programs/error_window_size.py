"""A window without a size."""

from pyflink.common import Time
from pyflink.datastream.window import TumblingEventTimeWindows

FAILS = "size"


def define(env):
    return (
        env.from_collection([1, 3])
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(0)))
        .reduce(lambda a, b: a + b)
    )
