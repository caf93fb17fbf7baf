"""on_timer is told which time it is called for."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, TimeDomain


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value)

    def on_timer(self, timestamp, ctx):
        yield f"{timestamp} {ctx.time_domain() == TimeDomain.EVENT_TIME} {ctx.timestamp()}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return env.from_collection([1, 2]).assign_timestamps_and_watermarks(strategy).key_by(lambda n: 0).process(Remind())
