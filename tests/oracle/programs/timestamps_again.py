"""Timestamps that are assigned a second time replace the first; the assigner is told the first."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Later(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + 1000


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {ctx.timestamp()}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    return (
        env.from_collection([("a", 5), ("b", 7)])
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Second()))
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Later()))
        .process(Show())
    )
