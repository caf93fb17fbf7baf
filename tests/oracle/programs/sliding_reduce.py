"""Sliding windows that reduce, with a slide that does not divide the size, and an offset."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {list(inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    assigner = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(4), Time.milliseconds(1))
    return (
        env.from_collection([-7, 0, 3, 4, 11, 25])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(assigner)
        .reduce(lambda a, b: a + b, Show())
    )
