"""An exception in a timestamp assigner."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner

FAILS = "has no time"


class Fail(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        raise ValueError(f"{value} has no time")


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Fail())
    return env.from_collection([1]).assign_timestamps_and_watermarks(strategy).map(lambda n: n)
