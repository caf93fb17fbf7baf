"""A continuous trigger by the clock with an interval that does not come: only the elements that went in are kept."""

from pyflink.common import Time
from pyflink.datastream.window import ContinuousProcessingTimeTrigger, TumblingProcessingTimeWindows


def define(env):
    numbers = env.from_collection([1, 2, 3])
    return (
        numbers.key_by(lambda _: 0)
        .window(TumblingProcessingTimeWindows.of(Time.days(30000)))
        .trigger(ContinuousProcessingTimeTrigger.of(Time.days(25000)))
        .reduce(lambda a, b: a + b)
        .union(numbers)
    )
