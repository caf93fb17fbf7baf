"""After a union the watermark is the smaller one; an input that has ended holds nobody back."""

import time

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

SLOWLY = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{context.window()} {sorted(elements)}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    first = env.from_collection([1, 100, 200]).assign_timestamps_and_watermarks(strategy)
    slow = env.from_collection([2, 12, 5, 110]).map(wait).start_new_chain().set_parallelism(1)
    second = slow.assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    return (
        first.union(second)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(1000)
        .process(Show())
        .map(lambda line: line.split(") ")[1])
        .filter(lambda line: line in ("[12]", "[100]", "[110]", "[200]"))
    )
