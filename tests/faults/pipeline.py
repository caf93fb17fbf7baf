"""The program that faults are tried on: a bounded source, keyed state, timers, windows, and files written exactly once.

What it writes does not depend on the order in which records of different keys or sources meet: every run without faults
gives the same lines, and so must every run with them. Run as a script, it goes on from a checkpoint if one is named.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spry.common.configuration import Configuration
from spry.common.serialization import Encoder
from spry.common.time import Duration, Time
from spry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from spry.connectors.number_seq import NumberSequenceSource
from spry.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from spry.datastream.connectors.file_system import FileSink, OutputFileConfig, RollingPolicy
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from spry.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

__all__ = ["build", "expected_lines", "read_lines"]

KEYS = 31
TIMER = 500


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class Remember(KeyedProcessFunction):
    """Counts by value state, sums what came up to each timer, and says both."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))
        self.largest = runtime_context.get_reducing_state(ReducingStateDescriptor("largest", max))
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting"))
        self.by_part = runtime_context.get_map_state(MapStateDescriptor("by part"))

    def process_element(self, value: int, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + 1)
        self.largest.add(value)
        self.waiting.add(value)
        self.by_part.put(value % 3, (self.by_part.get(value % 3) or 0) + 1)
        ctx.timer_service().register_event_time_timer(value - value % TIMER + TIMER)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        due = [value for value in self.waiting.get() if value < timestamp]
        self.waiting.update([value for value in self.waiting.get() if value >= timestamp])
        yield f"timer {ctx.get_current_key()} {timestamp} {len(due)} {sum(due)}"


class Total(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def add(self, value: int, accumulator: list[int]) -> list[int]:
        accumulator[0] += 1
        accumulator[1] += value
        return accumulator

    def get_result(self, accumulator: list[int]) -> tuple[int, int]:
        return accumulator[0], accumulator[1]

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        return [acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]]


class Label:
    """Names a window's result."""

    def __init__(self, name: str) -> None:
        self.name = name

    def apply(self, key: int, window: Any, inputs: Any) -> Iterator[str]:
        for count, total in inputs:
            yield f"{self.name} {key} {window.start} {window.end} {count} {total}"


def build(env: StreamExecutionEnvironment, records: int, out: Path) -> None:
    """The whole program."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(records)).with_timestamp_assigner(
        Stamp()
    )
    numbers = env.from_source(NumberSequenceSource(0, records - 1), strategy, "numbers").uid("numbers")
    keyed = numbers.key_by(lambda n: n % KEYS)
    sparse = numbers.filter(lambda n: n % 1000 < 400).key_by(lambda n: n % KEYS)
    parts = [
        keyed.process(Remember()).uid("remember"),
        keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(700)))
        .aggregate(Total(), Label("tumbling"))
        .uid("tumbling"),
        keyed.window(SlidingEventTimeWindows.of(Time.milliseconds(900), Time.milliseconds(450)))
        .aggregate(Total(), Label("sliding"))
        .uid("sliding"),
        sparse.window(EventTimeSessionWindows.with_gap(Time.milliseconds(300)))
        .aggregate(Total(), Label("session"))
        .uid("session"),
    ]
    sink = (
        FileSink.for_row_format(str(out), Encoder.simple_string_encoder())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .with_output_file_config(OutputFileConfig.builder().with_part_suffix(".txt").build())
        .build()
    )
    parts[0].union(*parts[1:]).sink_to(sink).uid("files")


def _windows(n: int, size: int, slide: int) -> list[int]:
    first = n - n % slide
    return list(range(first, n - size, -slide))


def expected_lines(records: int) -> Counter[str]:
    """What the program gives, worked out in plain Python."""
    lines: Counter[str] = Counter()
    groups: dict[tuple[Any, ...], list[int]] = {}
    for n in range(records):
        key = n % KEYS
        groups.setdefault(("timer", key, n - n % TIMER + TIMER), []).append(n)
        groups.setdefault(("tumbling", key, n - n % 700, n - n % 700 + 700), []).append(n)
        for start in _windows(n, 900, 450):
            groups.setdefault(("sliding", key, start, start + 900), []).append(n)
    for name, values in groups.items():
        lines[" ".join(map(str, (*name, len(values), sum(values))))] += 1
    for key in range(KEYS):
        session: list[int] = []
        for n in [n for n in range(key, records, KEYS) if n % 1000 < 400] + [1 << 40]:
            if session and n - session[-1] > 300:
                lines[f"session {key} {session[0]} {session[-1] + 300} {len(session)} {sum(session)}"] += 1
                session = []
            session.append(n)
    return lines


def read_lines(out: Path) -> Counter[str]:
    """What can be seen in the sink's directory."""
    return Counter(
        line for path in out.rglob("*.txt") if not path.name.startswith(".") for line in path.read_text().splitlines()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--go-on-from", help="a checkpoint")
    parser.add_argument("-D", dest="options", action="append", default=[])
    arguments = parser.parse_args()
    configuration = Configuration.from_dict(dict(option.split("=", 1) for option in arguments.options))
    configuration.set_string("execution.checkpointing.dir", str(arguments.checkpoints))
    if arguments.go_on_from:
        configuration.set_string("execution.state-recovery.path", arguments.go_on_from)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    build(env, arguments.records, arguments.out)
    env.execute("faults")


if __name__ == "__main__":
    main()
