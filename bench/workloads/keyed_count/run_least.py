"""keyed-count as a bare Python loop: the least work that gives the answer. No record is ever built."""

import time

from bench.program import parse, report


def main() -> None:
    n = parse(__doc__, records=20_000_000).records
    counts: dict[int, int] = {}
    emitted = total = 0
    started = time.perf_counter()
    for i in range(n):
        key = i % 1000
        count = counts.get(key, 0) + 1
        counts[key] = count
        if count % 100 == 0:
            emitted += 1
            total += count
    report(n, time.perf_counter() - started, emitted=emitted, total=total)


if __name__ == "__main__":
    main()
