"""The chain on Spry at parallelism 1, since a chain's rate is a rate per slot.

Timed by the job itself: from the start of its first epoch to its end, so without the start of Spark.
"""

from bench.program import parse, report
from bench.workloads.chain.steps import STEPS
from spry.common.accumulators import IntCounter
from spry.common.sink import WriterContext
from spry.datastream import RuntimeContext, StreamExecutionEnvironment
from spry.datastream.functions import SinkFunction


class Sum(SinkFunction[int]):
    """Counts and sums the records that arrive, as the loops do, and hands the sums in at the end."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = self.total = 0
        self.counters = IntCounter(), IntCounter()
        for name, counter in zip(("count", "total"), self.counters, strict=True):
            runtime_context.add_accumulator(name, counter)

    def invoke(self, value: int, context: WriterContext) -> None:
        self.count += 1
        self.total += value

    def finish(self) -> None:
        for counter, value in zip(self.counters, (self.count, self.total), strict=True):
            counter.add(value)


def main() -> None:
    options = parse(__doc__, records=10_000_000, steps=5)
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_sequence(0, options.records - 1)
    for kind, function in STEPS[: options.steps]:
        stream = stream.map(function) if kind == "map" else stream.filter(function)
    stream.add_sink(Sum())
    result = env.execute(f"chain-{options.steps}")
    report(
        options.records,
        result.get_net_runtime() / 1000,
        count=result.get_accumulator_result("count"),
        total=result.get_accumulator_result("total"),
    )


if __name__ == "__main__":
    main()
