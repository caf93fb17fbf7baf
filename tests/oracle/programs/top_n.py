"""The most viewed pages of each window: counts per page and window, ranked when the window has ended."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, WindowFunction
from pyflink.datastream.state import ListStateDescriptor
from pyflink.datastream.window import SlidingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class WithWindow(WindowFunction):
    def apply(self, key, window, inputs):
        for count in inputs:
            yield window.end, key, count


class Top(KeyedProcessFunction):
    def open(self, runtime_context):
        kind = Types.TUPLE([Types.STRING(), Types.INT()])
        self.counts = runtime_context.get_list_state(ListStateDescriptor("counts", kind))

    def process_element(self, value, ctx):
        self.counts.add((value[1], value[2]))
        ctx.timer_service().register_event_time_timer(value[0])

    def on_timer(self, timestamp, ctx):
        ranked = sorted(self.counts.get(), key=lambda pair: (-pair[1], pair[0]))
        self.counts.clear()
        yield f"{timestamp}: {ranked[:2]}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    views = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 7), ("b", 8), ("c", 11), ("c", 12), ("a", 14), ("c", 19)]
    windows = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    return (
        env.from_collection(views)
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda view: view[0], Types.STRING())
        .window(windows)
        .aggregate(Count(), WithWindow())
        .key_by(lambda result: result[0], Types.LONG())
        .process(Top())
    )
