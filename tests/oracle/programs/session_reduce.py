"""Sessions that reduce: what merged sessions had reduced is reduced further.

PyFlink loses what one of the two sessions of "b" had, and gives 92.
"""

from pyflink.common import Duration, Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import EventTimeSessionWindows

RULES = ["('a', 27)", "('a', 73)", "('b', 127)"]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def define(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 0), ("a", 18), ("b", 50), ("a", 40), ("a", 9), ("a", 33), ("b", 35), ("b", 42)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
