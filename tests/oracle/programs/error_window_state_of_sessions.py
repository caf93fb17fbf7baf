"""Windows that merge have no state of their own."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows

FAILS = "merg"


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Count(ProcessWindowFunction):
    def process(self, key, context, elements):
        context.window_state().get_state(ValueStateDescriptor("count", Types.INT())).update(1)
        yield key


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 3])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        .process(Count())
    )
