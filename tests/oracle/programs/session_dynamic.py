"""Each element says how long a pause ends its session."""

from pyflink.common import Duration, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Third(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} [{window.start}, {window.end}) {sorted(value[1] for value in inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Second())
    records = [("a", 0, 5), ("a", 7, 3), ("a", 20, 50), ("a", 60, 1), ("b", 0, 100), ("b", 30, 1), ("a", 4, 4)]
    return (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda record: record[0])
        .window(EventTimeSessionWindows.with_dynamic_gap(Third()))
        .apply(Show())
    )
