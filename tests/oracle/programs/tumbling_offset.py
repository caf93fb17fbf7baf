"""Windows that do not begin at zero; an offset may be negative."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(WindowFunction):
    def __init__(self, name):
        self.name = name

    def apply(self, key, window, inputs):
        yield f"{self.name} [{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    keyed = (
        env.from_collection([-9, -1, 0, 2, 3, 7, 12, 13, 20])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
    )
    size = Time.milliseconds(10)
    later = keyed.window(TumblingEventTimeWindows.of(size, Time.milliseconds(3))).apply(Show("+3"))
    earlier = keyed.window(TumblingEventTimeWindows.of(size, Time.milliseconds(-4))).apply(Show("-4"))
    return later.union(earlier)
