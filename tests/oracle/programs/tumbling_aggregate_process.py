"""Aggregated as elements come; a process window function then sees the one result."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return f"<{accumulator}>"

    def merge(self, a, b):
        return a + b


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {context.window()} {list(elements)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 0), ("a", 9), ("b", 9), ("a", 10), ("b", 35), ("a", 19), ("a", 20)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .aggregate(Count(), window_function=Show(), accumulator_type=Types.INT(), output_type=Types.STRING())
    )
