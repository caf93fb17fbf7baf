"""word-count on Spry: two slots, keyed state on the heap.

Timed by the job itself: from the start of its first epoch to its end, so without the start of Spark.
"""

from collections.abc import Iterator

from bench.program import parse, report
from bench.workloads.word_count.words import checksum
from spry.common import Types
from spry.common.accumulators import IntCounter
from spry.common.sink import WriterContext
from spry.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from spry.datastream.functions import SinkFunction
from spry.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    """Emits (word, how often so far) for every word."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> Iterator[tuple[str, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count


class Last(SinkFunction[tuple[str, int]]):
    """Keeps the last count of every word, and hands in their checksum at the end."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last: dict[str, int] = {}
        self.counters = {name: IntCounter() for name in checksum({})}
        for name, counter in self.counters.items():
            runtime_context.add_accumulator(name, counter)

    def invoke(self, value: tuple[str, int], context: WriterContext) -> None:
        self.last[value[0]] = value[1]

    def close(self) -> None:
        for name, number in checksum(self.last).items():
            self.counters[name].add(number)


def main() -> None:
    path = parse(__doc__, records=0).data
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    (
        env.read_text_file(path)
        .flat_map(lambda line: line.split())
        .key_by(lambda word: word)
        .process(Count())
        .add_sink(Last())
    )
    result = env.execute("word-count")
    final = {name: result.get_accumulator_result(name) for name in checksum({})}
    report(final["words"], result.get_net_runtime() / 1000, **final)


if __name__ == "__main__":
    main()
