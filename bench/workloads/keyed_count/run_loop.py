"""keyed-count as a bare Python loop that takes the same steps by hand: everything inline, no call of a function."""

import time

from bench.program import parse, report


def main() -> None:
    n = parse(__doc__, records=20_000_000).records
    counts: dict[int, int] = {}
    emitted = total = 0
    started = time.perf_counter()
    for i in range(n):
        record = (i % 1000, i)
        key = record[0]
        count = counts.get(key, 0) + 1
        counts[key] = count
        result = (key, count)
        if result[1] % 100 == 0:
            emitted += 1
            total += result[1]
    report(n, time.perf_counter() - started, emitted=emitted, total=total)


if __name__ == "__main__":
    main()
