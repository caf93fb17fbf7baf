"""A trigger that never fires, on windows that otherwise would at the end of the input."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import NeverTrigger, TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    numbers = env.from_collection([1, 5, 12]).assign_timestamps_and_watermarks(strategy)
    windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return windows.trigger(NeverTrigger()).reduce(lambda a, b: a + b).union(numbers.filter(lambda n: n == 12))
