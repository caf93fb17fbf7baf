"""Timers that are deleted do not fire; deleting one that is not there does nothing."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_event_time_timer(100 + value[1])
        timers.register_event_time_timer(200 + value[1])
        timers.delete_event_time_timer(100 + value[1])
        timers.delete_event_time_timer(777)
        if value[1] == 2:
            timers.delete_event_time_timer(201)

    def on_timer(self, timestamp, ctx):
        yield f"{ctx.get_current_key()} {timestamp}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 1), ("a", 2), ("b", 1), ("b", 3)])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: pair[0])
        .process(Remind())
    )
