"""keyed-count on PyFlink: a local cluster, Python functions inside the JVM (thread mode).

Two slots, or `--workers`: the subtasks of one JVM share one interpreter lock, so that one slot can be faster.

Timed from the first record to the moment when the last function is closed, so without the start of the JVM,
of the cluster and of Python inside it.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import (
    KeyedProcessFunction,
    MapFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import ValueStateDescriptor

from bench.program import parse, report


def mark(directory: str) -> None:
    """Leave the time in a file: what runs inside the cluster has no other way to tell the client."""
    with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as file:
        file.write(repr(time.time()))


class ToRecord(MapFunction):
    def __init__(self, marks: str) -> None:
        self.marks = marks
        self.begun = False

    def map(self, value: int) -> tuple[int, int]:
        if not self.begun:
            self.begun = True
            mark(self.marks)
        return value % 1000, value


class Count(KeyedProcessFunction):
    def __init__(self, marks: str) -> None:
        self.marks = marks

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count

    def close(self) -> None:
        mark(self.marks)


def main() -> None:
    options = parse(__doc__, records=400_000, workers=2)
    n = options.records
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(options.workers)
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    emitted = total = 0
    with tempfile.TemporaryDirectory() as marks:
        results = (
            env.from_source(
                NumberSequenceSource(0, n - 1),
                WatermarkStrategy.no_watermarks(),
                "sequence",
                type_info=Types.LONG(),
            )
            .map(ToRecord(marks), pair)
            .key_by(lambda record: record[0], Types.LONG())
            .process(Count(marks), pair)
            .filter(lambda record: record[1] % 100 == 0)
        )
        # PyFlink has no sinks written in Python: the few records that pass the filter go to the client.
        with results.execute_and_collect("keyed-count") as rows:
            for _, count in rows:
                emitted += 1
                total += count
        times = [float(path.read_text()) for path in Path(marks).iterdir()]
    report(n, max(times) - min(times), emitted=emitted, total=total)


if __name__ == "__main__":
    main()
