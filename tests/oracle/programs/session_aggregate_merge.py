"""Sessions that aggregate: merged sessions merge their accumulators; a process function sees the result.

PyFlink fails: it adds the result of one session to the accumulator of the other, as if it were an element.
"""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import EventTimeSessionWindows

RULES = [
    "a TimeWindow(start=0, end=28) ['[0, 9, 18]']",
    "a TimeWindow(start=33, end=50) ['[33, 40]']",
    "b TimeWindow(start=35, end=60) ['[35, 42, 50]']",
]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Values(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value[1]]

    def get_result(self, accumulator):
        return str(sorted(accumulator))

    def merge(self, a, b):
        return a + b


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {context.window()} {list(elements)}"


def define(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 0), ("a", 18), ("b", 50), ("a", 40), ("a", 9), ("a", 33), ("b", 35), ("b", 42)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        .aggregate(Values(), window_function=Show(), output_type=Types.STRING())
    )
