"""An exception in a window function, when its window fires."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

FAILS = "window of 2 elements"


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Fail(WindowFunction):
    def apply(self, key, window, inputs):
        raise ValueError(f"window of {len(list(inputs))} elements")


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 3])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .apply(Fail())
    )
