"""Event-time windows on Bytewax: two worker processes (or `--workers`), each with its half of the sequence.

Timed from the first record that a source is asked for to the end of the dataflow.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.operators import windowing

from bench.bytewax_cluster import BATCH, Sink, Source, run
from bench.program import parse, report
from bench.workloads.windows.records import GAP, KEYS, WINDOW, half, session_time_of, time_of

START = datetime(1970, 1, 1, tzinfo=UTC)
Sums = tuple[int, int]


def main() -> None:
    options = parse(__doc__, records=400_000, workers=2, sessions=0)
    n = options.records
    each = half(n)
    when = session_time_of if options.sessions else time_of
    result = {"emitted": 0, "counted": 0, "total": 0}

    def sequence(worker: int, workers: int) -> Iterator[list[int]]:
        """One worker reads both halves side by side, two read one each."""
        parts = (0, each) if workers == 1 else (each * worker,)
        for base in range(0, each, BATCH):
            for part in parts:
                yield list(range(part + base, part + min(base + BATCH, each)))

    def write(items: list[tuple[str, tuple[int, Sums]]]) -> None:
        for _, (_, sums) in items:
            result["emitted"] += 1
            result["counted"] += sums[0]
            result["total"] += sums[1]

    flow = Dataflow("windows")
    records = op.map("map", op.input("sequence", flow, Source(sequence)), lambda i: (i % KEYS, i, when(i % each)))
    keyed = op.key_on("key", records, lambda record: str(record[0]))  # Bytewax's keys are strings
    clock: windowing.EventClock = windowing.EventClock(
        ts_getter=lambda record: START + timedelta(milliseconds=record[2]),
        # The batches of the two workers come one after the other: nothing is late within this time.
        wait_for_system_duration=timedelta(seconds=60),
    )
    windower: windowing.Windower = windowing.TumblingWindower(length=timedelta(milliseconds=WINDOW), align_to=START)
    if options.sessions:
        windower = windowing.SessionWindower(gap=timedelta(milliseconds=GAP))
    sums = windowing.fold_window(
        "total",
        keyed,
        clock,
        windower,
        builder=lambda: (0, 0),
        folder=lambda sums, record: (sums[0] + 1, sums[1] + record[1]),
        merger=lambda one, other: (one[0] + other[0], one[1] + other[1]),
    )
    op.output("sum", sums.down, Sink(write))

    seconds, summed = run(flow, options.workers, lambda: result)
    report(n, seconds, **summed)


if __name__ == "__main__":
    main()
