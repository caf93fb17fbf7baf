"""An exception in on_timer."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction

FAILS = "woken at 7"


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Fail(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(7)

    def on_timer(self, timestamp, ctx):
        raise RuntimeError(f"woken at {timestamp}")


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return env.from_collection([1, 3]).assign_timestamps_and_watermarks(strategy).key_by(lambda n: 0).process(Fail())
