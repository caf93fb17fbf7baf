"""A process window function with a side output."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

FEW = OutputTag("few", Types.STRING())


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        line = f"{context.window().start} {sorted(elements)}"
        if len(list(elements)) < 2:
            yield FEW, line
        else:
            yield line


def define(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    many = (
        env.from_collection([1, 3, 12, 25, 26])
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .process(Show(), Types.STRING())
    )
    few = many.get_side_output(FEW)
    return many.map(lambda line: f"many {line}", Types.STRING()).union(
        few.map(lambda line: f"few {line}", Types.STRING())
    )
