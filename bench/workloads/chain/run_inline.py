"""The chain as one loop that takes the same steps by hand: everything inline, no call of a function."""

import time

from bench.program import parse, report


def five(n: int) -> tuple[int, int]:
    count = total = 0
    for i in range(n):
        x = i + 1
        if x % 10 == 0:
            continue
        x *= 3
        if x % 7 == 0:
            continue
        x ^= 85
        count += 1
        total += x
    return count, total


def ten(n: int) -> tuple[int, int]:
    count = total = 0
    for i in range(n):
        x = i + 1
        if x % 10 == 0:
            continue
        x *= 3
        if x % 7 == 0:
            continue
        x ^= 85
        if x % 11 == 0:
            continue
        x += 7
        if x % 13 == 0:
            continue
        x >>= 1
        if x % 17 == 0:
            continue
        count += 1
        total += x
    return count, total


def main() -> None:
    options = parse(__doc__, records=10_000_000, steps=5)
    work = {5: five, 10: ten}[options.steps]
    started = time.perf_counter()
    count, total = work(options.records)
    report(options.records, time.perf_counter() - started, count=count, total=total)


if __name__ == "__main__":
    main()
