"""Sessions with a purging count trigger: what has fired is gone when the session grows on."""

from pyflink.common import Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import CountTrigger, EventTimeSessionWindows, PurgingTrigger


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 2, 3, 20, 21, 12, 10, 4])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(6)))
        .trigger(PurgingTrigger.of(CountTrigger.of(2)))
        .apply(Show())
    )
