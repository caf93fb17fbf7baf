"""Sessions over the whole stream, with a process function."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield f"{context.window()} {sorted(elements)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 5, 9, 12, 35, 10, 31])
        .assign_timestamps_and_watermarks(strategy)
        .window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
        .process(Show())
    )
