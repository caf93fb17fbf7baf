"""An event-time trigger on global windows fires when the input ends.

PyFlink never fires event-time timers of global windows.
"""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.window import EventTimeTrigger, GlobalWindows

RULES = ["4", "2"]


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 2, 3])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: n % 2)
        .window(GlobalWindows.create())
        .trigger(EventTimeTrigger.create())
        .reduce(lambda a, b: a + b)
    )
