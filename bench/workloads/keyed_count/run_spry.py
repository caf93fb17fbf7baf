"""keyed-count on Spry: two slots, keyed state on the heap.

Timed by the job itself: from the start of its first epoch to its end, so without the start of Spark.
"""

from collections.abc import Iterator

from bench.program import parse, report
from spry.common import Types
from spry.common.accumulators import IntCounter
from spry.common.sink import WriterContext
from spry.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from spry.datastream.functions import SinkFunction
from spry.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    """Emits (key, how many records of this key so far) for every record."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


class Sum(SinkFunction[tuple[int, int]]):
    """Counts the records that arrive and sums their counts."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.emitted = IntCounter()
        self.total = IntCounter()
        runtime_context.add_accumulator("emitted", self.emitted)
        runtime_context.add_accumulator("total", self.total)

    def invoke(self, value: tuple[int, int], context: WriterContext) -> None:
        self.emitted.add(1)
        self.total.add(value[1])


def main() -> None:
    n = parse(__doc__, records=20_000_000).records
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    (
        env.from_sequence(0, n - 1)
        .map(lambda i: (i % 1000, i))
        .key_by(lambda record: record[0])
        .process(Count())
        .filter(lambda record: record[1] % 100 == 0)
        .add_sink(Sum())
    )
    result = env.execute("keyed-count")
    report(
        n,
        result.get_net_runtime() / 1000,
        emitted=result.get_accumulator_result("emitted"),
        total=result.get_accumulator_result("total"),
    )


if __name__ == "__main__":
    main()
