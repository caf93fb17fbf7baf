"""word-count as a bare Python loop: the least work that knows the rolling count of every word."""

import time

from bench.program import parse, report
from bench.workloads.word_count.words import checksum


def main() -> None:
    path = parse(__doc__, records=0).data
    counts: dict[str, int] = {}
    words = 0
    started = time.perf_counter()
    with open(path, encoding="utf-8") as text:
        for line in text:
            split = line.split()
            words += len(split)
            for word in split:
                counts[word] = counts.get(word, 0) + 1
    report(words, time.perf_counter() - started, **checksum(counts))


if __name__ == "__main__":
    main()
