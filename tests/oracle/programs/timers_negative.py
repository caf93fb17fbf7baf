"""Timers before 1970."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction

ORDERED = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(-value)

    def on_timer(self, timestamp, ctx):
        yield timestamp


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([5, 2000, 0, 77])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .process(Remind())
    )
