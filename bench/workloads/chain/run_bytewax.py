"""The chain on Bytewax: one worker, since a chain's rate is a rate per worker.

Timed from the first record that the source is asked for to the end of the dataflow.
"""

from collections.abc import Iterator

import bytewax.operators as op
from bytewax.dataflow import Dataflow

from bench.bytewax_cluster import BATCH, Sink, Source, run
from bench.program import parse, report
from bench.workloads.chain.steps import STEPS


def main() -> None:
    options = parse(__doc__, records=2_000_000, steps=5)
    n = options.records
    result = {"count": 0, "total": 0}

    def sequence(worker: int, workers: int) -> Iterator[list[int]]:
        for start in range(0, n, BATCH):
            yield list(range(start, min(start + BATCH, n)))

    def write(items: list[int]) -> None:
        result["count"] += len(items)
        result["total"] += sum(items)

    flow = Dataflow("chain")
    stream = op.input("sequence", flow, Source(sequence))
    for index, (kind, function) in enumerate(STEPS[: options.steps]):
        apply = op.map if kind == "map" else op.filter
        stream = apply(f"step_{index}", stream, function)
    op.output("sum", stream, Sink(write))

    seconds, summed = run(flow, 1, lambda: result)
    report(n, seconds, **summed)


if __name__ == "__main__":
    main()
