"""Sources on Spark: sockets, URLs, source functions, a source of one's own, timestamps."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spry.common import Duration, Types, WatermarkStrategy
from spry.datastream import KeyedProcessFunction, ParallelSourceFunction, SourceFunction
from spry.datastream.connectors.base import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)

pytestmark = pytest.mark.spark


def test_lines_from_a_socket(make_env: Any) -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            for number in range(200):
                connection.sendall(f"line {number}\n".encode())
            connection.sendall(b"the end")

    thread = threading.Thread(target=serve)
    thread.start()
    stream = make_env(2).socket_text_stream("127.0.0.1", server.getsockname()[1]).map(lambda line: line.upper())
    lines = list(stream.execute_and_collect())
    thread.join(10)
    server.close()
    assert Counter(lines) == Counter([f"LINE {number}" for number in range(200)] + ["THE END"])


def test_a_file_url(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "a b.txt"
    path.write_text("one\ntwo\n")
    assert sorted(make_env(2).read_text_file(f"file://{path}").execute_and_collect()) == ["one", "two"]


class Count(SourceFunction):
    bounded = True

    def __init__(self, numbers: int) -> None:
        self.numbers = numbers

    def run(self, ctx: Any) -> None:
        for number in range(self.numbers):
            with ctx.get_checkpoint_lock():
                ctx.collect(number)

    def cancel(self) -> None:
        pass


class CountEverywhere(ParallelSourceFunction):
    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def run(self, ctx: Any) -> None:
        for number in range(3):
            ctx.collect_with_timestamp((self.subtask, number), 1000 * number)

    def cancel(self) -> None:
        pass


def test_source_functions(make_env: Any) -> None:
    numbers = make_env(2).add_source(Count(100_000), type_info=Types.INT()).map(lambda n: n)
    assert sorted(numbers.execute_and_collect()) == list(range(100_000))
    everywhere = make_env(3).add_source(CountEverywhere())
    expected = [(subtask, number) for subtask in range(3) for number in range(3)]
    assert sorted(everywhere.execute_and_collect()) == expected


@dataclass(frozen=True)
class Chapter:
    name: str
    words: tuple[str, ...]
    position: int = 0

    def split_id(self) -> str:
        return self.name


class Book(Source[Chapter, list[Chapter]]):
    """Chapters are handed out one by one, on request."""

    def __init__(self, chapters: dict[str, str]) -> None:
        self.chapters = [Chapter(name, tuple(text.split())) for name, text in chapters.items()]

    def get_boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: SplitEnumeratorContext[Chapter]) -> Librarian:
        return Librarian(context, list(self.chapters))

    def restore_enumerator(self, context: SplitEnumeratorContext[Chapter], checkpoint: list[Chapter]) -> Librarian:
        return Librarian(context, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> BookReader:
        return BookReader(context)


class Librarian(SplitEnumerator[Chapter, list[Chapter]]):
    def __init__(self, context: SplitEnumeratorContext[Chapter], chapters: list[Chapter]) -> None:
        self.context = context
        self.chapters = chapters

    def add_reader(self, subtask: int) -> None:
        pass

    def handle_split_request(self, subtask: int, requester_host: str | None) -> None:
        if self.chapters:
            self.context.assign_split(self.chapters.pop(0), subtask)
        else:
            self.context.signal_no_more_splits(subtask)

    def snapshot_state(self, checkpoint_id: int) -> list[Chapter]:
        return self.chapters


class BookReader(SourceReader[Chapter]):
    def __init__(self, context: SourceReaderContext) -> None:
        self.context = context
        self.chapters: list[Chapter] = []
        self.asked = self.done = False

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        if not self.chapters:
            if self.done:
                return InputStatus.END_OF_INPUT
            if not self.asked:
                self.asked = True
                self.context.send_split_request()
            return InputStatus.NOTHING_AVAILABLE
        chapter = self.chapters.pop()
        for at, word in enumerate(chapter.words):
            output.collect(word, timestamp=at)
        return InputStatus.MORE_AVAILABLE

    def add_splits(self, splits: list[Chapter]) -> None:
        self.asked = False
        self.chapters.extend(splits)

    def notify_no_more_splits(self) -> None:
        self.done = True

    def snapshot_state(self, checkpoint_id: int) -> list[Chapter]:
        return self.chapters


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_source_of_ones_own(make_env: Any, parallelism: int) -> None:
    chapters = {f"chapter {number}": "once upon a time " * number for number in range(1, 6)}
    book = make_env(parallelism).from_source(Book(chapters), WatermarkStrategy.no_watermarks(), "book")
    words = Counter(book.execute_and_collect())
    assert words == Counter({"once": 15, "upon": 15, "a": 15, "time": 15})


def test_timestamps_watermarks_and_timers(make_env: Any) -> None:
    class SilenceAfter(KeyedProcessFunction):
        """Says when a key has been silent for 10 ms of event time."""

        def process_element(self, value: tuple[str, int], ctx: KeyedProcessFunction.Context) -> Any:
            stamp = ctx.timestamp()
            assert stamp == value[1]
            ctx.timer_service().register_event_time_timer(stamp + 10)
            return None

        def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
            yield ctx.get_current_key(), timestamp

    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(
        lambda value, previous: value[1]
    )
    records = [("a", 1), ("b", 3), ("a", 2), ("a", 30)]
    stream = make_env(2).from_collection(records).assign_timestamps_and_watermarks(strategy)
    silences = list(stream.key_by(lambda r: r[0]).process(SilenceAfter()).execute_and_collect())
    assert sorted(silences) == [("a", 11), ("a", 12), ("a", 40), ("b", 13)]
    assert [s for s in silences if s[0] == "a"] == [("a", 11), ("a", 12), ("a", 40)]
