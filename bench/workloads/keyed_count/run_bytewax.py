"""keyed-count on Bytewax: two worker processes (or `--workers`), each with its share of the sequence.

Timed from the first record that a source is asked for to the end of the dataflow.
"""

from collections.abc import Iterator

import bytewax.operators as op
from bytewax.dataflow import Dataflow

from bench.bytewax_cluster import BATCH, Sink, Source, run
from bench.program import parse, report


def count(state: int | None, _record: tuple[int, int]) -> tuple[int, int]:
    counted = (state or 0) + 1
    return counted, counted


def main() -> None:
    options = parse(__doc__, records=4_000_000, workers=2)
    n = options.records
    result = {"emitted": 0, "total": 0}

    def sequence(worker: int, workers: int) -> Iterator[list[int]]:
        end = n * (worker + 1) // workers
        for start in range(n * worker // workers, end, BATCH):
            yield list(range(start, min(start + BATCH, end)))

    def write(items: list[tuple[str, int]]) -> None:
        result["emitted"] += len(items)
        result["total"] += sum(counted for _, counted in items)

    flow = Dataflow("keyed_count")
    records = op.map("map", op.input("sequence", flow, Source(sequence)), lambda i: (i % 1000, i))
    keyed = op.key_on("key", records, lambda record: str(record[0]))  # Bytewax's keys are strings
    counts = op.stateful_map("count", keyed, count)
    hundredths = op.filter("filter", counts, lambda record: record[1] % 100 == 0)
    op.output("sum", hundredths, Sink(write))

    seconds, summed = run(flow, options.workers, lambda: result)
    report(n, seconds, **summed)


if __name__ == "__main__":
    main()
