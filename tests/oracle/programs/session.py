"""Sessions per key: a pause as long as the gap, or longer, ends one."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import EventTimeSessionWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} [{window.start}, {window.end}) {sorted(value[1] for value in inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 0), ("a", 9), ("b", 9), ("a", 20), ("b", 18), ("a", 31), ("b", 29)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        .apply(Show())
    )
