"""A trigger of one's own for sessions whose states, a list and an aggregate, are merged when sessions are.

PyFlink fails: it takes a result for an accumulator.
"""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, WindowFunction
from pyflink.datastream.state import AggregatingStateDescriptor, ListStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, Trigger, TriggerResult

RULES = ["[1, 29) [1, 2, 3, 10, 15, 20, 21]", "[40, 49) [40, 41]", "[53, 74) [53, 60, 61, 62, 66]"]


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Enough(Trigger):
    """Fires at a session's end if its elements sum up to enough, and differ."""

    def __init__(self, total):
        self.enough = total
        self.total = AggregatingStateDescriptor("total", Total(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        self.seen = ListStateDescriptor("seen", Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.get_partitioned_state(self.total).add(element)
        ctx.get_partitioned_state(self.seen).add(element)
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        seen = list(ctx.get_partitioned_state(self.seen).get())
        total = ctx.get_partitioned_state(self.total).get()
        different = len(set(seen)) == len(seen)
        return TriggerResult.FIRE if different and total >= self.enough else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.total)
        ctx.merge_partitioned_state(self.seen)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.total).clear()
        ctx.get_partitioned_state(self.seen).clear()


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start}, {window.end}) {sorted(inputs)}"


def define(env):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Self())
    return (
        env.from_collection([1, 20, 2, 21, 10, 15, 40, 41, 60, 61, 62, 66, 53, 90, 90, 3])
        .assign_timestamps_and_watermarks(strategy)
        .set_parallelism(1)
        .key_by(lambda n: 0)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(8)))
        .trigger(Enough(50))
        .apply(Show())
    )
