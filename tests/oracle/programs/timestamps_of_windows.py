"""The results of a window have its last millisecond as their timestamp.

PyFlink tells the next process function the timestamp of the last element: 25.
"""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction
from pyflink.datastream.window import TumblingEventTimeWindows

RULES = ["4 9", "12 19", "25 29"]


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {ctx.timestamp()}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 3, 12, 25])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .reduce(lambda a, b: a + b)
        .process(Show())
    )
