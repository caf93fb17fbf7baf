"""State of a window, of every kind, from firing to firing."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from pyflink.datastream.window import CountTrigger, TumblingEventTimeWindows


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


VALUE = ValueStateDescriptor("value", Types.INT())
LIST = ListStateDescriptor("list", Types.INT())
MAP = MapStateDescriptor("map", Types.INT(), Types.INT())
REDUCING = ReducingStateDescriptor("reducing", max, Types.INT())
AGGREGATING = AggregatingStateDescriptor("aggregating", Count(), Types.INT())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        store = context.window_state()
        states = self.states(store)
        last = [stamp for _, stamp in elements][-1]
        value, listed, mapped, reducing, aggregating = states
        before = value.value()
        value.update(last)
        listed.add(last)
        mapped.put(last % 10, last)
        reducing.add(last)
        aggregating.add(last)
        yield (
            f"{key} {context.window().start} {before} {list(listed.get())} {sorted(mapped.items())} "
            f"{reducing.get()} {aggregating.get()}"
        )

    def clear(self, context):
        for state in self.states(context.window_state()):
            state.clear()

    @staticmethod
    def states(store):
        return (
            store.get_state(VALUE),
            store.get_list_state(LIST),
            store.get_map_state(MAP),
            store.get_reducing_state(REDUCING),
            store.get_aggregating_state(AGGREGATING),
        )


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    records = [("a", 1), ("b", 2), ("a", 13), ("a", 3), ("a", 12), ("b", 5), ("a", 4), ("b", 11), ("a", 0)]
    return (
        env.from_collection(records)
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .trigger(CountTrigger.of(1))
        .process(Show())
    )
