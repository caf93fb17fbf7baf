"""Late elements go on with the accumulator that the window has."""

import time

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

SLOWLY = True
ORDERED = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Collect(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator):
        return list(accumulator)

    def merge(self, a, b):
        return a + b


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{context.window().start} {list(elements)}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    slow = env.from_collection([1, 10, 2, 14, 3, 100, 4]).map(wait).start_new_chain().set_parallelism(1)
    return (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(50)
        .aggregate(Collect(), Show())
    )
