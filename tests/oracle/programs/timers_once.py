"""A timer that is registered several times for one key and time fires once."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(50)
        ctx.timer_service().register_event_time_timer(value[1] // 10 * 10 + 10)

    def on_timer(self, timestamp, ctx):
        yield f"{ctx.get_current_key()} {timestamp}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 1), ("a", 2), ("b", 3), ("a", 14), ("a", 1)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .process(Remind())
    )
