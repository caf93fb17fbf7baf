"""State of a window (for each of its firings) and of a key (for all of its windows); clear() at a window's end."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import CountTrigger, TumblingEventTimeWindows

OF_WINDOW = ValueStateDescriptor("of window", Types.INT())
OF_KEY = ValueStateDescriptor("of key", Types.INT())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        of_window = context.window_state().get_state(OF_WINDOW)
        of_key = context.global_state().get_state(OF_KEY)
        of_window.update((of_window.value() or 0) + 1)
        of_key.update((of_key.value() or 0) + 1)
        yield f"{key} {context.window().start} {len(list(elements))} {of_window.value()} {of_key.value()}"

    def clear(self, context):
        context.window_state().get_state(OF_WINDOW).clear()


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    records = [("a", 1), ("b", 2), ("a", 3), ("a", 12), ("a", 5), ("a", 13), ("b", 19), ("a", 7), ("b", 3)]
    return (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .trigger(CountTrigger.of(2))
        .process(Show())
    )
