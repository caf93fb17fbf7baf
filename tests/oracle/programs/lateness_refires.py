"""Allowed lateness: each late element fires its window again, until the watermark is too far ahead."""

import time

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

SLOWLY = True
LATE = OutputTag("late", Types.INT())


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {list(inputs)}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    records = env.from_collection([1, 10, 2, 14, 3, 15, 4, 25, 5, 13], Types.INT())
    slow = records.map(wait, Types.INT()).start_new_chain().set_parallelism(1)
    shown = (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0, Types.INT())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(5)
        .side_output_late_data(LATE)
        .apply(Show(), Types.STRING())
    )
    return shown.union(shown.get_side_output(LATE).map(lambda n: f"late {n}", Types.STRING()))
