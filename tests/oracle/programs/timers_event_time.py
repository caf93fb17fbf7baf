"""Event-time timers fire in their order when the watermark passes them; at the end of the input all do."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction

ORDERED = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value * 7 % 11 + 100)

    def on_timer(self, timestamp, ctx):
        yield f"{timestamp} {ctx.get_current_key()} {ctx.timer_service().current_watermark()}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection(range(1, 9))
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .process(Remind())
    )
