"""Sessions have no state of their own, but that of their key."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ReducingStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows

LONGEST = ReducingStateDescriptor("longest", max, Types.LONG())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        longest = context.global_state().get_reducing_state(LONGEST)
        before = longest.get()
        longest.add(window.end - window.start)
        yield f"{key} {window.start} {len(list(elements))} {before} {longest.get()}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    records = [("a", 1), ("b", 4), ("a", 30), ("a", 5), ("a", 9), ("b", 20), ("b", 26), ("a", 100), ("a", 34)]
    return (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: pair[0])
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        .process(Show())
    )
