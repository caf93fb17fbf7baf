"""Sessions before 1970, and one over the turn."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import EventTimeSessionWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([-100, -95, -8, -3, 1, 20])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(6)))
        .apply(Show())
    )
