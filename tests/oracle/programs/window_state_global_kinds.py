"""State of a key that all of its windows share: list and map."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

SIZES = ListStateDescriptor("sizes", Types.INT())
BY_START = MapStateDescriptor("by start", Types.LONG(), Types.INT())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        sizes = context.global_state().get_list_state(SIZES)
        by_start = context.global_state().get_map_state(BY_START)
        size = len(list(elements))
        sizes.add(size)
        by_start.put(context.window().start, size)
        yield f"{key} {list(sizes.get())} {sorted(by_start.items())}"

    def clear(self, context):
        if context.window().start >= 20:
            context.global_state().get_list_state(SIZES).clear()


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    records = [("ab"[n % 2 if n < 20 else 0], n * 2) for n in range(25)]
    return (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .process(Show())
    )
