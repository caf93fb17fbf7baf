"""Late elements in windows over the whole stream."""

import time

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

SLOWLY = True
LATE = OutputTag("late", Types.INT())


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield f"{context.window().start} {list(elements)}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    records = env.from_collection([1, 10, 2, 14, 3, 25, 4], Types.INT())
    slow = records.map(wait, Types.INT()).start_new_chain().set_parallelism(1)
    shown = (
        slow.assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .allowed_lateness(5)
        .side_output_late_data(LATE)
        .process(Show(), Types.STRING())
    )
    return shown.union(shown.get_side_output(LATE).map(lambda n: f"late {n}", Types.STRING()))
