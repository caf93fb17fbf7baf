"""A timer sees the state of its key: results per key when it has been quiet for a while."""

import time

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

SLOWLY = True


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Quiet(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.last.update(ctx.timestamp())
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)

    def on_timer(self, timestamp, ctx):
        if timestamp == self.last.value() + 10:
            yield f"{ctx.get_current_key()} {timestamp} {self.count.value()}"
            self.count.clear()


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    records = [("a", 1), ("b", 3), ("a", 9), ("a", 15), ("c", 30), ("b", 31), ("b", 35), ("a", 60)]
    slow = env.from_collection(records).map(wait).start_new_chain().set_parallelism(1)
    return (
        slow.assign_timestamps_and_watermarks(strategy).set_parallelism(1).key_by(lambda pair: pair[0]).process(Quiet())
    )
