"""Windows over the results of windows: they are in the window that their own windows ended in."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    records = [("a", 1), ("b", 2), ("a", 12), ("a", 13), ("b", 19), ("b", 21), ("a", 39), ("c", 40)]
    per_key = (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .map(lambda pair: (pair[0], 1))
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    return (
        per_key.map(lambda pair: pair[1])
        .window_all(TumblingEventTimeWindows.of(Time.milliseconds(20)))
        .reduce(lambda a, b: a + b)
    )
