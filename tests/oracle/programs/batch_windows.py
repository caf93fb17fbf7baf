"""Batch mode: windows of each key, nothing is late whatever the order."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeExecutionMode, WindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} [{window.start}, {window.end}) {sorted(value[1] for value in inputs)}"


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    records = [("a", 35), ("b", 9), ("a", 0), ("a", 19), ("b", 35), ("a", 9), ("a", 10)]
    keyed = env.from_collection(records).assign_timestamps_and_watermarks(strategy).key_by(lambda pair: pair[0])
    return (
        keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .apply(Show())
        .union(keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(12))).apply(Show()))
    )
