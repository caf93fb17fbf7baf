"""word-count as a bare Python loop that takes the same steps by hand: everything inline, no call of a function."""

import time

from bench.program import parse, report
from bench.workloads.word_count.words import checksum


def main() -> None:
    path = parse(__doc__, records=0).data
    counts: dict[str, int] = {}
    last: dict[str, int] = {}
    words = 0
    started = time.perf_counter()
    with open(path, encoding="utf-8") as text:
        for line in text:
            for word in line.split():
                count = counts.get(word, 0) + 1
                counts[word] = count
                result = (word, count)
                words += 1
                last[result[0]] = result[1]
    report(words, time.perf_counter() - started, **checksum(last))


if __name__ == "__main__":
    main()
