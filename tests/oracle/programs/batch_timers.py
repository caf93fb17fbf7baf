"""Batch mode: the elements of a key come in the order of their timestamps; its timers fire after them."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode
from pyflink.datastream.state import ValueStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Remind(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.STRING()))

    def process_element(self, value, ctx):
        self.seen.update((self.seen.value() or "") + f" {value[1]}")
        ctx.timer_service().register_event_time_timer(value[1] + 10)

    def on_timer(self, timestamp, ctx):
        yield f"{ctx.get_current_key()} {timestamp}{self.seen.value()}"


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    records = [("a", 30), ("b", 9), ("a", 5), ("b", 1), ("a", 12)]
    return (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0], Types.STRING())
        .process(Remind())
    )
