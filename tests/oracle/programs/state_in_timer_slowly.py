"""A timer empties the state that records fill while the stream goes on."""

import time

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ReducingStateDescriptor, ValueStateDescriptor

SLOWLY = True
ORDERED = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Sums(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()))
        self.due = runtime_context.get_state(ValueStateDescriptor("due", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.add(value)
        if self.due.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.due.value())
        self.due.update(value + 4)
        ctx.timer_service().register_event_time_timer(value + 4)
        yield f"{value} {self.sum.get()}"

    def on_timer(self, timestamp, ctx):
        yield f"timer {timestamp} {self.sum.get()}"
        self.sum.clear()
        self.due.clear()


def wait(record):
    time.sleep(0.1)
    return record


def define(env):
    env.get_config().set_auto_watermark_interval(5)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    slow = env.from_collection([1, 3, 6, 12, 14, 25, 26]).map(wait).start_new_chain().set_parallelism(1)
    return slow.assign_timestamps_and_watermarks(strategy).set_parallelism(1).key_by(lambda n: 0).process(Sums())
