"""A count trigger on time windows: the end of a window does not fire it, and no count lives on in the next window."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import CountTrigger, TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 12, 2, 13, 3, 4, 25, 5])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .trigger(CountTrigger.of(2))
        .reduce(lambda a, b: a * 100 + b)
    )
