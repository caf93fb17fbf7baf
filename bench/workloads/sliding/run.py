"""Sliding event-time windows of an hour every second beside tumbling windows of an hour: the time per record.

Each element is in 3,600 of the sliding windows. Both see the same records, 2 hours of event time, and give a result per
key and window: the sliding ones 3,600 times as many.
"""

import itertools
import statistics
from collections.abc import Callable
from typing import Any

from bench.program import parse
from bench.reports import Discard, environment, load_average, publish, verdict
from bench.workloads.windows.run_spry import Total
from spry.common import Time, WatermarkStrategy
from spry.datastream import DataStream
from spry.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows

KEYS = (10, 100, 1000)
HOURS = 2
TARGET = 4.0
Functions = dict[str, Callable[[Any], DataStream]]
FUNCTIONS: Functions = {
    "aggregate": lambda windows: windows.aggregate(Total()),
    "reduce": lambda windows: windows.reduce(lambda a, b: (a[0], a[1] + b[1], b[2])),
}
WINDOWS = {
    "tumbling, 1 h": TumblingEventTimeWindows.of(Time.hours(1)),
    "sliding, 1 h every 1 s": SlidingEventTimeWindows.of(Time.hours(1), Time.seconds(1)),
}


def seconds(records: int, keys: int, assigner: Any, function: Callable[[Any], DataStream]) -> float:
    each = records // 2
    scale = HOURS * 3_600_000 / each
    env = environment(2)
    windows = (
        env.from_sequence(0, records - 1)
        .map(lambda i: (i % keys, i, int(i % each * scale)))
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda record, _: record[2])
        )
        .key_by(lambda record: record[0])
        .window(assigner)
    )
    function(windows).add_sink(Discard())
    return env.execute("windows").get_net_runtime() / 1000


def main() -> None:
    options = parse(__doc__, records=10_000_000, runs=3)
    load = load_average()
    rows, ratios, figures = [], {}, {}
    for keys, (name, function) in itertools.product(KEYS, FUNCTIONS.items()):
        taken: dict[str, list[float]] = {windows: [] for windows in WINDOWS}
        for _ in range(options.runs):
            for windows, assigner in WINDOWS.items():
                taken[windows].append(seconds(options.records, keys, assigner, function))
        micros = {windows: statistics.median(runs) / options.records * 1e6 for windows, runs in taken.items()}
        tumbling, sliding = micros.values()
        for windows, value in micros.items():
            figures[f"{name}, {keys} keys, {windows}: µs per record"] = round(value, 3)
        ratios[f"{name}, {keys} keys: sliding / tumbling"] = round(sliding / tumbling, 3)
        rows.append(
            [
                f"{name}, {keys:,} keys",
                f"{options.records / keys / HOURS / 3600:,.1f}",
                f"{tumbling:.3f}",
                f"{sliding:.3f}",
                f"{sliding / tumbling:.2f}",
                f"{TARGET:.0f}",
                verdict(sliding / tumbling, TARGET),
            ]
        )
    publish(
        columns=[
            "function",
            "records per key and slide",
            "tumbling, µs per record",
            "sliding, µs per record",
            "times",
            "target",
            "",
        ],
        rows=rows,
        ratios=ratios,
        figures=figures,
        load_before=load,
        notes=[
            f"{options.records:,} records over {HOURS} hours of event time; 2 slots",
            "with the fewer records per key and slide, the more of the time are the sliding windows' results: each key "
            "gives one every second, whether or not it had a record",
        ],
    )


if __name__ == "__main__":
    main()
