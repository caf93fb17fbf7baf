"""Late firings of one window are on time for a later one, or late there, too."""

import time

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import TumblingEventTimeWindows

SLOWLY = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    records = env.from_collection([1, 12, 2, 24, 3, 13, 50], Types.INT())
    slow = records.map(wait, Types.INT()).start_new_chain().set_parallelism(1)
    return (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0, Types.INT())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(100)
        .reduce(lambda a, b: a + b)
        .key_by(lambda n: 0, Types.INT())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(20)))
        .reduce(lambda a, b: a * 1000 + b)
    )
