"""What is too late goes to the side output for late data, as it was."""

import time

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag
from pyflink.datastream.window import TumblingEventTimeWindows

SLOWLY = True
LATE = OutputTag("late", Types.INT())


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    records = env.from_collection([1, 12, 3, 25, 4, 15, 30], Types.INT())
    slow = records.map(wait, Types.INT()).start_new_chain().set_parallelism(1)
    sums = (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0, Types.INT())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .side_output_late_data(LATE)
        .reduce(lambda a, b: a + b)
    )
    late = sums.get_side_output(LATE)
    return sums.map(lambda n: f"sum {n}", Types.STRING()).union(late.map(lambda n: f"late {n}", Types.STRING()))
