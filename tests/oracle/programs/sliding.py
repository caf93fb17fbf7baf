"""Sliding windows: an element is in size / slide of them, also in such as begin before zero."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} [{window.start}, {window.end}) {sorted(value[1] for value in inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 0), ("a", 5), ("b", 9), ("a", 10), ("b", 35), ("a", 3)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5)))
        .apply(Show())
    )
