"""A job on Spark that is stopped twice, and goes on with another parallelism each time."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from spry.common.checkpoint import CheckpointedFunction
from spry.common.serialization import Encoder
from spry.common.time import Duration, Time
from spry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from spry.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from spry.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from spry.datastream.connectors.number_seq import NumberSequenceSource
from spry.datastream.state import ListStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from spry.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NUMBERS = 12_000
FILES = 7
LINES = 900


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class Sums(KeyedProcessFunction):
    """Says with a timer at the end what it has seen."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b))

    def process_element(self, value: int, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + 1)
        self.sum.add(value)
        ctx.timer_service().register_event_time_timer(10**9)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield f"sum {ctx.get_current_key()} {self.count.value()} {self.sum.get()}"


class HoldsBack(MapFunction, CheckpointedFunction):
    """Gives every record when the third after it comes; those that wait are operator state."""

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.state = store.get_list_state(ListStateDescriptor("waiting"))
        self.everywhere = store.get_union_list_state(ListStateDescriptor("everywhere"))
        self.waiting = list(self.state.get())
        self.known = set(self.everywhere.get())

    def snapshot_state(self, context: Any) -> None:
        self.state.update(self.waiting)
        self.everywhere.update(self.known)

    def map(self, value: int) -> tuple[int, ...]:
        if value < FILES:
            self.known.add(value)
        self.waiting.append(value)
        given, self.waiting = self.waiting[:-3], self.waiting[-3:]
        return tuple(given)


def build(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(NUMBERS)).with_timestamp_assigner(Stamp())
    numbers = env.from_source(NumberSequenceSource(0, NUMBERS - 1), late, "numbers").uid("numbers")
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "in")).build()
    lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "files").uid("files").map(int)
    window = TumblingEventTimeWindows.of(Time.milliseconds(1000))
    sums = numbers.key_by(lambda n: n % 13).process(Sums()).uid("sums")
    tumbling = numbers.key_by(lambda n: n % 5).window(window).reduce(max).uid("tumbling")
    sessions = (
        numbers.filter(lambda n: n % 1000 < 400)
        .key_by(lambda n: n % 5)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(300)))
        .reduce(lambda a, b: a + b)
        .uid("sessions")
    )
    held = lines.map(HoldsBack()).uid("held").flat_map(lambda values: iter(values))
    counted = lines.key_by(lambda n: n % 3).reduce(lambda a, b: a + b).uid("of lines").filter(lambda n: False)
    parts = [
        sums,
        tumbling.map(lambda n: f"tumbling {n}"),
        sessions.map(lambda n: f"session {n}"),
        held.map(lambda n: f"line {n}"),
        counted.map(str),
    ]
    sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).build()
    parts[0].union(*parts[1:]).sink_to(sink).uid("sink")


def results(tmp_path: Path) -> Counter[str]:
    out = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and not path.name.startswith(".")]
    return Counter(line for path in out for line in path.read_text().splitlines())


def expected_from_numbers() -> Counter[str]:
    lines: Counter[str] = Counter()
    for key in range(13):
        mine = range(key, NUMBERS, 13)
        lines[f"sum {key} {len(mine)} {sum(mine)}"] += 1
    for start in range(0, NUMBERS, 1000):
        for key in range(5):
            lines[f"tumbling {max(n for n in range(start, start + 1000) if n % 5 == key)}"] += 1
            lines[f"session {sum(n for n in range(start, start + 400) if n % 5 == key)}"] += 1
    return lines


def test_the_results_are_those_of_a_job_that_was_never_stopped(make_env: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        text = "\n".join(str(n) for n in range(number, FILES * LINES, FILES))
        (tmp_path / "in" / f"{number}.txt").write_text(text + "\n")
    start: dict[str, str] = {}
    waiting = 0
    for parallelism in (1, 3, 2):
        last = parallelism == 2
        env = make_env(parallelism, **{"spry.epoch.max-records": "2000" if last else "40", **start})
        env.get_configuration().set_string("execution.checkpointing.interval", "400 ms")
        build(env, tmp_path)
        client = env.execute_async("rescaled")
        waiting += 3 * parallelism if last else 0
        if last:
            client.get_job_execution_result().result(120)
            break
        deadline = time.monotonic() + 60
        while client.get_metrics()["job.epochs"] < 12:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result(60)
        assert client.get_metrics()["job.restarts"] == 0
        start = {"execution.state-recovery.path": path}
    found = results(tmp_path)
    lines = Counter({line: count for line, count in found.items() if line.startswith("line")})
    assert found - lines == expected_from_numbers()
    assert set(lines.values()) == {1}
    # What the last subtasks held back at their end was never given.
    assert FILES * LINES - 12 <= len(lines) <= FILES * LINES - 3
