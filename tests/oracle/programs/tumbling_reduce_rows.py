"""Rows that a window reduces have the names of their type.

PyFlink fails: it keeps the row that the function gave as it is, without names, and gives it to the function again.
"""

from pyflink.common import Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import TumblingEventTimeWindows

RULES = ["Row(key='a', time=13)", "Row(key='b', time=9)"]


class ByTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["time"]


def define(env):
    kind = Types.ROW_NAMED(["key", "time"], [Types.STRING(), Types.INT()])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByTime())
    return (
        env.from_collection([Row("a", 0), Row("a", 9), Row("b", 9), Row("a", 4)], kind)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda row: row["key"])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda a, b: Row(a["key"], a["time"] + b["time"]))
    )
