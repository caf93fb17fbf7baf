"""Event time: each element has the timestamp that the assigner gave it."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {ctx.timestamp()}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    records = env.from_collection([("a", 5), ("b", -3), ("c", 0)])
    return records.assign_timestamps_and_watermarks(strategy).process(Show())
