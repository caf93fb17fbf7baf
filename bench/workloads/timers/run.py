"""A million timers in one operator: the time to set and to fire each, and the memory that each takes.

The times are those of a slot's operator, driven by hand in this process: what a function that sets a timer per record
takes more than one that sets none, and what the watermark that fires them all takes. The memory is that of the process.
"""

import gc
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench.processes import rss
from bench.program import parse
from bench.reports import load_average, publish, verdict
from spry.datastream import KeyedProcessFunction
from spry.runtime.testing import OperatorHarness

TARGET_MICROS = 3.0
BATCH = 10_000
SPREADS: dict[str, Callable[[int], int]] = {
    "each at a time of its own": lambda n: n,
    "1,000 at each time": lambda n: n // 1000,
    "all at one time": lambda n: 0,
}


class Without(KeyedProcessFunction):
    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[int] | None:
        return None


class With(KeyedProcessFunction):
    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[int] | None:
        timestamp = ctx.timestamp()
        assert timestamp is not None
        ctx.timer_service().register_event_time_timer(timestamp)
        return None

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[int] | None:
        return None


def identity(value: int) -> int:
    return value


def push(function: KeyedProcessFunction, numbers: Sequence[int], times: Sequence[int]) -> tuple[OperatorHarness, float]:
    harness = OperatorHarness(function, identity)
    batches = [
        list(zip(numbers[at : at + BATCH], times[at : at + BATCH], strict=True)) for at in range(0, len(numbers), BATCH)
    ]
    started = time.perf_counter()
    for batch in batches:
        harness.push_timestamped(*batch)
    return harness, time.perf_counter() - started


def measure(timers: int, spread: Callable[[int], int]) -> dict[str, float]:
    numbers = list(range(timers))
    random.Random(7).shuffle(numbers)
    times = [spread(number) for number in numbers]
    harness, plain = push(Without(), numbers, times)
    harness.close()
    gc.collect()
    before = rss(os.getpid())
    harness, seconds = push(With(), numbers, times)
    gc.collect()
    memory = rss(os.getpid()) - before
    started = time.perf_counter()
    harness.watermark(timers + 1)
    fired = time.perf_counter() - started
    harness.close()
    return {
        "set": (seconds - plain) / timers * 1e6,
        "fire": fired / timers * 1e6,
        "bytes": memory * 1e6 / timers,
    }


def main() -> None:
    options = parse(__doc__, records=1_000_000, runs=3)
    load = load_average()
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    for name, spread in SPREADS.items():
        runs = [measure(options.records, spread) for _ in range(options.runs)]
        middle = {figure: statistics.median(run[figure] for run in runs) for figure in runs[0]}
        memory = runs[0]["bytes"]  # Later runs find memory that earlier ones gave back.
        figures |= {f"{name}: {figure}": round(value, 3) for figure, value in middle.items() if figure != "bytes"}
        figures[f"{name}: bytes"] = round(memory)
        worst = max(middle["set"], middle["fire"])
        rows.append(
            [
                name,
                f"{middle['set']:.2f}",
                f"{middle['fire']:.2f}",
                f"{memory:.0f}",
                f"{TARGET_MICROS:.0f}",
                verdict(worst, TARGET_MICROS),
            ]
        )
    publish(
        columns=[f"{options.records:,} timers", "µs to set", "µs to fire", "bytes each", "target, µs", ""],
        rows=rows,
        figures=figures,
        load_before=load,
        notes=["to set: what a record takes that sets a timer, without what a record takes that does not"],
    )


if __name__ == "__main__":
    main()
