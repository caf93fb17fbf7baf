"""Event-time windows on Spry: two slots.

Timed by the job itself: from the start of its first epoch to its end, so without the start of Spark.
"""

from bench.program import parse, report
from bench.workloads.windows.records import GAP, KEYS, WINDOW, Record, half, session_time_of, time_of
from spry.common import Time, WatermarkStrategy
from spry.common.accumulators import IntCounter
from spry.common.sink import WriterContext
from spry.datastream import AggregateFunction, RuntimeContext, StreamExecutionEnvironment
from spry.datastream.functions import SinkFunction
from spry.datastream.window import EventTimeSessionWindows, TimeWindow, TumblingEventTimeWindows, WindowAssigner

Sums = tuple[int, int]


class Total(AggregateFunction):
    """How many records, and the sum of their numbers."""

    def create_accumulator(self) -> Sums:
        return 0, 0

    def add(self, value: Record, accumulator: Sums) -> Sums:
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator: Sums) -> Sums:
        return accumulator

    def merge(self, acc_a: Sums, acc_b: Sums) -> Sums:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Sum(SinkFunction[Sums]):
    """Counts the results that arrive and sums them."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.parts = {name: IntCounter() for name in ("emitted", "counted", "total")}
        for name, part in self.parts.items():
            runtime_context.add_accumulator(name, part)

    def invoke(self, value: Sums, context: WriterContext) -> None:
        self.parts["emitted"].add(1)
        self.parts["counted"].add(value[0])
        self.parts["total"].add(value[1])


def main() -> None:
    options = parse(__doc__, records=10_000_000, sessions=0)
    n = options.records
    each = half(n)
    when = session_time_of if options.sessions else time_of
    windows: WindowAssigner[Record, TimeWindow] = TumblingEventTimeWindows.of(Time.milliseconds(WINDOW))
    if options.sessions:
        windows = EventTimeSessionWindows.with_gap(Time.milliseconds(GAP))
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    (
        env.from_sequence(0, n - 1)
        .map(lambda i: (i % KEYS, i, when(i % each)))
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda record, _: record[2])
        )
        .key_by(lambda record: record[0])
        .window(windows)
        .aggregate(Total())
        .add_sink(Sum())
    )
    result = env.execute("windows")
    report(
        n,
        result.get_net_runtime() / 1000,
        **{name: result.get_accumulator_result(name) for name in ("emitted", "counted", "total")},
    )


if __name__ == "__main__":
    main()
