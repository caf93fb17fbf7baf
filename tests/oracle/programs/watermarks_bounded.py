"""Watermarks keep their distance from the highest timestamp."""

import time

from pyflink.common import Duration, WatermarkStrategy
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
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(7)).with_timestamp_assigner(Self())
    slow = env.from_collection([-5, 20, 12, 30, 21]).map(wait).start_new_chain().set_parallelism(1)
    timed = slow.assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    return timed.process(Show()).set_parallelism(1)
