"""A session gap must be positive, also one that an element says."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor

FAILS = "gap"


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Difference(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 3 - element


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 3])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_dynamic_gap(Difference()))
        .reduce(lambda a, b: a + b)
    )
