"""A slide longer than the size: elements between windows are in none, and are not late either."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, WindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows

LATE = OutputTag("late", Types.INT())


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    result = (
        env.from_collection([0, 3, 5, 9, 10, 14, 16], Types.INT())
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(SlidingEventTimeWindows.of(Time.milliseconds(4), Time.milliseconds(10)))
        .side_output_late_data(LATE)
        .apply(Show(), Types.STRING())
    )
    return result.union(result.get_side_output(LATE).map(lambda n: f"late {n}", Types.STRING()))
