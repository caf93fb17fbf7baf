"""keyed-count as a Python loop that calls the user's functions, one by one, for every record."""

import time
from collections.abc import Iterator

from bench.program import parse, report


def to_record(i: int) -> tuple[int, int]:
    return i % 1000, i


def key_of(record: tuple[int, int]) -> int:
    return record[0]


def is_hundredth(record: tuple[int, int]) -> bool:
    return record[1] % 100 == 0


class Counter:
    """Counts per key; the counts are in a dict that stands for keyed state."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def process(self, key: int, record: tuple[int, int]) -> Iterator[tuple[int, int]]:
        count = self.counts.get(key, 0) + 1
        self.counts[key] = count
        yield key, count


class Sum:
    """Counts what it is given and sums the counts."""

    def __init__(self) -> None:
        self.emitted = 0
        self.total = 0

    def invoke(self, record: tuple[int, int]) -> None:
        self.emitted += 1
        self.total += record[1]


def main() -> None:
    n = parse(__doc__, records=10_000_000).records
    counter, sink = Counter(), Sum()
    started = time.perf_counter()
    for i in range(n):
        record = to_record(i)
        key = key_of(record)
        for result in counter.process(key, record):
            if is_hundredth(result):
                sink.invoke(result)
    report(n, time.perf_counter() - started, emitted=sink.emitted, total=sink.total)


if __name__ == "__main__":
    main()
