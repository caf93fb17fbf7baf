"""Event-time windows on PyFlink: a local cluster, Python functions inside the JVM (thread mode).

Two slots, each of which reads its half: a single reader would come to the second half when it is late already.

Timed from the first record to the moment when the last function is closed, so without the start of the JVM,
of the cluster and of Python inside it.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, MapFunction, ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

from bench.program import parse, report
from bench.workloads.windows.records import GAP, KEYS, WINDOW, Record, half, session_time_of, time_of

Sums = tuple[int, int]


def mark(directory: str) -> None:
    """Leave the time in a file: what runs inside the cluster has no other way to tell the client."""
    with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as file:
        file.write(repr(time.time()))


class ToRecord(MapFunction):
    def __init__(self, marks: str, records: int, sessions: bool) -> None:
        self.marks = marks
        self.half = half(records)
        self.when = session_time_of if sessions else time_of
        self.begun = False

    def map(self, value: int) -> Record:
        if not self.begun:
            self.begun = True
            mark(self.marks)
        return value % KEYS, value, self.when(value % self.half)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value: Record, record_timestamp: int) -> int:
        return value[2]


class Total(AggregateFunction):
    def create_accumulator(self) -> Sums:
        return 0, 0

    def add(self, value: Record, accumulator: Sums) -> Sums:
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator: Sums) -> Sums:
        return accumulator

    def merge(self, acc_a: Sums, acc_b: Sums) -> Sums:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Mark(ProcessFunction):
    """Passes on, and leaves the time at the end."""

    def __init__(self, marks: str) -> None:
        self.marks = marks

    def process_element(self, value: Sums, ctx: ProcessFunction.Context) -> Iterator[Sums]:
        yield value

    def close(self) -> None:
        mark(self.marks)


def main() -> None:
    options = parse(__doc__, records=400_000, sessions=0)
    n = options.records
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    windows = TumblingEventTimeWindows.of(Time.milliseconds(WINDOW))
    if options.sessions:
        windows = EventTimeSessionWindows.with_gap(Time.milliseconds(GAP))
    emitted = counted = total = 0
    with tempfile.TemporaryDirectory() as marks:
        results = (
            env.from_source(
                NumberSequenceSource(0, n - 1), WatermarkStrategy.no_watermarks(), "sequence", type_info=Types.LONG()
            )
            .map(ToRecord(marks, n, bool(options.sessions)), Types.TUPLE([Types.LONG()] * 3))
            .assign_timestamps_and_watermarks(
                WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
            )
            .key_by(lambda record: record[0], Types.LONG())
            .window(windows)
            .aggregate(Total(), accumulator_type=pair, output_type=pair)
            .process(Mark(marks), pair)
        )
        # PyFlink has no sinks written in Python: the results go to the client.
        with results.execute_and_collect("windows") as rows:
            for row in rows:
                emitted += 1
                counted += row[0]
                total += row[1]
        times = [float(path.read_text()) for path in Path(marks).iterdir()]
    report(n, max(times) - min(times), emitted=emitted, counted=counted, total=total)


if __name__ == "__main__":
    main()
