"""A keyed process function with a side output, from elements and from timers."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag

FIRED = OutputTag("fired", Types.STRING())


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 10)
        yield f"seen {value}"

    def on_timer(self, timestamp, ctx):
        yield FIRED, f"fired {ctx.get_current_key()} {timestamp}"


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
    main = (
        env.from_collection([("a", 1), ("b", 2), ("a", 3)])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda pair: pair[0])
        .process(Remind(), Types.STRING())
    )
    return main.union(main.get_side_output(FIRED))
