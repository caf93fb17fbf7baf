"""word-count on Bytewax: two worker processes (or `--workers`), each with its share of the file.

Timed from the first line that a source is asked for to the end of the dataflow.
"""

import os
from collections.abc import Iterator

import bytewax.operators as op
from bytewax.dataflow import Dataflow

from bench.bytewax_cluster import BATCH, Sink, Source, run
from bench.program import parse, report
from bench.workloads.word_count.words import WORDS_PER_LINE, checksum

LINES = BATCH // WORDS_PER_LINE


def count(state: int | None, _word: str) -> tuple[int, int]:
    counted = (state or 0) + 1
    return counted, counted


def main() -> None:
    options = parse(__doc__, records=0, workers=2)
    path = options.data
    last: dict[str, int] = {}

    def lines(worker: int, workers: int) -> Iterator[list[str]]:
        """This worker's share: the lines that begin in its range of bytes."""
        size = os.path.getsize(path)
        start, end = size * worker // workers, size * (worker + 1) // workers
        with open(path, "rb") as text:
            if start:
                text.seek(start - 1)
                text.readline()
            batch: list[str] = []
            while text.tell() < end and (line := text.readline()):
                batch.append(line.decode())
                if len(batch) == LINES:
                    yield batch
                    batch = []
            yield batch

    def write(items: list[tuple[str, int]]) -> None:
        for word, counted in items:
            last[word] = counted

    flow = Dataflow("word_count")
    words = op.flat_map("split", op.input("lines", flow, Source(lines)), str.split)
    counts = op.stateful_map("count", op.key_on("key", words, lambda word: word), count)
    op.output("last", counts, Sink(write))

    seconds, summed = run(flow, options.workers, lambda: checksum(last))
    report(summed["words"], seconds, **summed)


if __name__ == "__main__":
    main()
