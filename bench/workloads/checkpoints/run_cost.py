"""Keyed count with checkpoints beside the same without, in turns: what checkpoints cost of the throughput."""

import statistics
from typing import Any

from bench.program import parse
from bench.reports import load_average, publish, verdict
from bench.workloads.checkpoints.jobs import count, directory

CASES = (
    # name, records, keys, interval, the most that it may cost
    ("1,000 keys, every second", 30_000_000, 1_000, "1 s", 0.05),
    ("1 M keys, every 10 s", 60_000_000, 1_000_000, "10 s", 0.10),
)


def main() -> None:
    options = parse(__doc__, records=0, runs=3)
    load = load_average()
    rows, figures, rates = [], {}, {}
    for name, records, keys, interval, limit in CASES:
        without, beside = [], []
        last: dict[str, Any] = {}
        for _ in range(options.runs):
            without.append(count(records, keys, 2, {})[0])
            with directory() as place:
                seconds, last = count(
                    records,
                    keys,
                    2,
                    {"execution.checkpointing.interval": interval, "execution.checkpointing.dir": place},
                )
            beside.append(seconds)
        plain, taken = statistics.median(without), statistics.median(beside)
        cost = max(0.0, 1 - plain / taken)
        figures[f"{name}: cost"] = round(cost, 4)
        rates[f"{name}: without"] = records / plain
        rates[f"{name}: with"] = records / taken
        rows.append(
            [
                name,
                f"{records / plain / 1e6:.2f} M/s",
                f"{records / taken / 1e6:.2f} M/s",
                str(last["job.checkpoints.completed"]),
                f"{cost:.1%}",
                f"{limit:.0%}",
                verdict(cost, limit),
            ]
        )
    publish(
        columns=["keyed count", "without", "with checkpoints", "checkpoints", "cost", "target", ""],
        rows=rows,
        figures=figures,
        rates=rates,
        load_before=load,
        notes=["the checkpoint with which every job ends is part of the time"],
    )


if __name__ == "__main__":
    main()
