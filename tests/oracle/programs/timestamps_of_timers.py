"""What a timer emits has the timer's timestamp.

PyFlink tells the next process function the timestamp of the last element: 2.
"""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction

RULES = ["element 1 1", "element 2 2", "timer 101 101", "timer 102 102"]


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value + 100)
        yield f"element {value}"

    def on_timer(self, timestamp, ctx):
        yield f"timer {ctx.timestamp()}"


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {ctx.timestamp()}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 2])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .process(Remind())
        .process(Show())
    )
