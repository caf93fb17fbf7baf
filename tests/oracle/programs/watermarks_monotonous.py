"""Watermarks follow 1 ms behind the highest timestamp, and never go back."""

import time

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction

SLOWLY = True
ORDERED = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {ctx.timer_service().current_watermark()}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    slow = env.from_collection([10, 20, 15, 30, 30]).map(wait).start_new_chain().set_parallelism(1)
    timed = slow.assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    return timed.process(Show()).set_parallelism(1)
