"""A merging assigner of one's own: sessions that an element can end at once."""

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import EventTimeTrigger, MergingWindowAssigner, TimeWindow, TimeWindowSerializer


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Visits(MergingWindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + (1 if element[0] == "bye" else 10))]

    def merge_windows(self, windows, callback):
        group = []
        for window in sorted(windows, key=lambda w: w.start):
            if group and window.start >= max(w.end for w in group):
                self.merge(group, callback)
                group = []
            group.append(window)
        self.merge(group, callback)

    @staticmethod
    def merge(group, callback):
        if len(group) > 1:
            last = max(group, key=lambda w: w.start)
            callback.merge(group, TimeWindow(group[0].start, last.end))

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
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    return (
        env.from_collection([("hi", 1), ("more", 8), ("bye", 9), ("hi", 12), ("more", 30), ("more", 21)])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: 0)
        .window(Visits())
        .apply(Show())
    )
