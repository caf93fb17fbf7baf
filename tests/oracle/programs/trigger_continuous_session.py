"""A continuous trigger on sessions, whose next firing merges with them.

PyFlink fails: its trigger cannot merge the state that it keeps.
"""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import ContinuousEventTimeTrigger, EventTimeSessionWindows

RULES = 4 * ["[1, 20) [1, 6, 12]"] + 2 * ["[40, 48) [40]"]


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 12, 6, 40])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(8)))
        .trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(5)))
        .apply(Show())
    )
