"""Windows over the whole stream."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import AllWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(AllWindowFunction):
    def apply(self, window, inputs):
        yield f"{window} {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 5, 9, 12, 35, 10, 31])
        .assign_timestamps_and_watermarks(strategy)
        .window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .apply(Show())
    )
