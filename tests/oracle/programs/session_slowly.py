"""Sessions fire one by one while event time passes."""

import time

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows

SLOWLY = True
ORDERED = True


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        values = [value[1] for value in elements]
        watermark = min(context.current_watermark(), 1000)
        yield f"{key} [{context.window().start}, {context.window().end}) {values} at {watermark}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    records = [("a", 1), ("b", 3), ("a", 5), ("a", 14), ("b", 30), ("a", 28), ("b", 33), ("a", 70)]
    slow = env.from_collection(records).map(wait).start_new_chain().set_parallelism(1)
    return (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: pair[0])
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        .process(Show())
        .set_parallelism(1)
    )
