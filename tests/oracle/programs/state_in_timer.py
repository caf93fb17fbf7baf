"""State is shared between process_element and on_timer, and each timer sees its own key's."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Batches(KeyedProcessFunction):
    """Ten ms after the first record of a batch, it gives all of it."""

    def open(self, runtime_context):
        self.batch = runtime_context.get_list_state(ListStateDescriptor("batch", Types.INT()))
        self.due = runtime_context.get_state(ValueStateDescriptor("due", Types.LONG()))
        self.sizes = runtime_context.get_map_state(MapStateDescriptor("sizes", Types.LONG(), Types.INT()))

    def process_element(self, value, ctx):
        if self.due.value() is None:
            self.due.update(value[1] + 10)
            ctx.timer_service().register_event_time_timer(value[1] + 10)
        self.batch.add(value[1])

    def on_timer(self, timestamp, ctx):
        batch = sorted(self.batch.get())
        self.sizes.put(timestamp, len(batch))
        yield f"{ctx.get_current_key()} {timestamp} {self.due.value()} {batch} {sorted(self.sizes.items())}"
        self.batch.clear()
        self.due.clear()


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    return (
        env.from_collection([("a", 1), ("b", 3), ("a", 5), ("a", 30), ("b", 9), ("c", 2)])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda r: r[0], Types.STRING())
        .process(Batches())
    )
