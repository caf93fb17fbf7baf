"""Timestamps go along through map, flat map, filter and union."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {ctx.timestamp()}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    numbers = env.from_collection(range(1, 6)).assign_timestamps_and_watermarks(strategy)
    mapped = numbers.map(lambda n: f"map {n}")
    several = numbers.filter(lambda n: n > 3).flat_map(lambda n: [f"first {n}", f"second {n}"])
    return mapped.union(several).process(Show())
