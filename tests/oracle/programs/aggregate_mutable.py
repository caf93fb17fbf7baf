"""An accumulator that add() changes in place: each window and each key has its own."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction
from pyflink.datastream.window import SlidingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Collect(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator):
        return sorted(accumulator)

    def merge(self, a, b):
        return a + b


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 0), ("a", 7), ("b", 9), ("a", 13), ("b", 3)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5)))
        .aggregate(Collect())
    )
