from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ClassVar

import fsspec
import pyarrow
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from spry.common.source import Boundedness
from spry.common.time import Duration
from spry.common.typeinfo import Types
from spry.connectors.file_system import (
    FileEnumeratorProvider,
    FileSource,
    FileSplitAssignerProvider,
    StreamFormat,
    TextLineSource,
)
from tests.connectors.driver import SourceDriver

LINES = [f"line {i} é" for i in range(2000)]
SOON = Duration.of_millis(1)


def write(path: Path, lines: list[str], end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


def zstd(data: bytes) -> bytes:
    compressed: bytes = pyarrow.compress(data, codec="zstd", asbytes=True)
    return compressed


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A directory with 2000 lines in files of many sizes."""
    at = 0
    for i, size in enumerate([0, 1, 1, 3, 200, 10, 700, 5, 80, 1000]):
        write(tmp_path / ("deep/er" if i % 3 else ".") / f"part-{i}.txt", LINES[at : at + size])
        at += size
    return tmp_path


@pytest.mark.parametrize("parallelism", [1, 2, 3, 8])
@pytest.mark.parametrize("min_split_size", [50, 1000, 1 << 24])
def test_every_line_once(many: Path, parallelism: int, min_split_size: int) -> None:
    source = TextLineSource(many, min_split_size=min_split_size, chunk_size=300)
    assert source.get_boundedness() is Boundedness.BOUNDED
    assert source.get_produced_type() == Types.STRING()
    driver = SourceDriver(source, parallelism)
    assert sorted(driver.run()) == sorted(LINES)
    driver.close()


def test_in_one_subtask_lines_keep_their_order(many: Path) -> None:
    path = write(many / "all.txt", LINES, end="\r\n")
    assert SourceDriver(TextLineSource(path, min_split_size=100)).run() == LINES
    assert SourceDriver(TextLineSource(f"file://{path}")).run() == LINES
    assert SourceDriver(TextLineSource(f"file:{path}")).run() == LINES


@pytest.mark.parametrize("polls", [0, 1, 2, 7])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 2), (3, 1), (1, 4)])
@pytest.mark.parametrize("min_split_size", [500, 1 << 24])
def test_a_checkpoint_goes_on_exactly_there(
    many: Path, before: int, after: int, polls: int, min_split_size: int
) -> None:
    first = SourceDriver(TextLineSource(many, min_split_size=min_split_size, chunk_size=200), before)
    for _ in range(2):
        first.epoch(polls=polls, max_records=7)
    checkpoint = first.checkpoint()
    seen = first.records
    first.epoch(polls=3)
    second = SourceDriver(first.source, after, checkpoint)
    assert sorted(seen + second.run()) == sorted(LINES)


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        (".gz", gzip.compress),
        (".GZIP", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstd),
    ],
)
def test_compressed_files(tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]) -> None:
    data = "".join(line + "\n" for line in LINES).encode()
    # Two members, as tools make them that append.
    (tmp_path / f"log{ending}").write_bytes(compress(data[:9999]) + compress(data[9999:]))
    source = TextLineSource(tmp_path, min_split_size=100, chunk_size=1000)
    assert SourceDriver(source, 3).run() == LINES
    first = SourceDriver(source, 2)
    first.epoch(polls=5)
    checkpoint = first.checkpoint()
    assert 0 < len(first.records) < len(LINES)
    assert first.records + SourceDriver(source, 1, checkpoint).run() == LINES


@pytest.mark.parametrize("data", [b"no such thing", gzip.compress(b"a\n" * 10_000)[:-20]])
def test_a_damaged_file_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "broken.gz").write_bytes(data)
    with pytest.raises(OSError, match=r"broken\.gz cannot be decompressed"):
        SourceDriver(TextLineSource(tmp_path)).run()


def test_what_is_hidden_is_left_out(tmp_path: Path) -> None:
    for name in ["a.txt", "_SUCCESS", ".crc", "_temporary/b.txt", ".git/c.txt", "x/_d.txt", "x/e.txt"]:
        write(tmp_path / name, [name])

    def read(*paths: str) -> list[str]:
        return sorted(SourceDriver(TextLineSource([tmp_path / path for path in paths])).run())

    assert read("") == ["a.txt", "x/e.txt"]
    assert read("*") == ["a.txt", "x/e.txt"]
    assert read("**/*.txt") == ["a.txt", "x/e.txt"]
    assert read("[ab].t?t") == ["a.txt"]
    # What is named is meant.
    assert read("_SUCCESS", "x/_d.txt", "_temporary") == ["_SUCCESS", "_temporary/b.txt", "x/_d.txt"]
    assert read("_*/*.txt", "_S*") == ["_SUCCESS"]
    # Several paths may name the same file.
    assert read("a.txt", "*.txt", "") == ["a.txt", "x/e.txt"]


def test_names_with_the_signs_of_patterns(tmp_path: Path) -> None:
    path = write(tmp_path / "data[1]?.txt", ["odd"])
    assert SourceDriver(TextLineSource(path)).run() == ["odd"]


def test_links_in_circles(tmp_path: Path) -> None:
    write(tmp_path / "d/a.txt", ["a"])
    (tmp_path / "d/loop").symlink_to(tmp_path)
    assert SourceDriver(TextLineSource(tmp_path)).run() == ["a"]


def test_a_relative_path_is_where_the_program_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.txt", ["a"])
    monkeypatch.chdir(tmp_path)
    source = TextLineSource("a.txt")
    monkeypatch.chdir("/")
    assert SourceDriver(source).run() == ["a"]


@pytest.mark.parametrize("min_split_size", [40, 1 << 24])
def test_files_that_fsspec_opens(min_split_size: int) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe({"/lines/x/a.txt": b"a\n" * 100, "/lines/b.txt": b"b\n", "/lines/_no/c.txt": b"c\n"})
    try:
        for path in ("memory://lines", "memory:///lines"):
            source = TextLineSource(path, min_split_size=min_split_size)
            assert sorted(SourceDriver(source, 2).run()) == ["a"] * 100 + ["b"]
        assert SourceDriver(TextLineSource("memory://lines/*.txt")).run() == ["b"]
        assert sorted(set(SourceDriver(TextLineSource("memory://lines/**/*.txt")).run())) == ["a", "b"]
        for path in ("memory://lines/none.txt", "memory://none/*.txt"):
            source = TextLineSource(path)
            with pytest.raises(FileNotFoundError, match="TextLineSource: there is no file, .* '" + path[:-5]):
                SourceDriver(source)
    finally:
        memory.rm("/lines", recursive=True)


def test_a_url_that_nothing_opens() -> None:
    with pytest.raises(ValueError, match=r"files at nosuch:// cannot be opened: .*'nosuch'"):
        SourceDriver(TextLineSource("nosuch://host/path"))
    with pytest.raises(ValueError, match="names the host 'data': a local file is file:///path"):
        TextLineSource("file://data/a.txt")


def test_a_missing_path_is_an_error_at_once(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "*.txt"):
        with pytest.raises(FileNotFoundError) as error:
            TextLineSource([tmp_path, path])
        assert str(error.value) == f"TextLineSource: there is no file, directory or match for the path '{path}'"


def test_an_empty_directory_and_an_empty_file(tmp_path: Path) -> None:
    assert SourceDriver(TextLineSource(tmp_path), 2).run() == []
    write(tmp_path / "empty", [])
    assert SourceDriver(TextLineSource(tmp_path), 2).run() == []


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no charset 'UTF-9'"):
        TextLineSource(tmp_path, "UTF-9")
    with pytest.raises(ValueError, match="at least one path"):
        TextLineSource([])
    with pytest.raises(ValueError, match="a path must not be empty"):
        TextLineSource("")
    with pytest.raises(ValueError, match="discovery_interval must be greater than 0"):
        TextLineSource(tmp_path).monitor_continuously(Duration.of_millis(0))
    seconds: Any = 5
    with pytest.raises(TypeError, match="discovery_interval must be a Duration, got 5"):
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), tmp_path).monitor_continuously(seconds)


def test_wrong_bytes_are_named_with_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("caf\nähm\n".encode("latin-1"))
    with pytest.raises(UnicodeError, match=r"latin\.txt: the bytes b'\\xe4' at byte 4 are not UTF-8"):
        SourceDriver(TextLineSource(path)).run()
    assert SourceDriver(TextLineSource(path, "ISO-8859-1")).run() == ["caf", "ähm"]


def test_a_file_that_was_deleted_meanwhile(tmp_path: Path) -> None:
    driver = SourceDriver(TextLineSource(write(tmp_path / "a.txt", ["a"])))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.txt"):
        driver.run()


def test_new_files_are_found_and_read_once(tmp_path: Path) -> None:
    inbox = tmp_path / "in"
    write(inbox / "a.txt", LINES[:10])
    source = TextLineSource(inbox).monitor_continuously(SOON)
    assert source.get_boundedness() is Boundedness.CONTINUOUS_UNBOUNDED
    first = SourceDriver(source, 2)
    assert first.run_until(10) == LINES[:10]
    write(tmp_path / "b.txt", LINES[10:50]).rename(inbox / "b.txt")
    (inbox / "empty-now.txt").touch()
    assert sorted(first.run_until(50)) == sorted(LINES[:50])
    write(inbox / "empty-now.txt", LINES[50:60])
    first.run_until(60)
    checkpoint = first.checkpoint()
    seen = first.records
    first.close()
    write(tmp_path / "c.txt", LINES[60:100]).rename(inbox / "x.txt")
    second = SourceDriver(source, 3, checkpoint)
    second.run_until(40)
    until = monotonic() + 0.05
    while monotonic() < until:
        assert not second.epoch()
        sleep(0.002)
    assert sorted(seen + second.records) == sorted(LINES[:100])
    assert not second.ended


def test_a_checkpoint_while_files_are_monitored(many: Path) -> None:
    source = TextLineSource(many, min_split_size=300, chunk_size=100).monitor_continuously(SOON)
    for polls in range(4):
        first = SourceDriver(source, 2)
        first.epoch(polls=polls)
        checkpoint = first.checkpoint()
        seen = first.records
        assert len(seen) < len(LINES)
        second = SourceDriver(source, 2, checkpoint)
        assert sorted(seen + second.run_until(len(LINES) - len(seen))) == sorted(LINES)


def test_a_pattern_may_wait_for_its_first_file(tmp_path: Path) -> None:
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), tmp_path / "*.log")
    with pytest.raises(FileNotFoundError):
        builder.build()
    driver = SourceDriver(builder.monitor_continuously(SOON).build())
    driver.epoch()
    write(tmp_path / "new.tmp", ["a", "b"]).rename(tmp_path / "new.log")
    assert driver.run_until(2) == ["a", "b"]


def test_older_files_come_first(tmp_path: Path) -> None:
    for name, modified in [("a", 300), ("b", 100), ("c", 200)]:
        os.utime(write(tmp_path / name, [name]), (modified, modified))
    driver = SourceDriver(TextLineSource(tmp_path).monitor_continuously(SOON))
    assert driver.run_until(3) == ["b", "c", "a"]


def test_a_directory_may_go_away_and_come_back(tmp_path: Path) -> None:
    inbox = tmp_path / "in"
    write(inbox / "a.txt", ["a"])
    driver = SourceDriver(TextLineSource(inbox).monitor_continuously(SOON))
    driver.run_until(1)
    inbox.rename(tmp_path / "gone")
    for _ in range(10):
        driver.epoch()
        sleep(0.002)
    write(tmp_path / "gone/b.txt", ["b"])
    (tmp_path / "gone").rename(inbox)
    assert driver.run_until(2) == ["a", "b"]


class Flaky(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A store that is slow, and may be away."""

    protocol = "flaky"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    seconds = 0.0
    is_away = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("flaky://").strip("/")

    def exists(self, path: str, **kwargs: Any) -> bool:
        sleep(Flaky.seconds)
        if Flaky.is_away:
            raise ConnectionError("the store is away")
        found: bool = super().exists(path, **kwargs)
        return found


def test_a_slow_store_does_not_hold_the_job_and_its_errors_fail_it() -> None:
    fsspec.register_implementation("flaky", Flaky, clobber=True)
    fsspec.filesystem("flaky").pipe({"/d/a.txt": b"a\n"})
    driver = SourceDriver(TextLineSource("flaky://d").monitor_continuously(SOON))
    driver.run_until(1)
    Flaky.seconds, Flaky.is_away = 0.5, True
    with pytest.raises(ConnectionError, match="the store is away"):
        for _ in range(1000):
            start = monotonic()
            driver.epoch()
            assert monotonic() - start < 0.3
            sleep(0.001)


def test_the_builder(many: Path) -> None:
    text = StreamFormat.text_line_format("UTF-8")
    builder = FileSource.for_record_stream_format(text, str(many), str(many / "deep"))
    source = (
        builder.monitor_continuously(SOON)
        .process_static_file_set()
        .set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
        .set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner())
        .build()
    )
    assert source.get_boundedness() is Boundedness.BOUNDED
    assert sorted(SourceDriver(source, 2).run()) == sorted(LINES)
    wrong: Any = "locality"
    with pytest.raises(TypeError, match="split_assigner must be a FileSplitAssignerProvider, got 'locality'"):
        builder.set_split_assigner(wrong)


def test_files_that_must_not_be_cut(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", LINES)
    text = StreamFormat.text_line_format()
    whole = FileSource(text, [tmp_path], splittable=False, min_split_size=100)
    sizes = [len(subtask.output.records) for subtask in _run(whole, 4).subtasks]
    assert sorted(sizes) == [0, 0, 0, len(LINES)]
    cut = FileSource(text, [tmp_path], min_split_size=100)
    sizes = [len(subtask.output.records) for subtask in _run(cut, 4).subtasks]
    assert min(sizes) > len(LINES) / 10


def _run(source: FileSource, parallelism: int) -> SourceDriver:
    driver = SourceDriver(source, parallelism)
    driver.run()
    return driver


def test_few_requests_for_many_files(tmp_path: Path) -> None:
    for i in range(500):
        write(tmp_path / f"{i}.txt", [str(i)])
    driver = _run(TextLineSource(tmp_path), 2)
    assert sorted(driver.records, key=int) == [str(i) for i in range(500)]
    assert driver.requests < 40


def test_small_files_fill_batches_together(tmp_path: Path) -> None:
    for i in range(20):
        write(tmp_path / f"{i:02}.txt", [str(i)])
    driver = SourceDriver(TextLineSource(tmp_path).monitor_continuously(SOON))
    driver.epoch(polls=1)
    assert 5 < len(driver.records) <= 20
