"""A timer for a time that the watermark has passed fires at the next watermark."""

import time

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction

SLOWLY = True
ORDERED = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value - 100)
        yield f"element {value}"

    def on_timer(self, timestamp, ctx):
        yield f"timer {timestamp} {ctx.timer_service().current_watermark()}"


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    slow = env.from_collection([10, 20, 15, 30]).map(wait).start_new_chain().set_parallelism(1)
    return slow.assign_timestamps_and_watermarks(strategy).set_parallelism(1).key_by(lambda n: 0).process(Remind())
