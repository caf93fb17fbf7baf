"""The chain as one loop that calls the same functions, one by one, for every record."""

import time

from bench.program import parse, report
from bench.workloads.chain.steps import (
    add_one,
    add_seven,
    flip,
    halve,
    not_eleventh,
    not_seventeenth,
    not_seventh,
    not_tenth,
    not_thirteenth,
    triple,
)


def five(n: int) -> tuple[int, int]:
    count = total = 0
    for i in range(n):
        x = add_one(i)
        if not_tenth(x):
            x = triple(x)
            if not_seventh(x):
                x = flip(x)
                count += 1
                total += x
    return count, total


def ten(n: int) -> tuple[int, int]:
    count = total = 0
    for i in range(n):
        x = add_one(i)
        if not_tenth(x):
            x = triple(x)
            if not_seventh(x):
                x = flip(x)
                if not_eleventh(x):
                    x = add_seven(x)
                    if not_thirteenth(x):
                        x = halve(x)
                        if not_seventeenth(x):
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
