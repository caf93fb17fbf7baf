"""Sliding windows by the clock: an element is in as many windows as slides fit into the size; a trigger fires each."""

from pyflink.common import Time
from pyflink.datastream.window import CountTrigger, SlidingProcessingTimeWindows


def define(env):
    windows = SlidingProcessingTimeWindows.of(Time.days(30000), Time.days(10000))
    return (
        env.from_collection([1, 2, 3, 4])
        .key_by(lambda _: 0)
        .window(windows)
        .trigger(CountTrigger.of(2))
        .reduce(lambda a, b: a * 10 + b)
    )
