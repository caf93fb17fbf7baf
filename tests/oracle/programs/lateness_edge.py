"""A window is forgotten when the watermark reaches its last millisecond plus the lateness, not one before."""

import time

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

SLOWLY = True
ORDERED = True


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {[name for name, _ in inputs]}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    # The watermark is 1 less than the timestamp: 9 + 4 = 13 is reached by 14.
    records = [("first", 9), ("wm 9", 10), ("wm 12", 13), ("in time", 0), ("wm 13", 14), ("too late", 0)]
    slow = env.from_collection(records).map(wait).start_new_chain().set_parallelism(1)
    return (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(4)
        .apply(Show())
    )
