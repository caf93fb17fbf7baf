"""A strategy with idleness changes nothing for a stream that is not idle.

The assigner comes last, because in PyFlink with_idleness() forgets it.
"""

from pyflink.common import Duration, Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def define(env):
    strategy = (
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50))
        .with_idleness(Duration.of_seconds(30))
        .with_timestamp_assigner(Self())
    )
    return (
        env.from_collection([25, 3, 12, 1])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda a, b: a + b)
    )
