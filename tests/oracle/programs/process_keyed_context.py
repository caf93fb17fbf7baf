"""What a keyed process function is told: key, timestamp, watermark."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield f"{ctx.get_current_key()} {ctx.timestamp()} {ctx.timer_service().current_watermark()}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 1), ("b", 2), ("a", 3)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0].upper())
        .process(Show())
    )
