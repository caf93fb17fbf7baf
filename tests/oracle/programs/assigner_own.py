"""A window assigner of one's own: windows of different sizes for different elements, several per element."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import EventTimeTrigger, TimeWindow, TimeWindowSerializer, WindowAssigner


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class TwoSizes(WindowAssigner):
    def assign_windows(self, element, timestamp, context):
        sizes = (10, 100) if element[0] == "both" else (10,)
        return [TimeWindow(timestamp - timestamp % size, timestamp - timestamp % size + size) for size in sizes]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return (
        env.from_collection([("one", 1), ("both", 5), ("both", 23), ("one", 24), ("both", 110)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: 0)
        .window(TwoSizes())
        .apply(Show())
    )
