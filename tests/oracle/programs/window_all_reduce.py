"""Windows over the whole stream that reduce, plain and with a window function."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import AllWindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(AllWindowFunction):
    def apply(self, window, inputs):
        yield f"{window.start} {list(inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    timed = env.from_collection([1, 5, 9, 12, 35, 10, 31]).assign_timestamps_and_watermarks(strategy)
    size, slide = Time.milliseconds(10), Time.milliseconds(5)
    plain = timed.window_all(TumblingEventTimeWindows.of(size)).reduce(lambda a, b: a + b)
    shown = timed.window_all(SlidingEventTimeWindows.of(size, slide)).reduce(lambda a, b: a + b, Show())
    return plain.map(lambda n: f"sum {n}").union(shown.map(lambda line: f"at {line}"))
