"""The file sink: the life of its files, by hand and over random histories with crashes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spry.common import WatermarkStrategy
from spry.common.errors import InvalidProgramError, JobExecutionError
from spry.common.serialization import BulkWriter, BulkWriterFactory, Encoder
from spry.connectors.file_sink import writer as file_writer
from spry.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    PartFileInfo,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from spry.runtime.testing import ManualClock
from tests.local_job import program
from tests.sink_driver import DrivenSink

STRINGS = Encoder.simple_string_encoder()


class ByFirst(BucketAssigner):
    """A bucket for the first character."""

    def get_bucket_id(self, element: Any, context: BucketAssigner.Context) -> str:
        return str(element)[0]


def rows(path: Path, policy: RollingPolicy | None = None, assigner: BucketAssigner | None = None) -> FileSink:
    builder = FileSink.for_row_format(str(path), STRINGS).with_bucket_check_interval(1)
    builder.with_bucket_assigner(assigner or BucketAssigner.base_path_bucket_assigner())
    return builder.with_rolling_policy(policy or RollingPolicy.default_rolling_policy()).build()


def visible(path: Path) -> list[str]:
    """The lines of all finished files."""
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    return sorted(line for file in files for line in file.read_text().splitlines())


def hidden(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob(".*") if file.is_file())


ON_CHECKPOINT = RollingPolicy.on_checkpoint_rolling_policy()


# A file's life


def test_a_file_is_hidden_until_its_checkpoint_is_complete(tmp_path: Path) -> None:
    sink = DrivenSink(rows(tmp_path, ON_CHECKPOINT, ByFirst()))
    sink.write(["a1", "b1", "a2"])
    assert visible(tmp_path) == []
    assert sorted(file.parent.name for file in hidden(tmp_path)) == ["a", "b"]
    assert all(file.name.startswith(".part-0-") and file.name.endswith(".inprogress") for file in hidden(tmp_path))
    lists = sink.snapshot(1)
    assert len(lists["spry-committables"]) == 2
    assert visible(tmp_path) == []
    sink.complete(1)
    assert visible(tmp_path) == ["a1", "a2", "b1"]
    assert hidden(tmp_path) == []
    assert all(file.name.startswith("part-0-") for file in (tmp_path / "a").iterdir())


def test_a_file_goes_on_over_checkpoints_until_it_rolls(tmp_path: Path) -> None:
    sink = DrivenSink(rows(tmp_path, RollingPolicy.default_rolling_policy(part_size=5)))
    sink.write(["one"])
    assert sink.snapshot(1)["spry-committables"] == []
    sink.complete(1)
    sink.write(["two"])
    assert len(sink.snapshot(2)["spry-committables"]) == 1, "it has 8 bytes now"
    sink.complete(2)
    assert visible(tmp_path) == ["one", "two"]
    sink.write(["three", "four"])
    sink.operator.finish()
    sink.snapshot(3)
    sink.complete(3)
    assert visible(tmp_path) == ["four", "one", "three", "two"]
    assert len(list(tmp_path.iterdir())) == 3, "'three' was enough for a file"


def test_files_roll_by_age_and_by_idleness(tmp_path: Path) -> None:
    clock = ManualClock(0)
    policy = RollingPolicy.default_rolling_policy(rollover_interval=100, inactivity_interval=30)
    builder = FileSink.for_row_format(tmp_path, STRINGS).with_bucket_check_interval(10)
    built = builder.with_rolling_policy(policy).with_bucket_assigner(ByFirst()).build()
    sink = DrivenSink(built, clock=clock)
    assert sink.operator.next_timer() is None, "there is nothing to roll"
    sink.write(["a0", "b0"])
    assert sink.operator.next_timer() == 10
    rolled = []
    for now in range(5, 121, 5):
        clock.now = now
        sink.operator.on_processing_time(now)
        if not sink.operator._writer._parts.keys() >= {"a"}:  # type: ignore[union-attr]
            rolled.append(now)
            break
        if now == 25:
            assert sink.operator._writer._parts.keys() == {"a", "b"}  # type: ignore[union-attr]
        if now == 30:
            assert sink.operator._writer._parts.keys() == {"a"}, "b was idle"  # type: ignore[union-attr]
        sink.write([f"a{now}"])
    assert rolled == [100]
    assert sink.operator.next_timer() is None


def test_a_crash_after_a_checkpoint(tmp_path: Path) -> None:
    first = DrivenSink(rows(tmp_path))
    first.write(["1", "2"])
    lists = first.snapshot(1)
    first.complete(1)
    first.write(["lost", "x" * 100_000])
    second = DrivenSink(rows(tmp_path), lists, 1)
    first.operator.close()  # What is thought dead writes once more.
    second.write(["3"])
    second.operator.finish()
    second.snapshot(2)
    assert visible(tmp_path) == []
    second.complete(2)
    assert visible(tmp_path) == ["1", "2", "3"]
    assert hidden(tmp_path) == [], "the file of the first attempt is gone"


def test_a_restore_can_be_repeated(tmp_path: Path) -> None:
    first = DrivenSink(rows(tmp_path))
    first.write(["1"])
    lists = first.snapshot(1)
    for attempt in range(3):
        again = DrivenSink(rows(tmp_path), lists, 1)
        again.write([f"lost {attempt}"])
        again.snapshot(attempt + 2)  # never complete
    last = DrivenSink(rows(tmp_path), lists, 1)
    last.write(["2"])
    last.operator.finish()
    last.snapshot(9)
    last.complete(9)
    assert visible(tmp_path) == ["1", "2"]


def test_pending_files_of_a_complete_checkpoint_are_finished_after_a_crash(tmp_path: Path) -> None:
    first = DrivenSink(rows(tmp_path, ON_CHECKPOINT))
    first.write(["1"])
    lists = first.snapshot(1)
    second = DrivenSink(rows(tmp_path, ON_CHECKPOINT), lists, 1)
    assert visible(tmp_path) == ["1"]
    third = DrivenSink(rows(tmp_path, ON_CHECKPOINT), lists, 1)
    assert visible(tmp_path) == ["1"]
    assert second.warnings == third.warnings == []


def test_what_came_after_the_checkpoint_is_cleared_away(tmp_path: Path) -> None:
    first = DrivenSink(rows(tmp_path, RollingPolicy.default_rolling_policy(part_size=1), ByFirst()))
    first.write(["a1"])
    lists = first.snapshot(1)
    first.write(["a2", "a3", "c1"])
    assert len(hidden(tmp_path)) == 4
    second = DrivenSink(rows(tmp_path, None, ByFirst()), lists, 1)
    second.write(["a2", "b1"])
    assert sorted(file.parent.name for file in hidden(tmp_path)) == ["a", "b", "c"], "c is not in use yet"
    second.write(["c1"])
    second.operator.finish()
    second.snapshot(2)
    second.complete(2)
    assert hidden(tmp_path) == []
    assert visible(tmp_path) == ["a1", "a2", "b1", "c1"]


def test_a_failed_attempt_keeps_what_a_checkpoint_knows_and_nothing_else(tmp_path: Path) -> None:
    sink = DrivenSink(rows(tmp_path, RollingPolicy.default_rolling_policy(part_size=1), ByFirst()))
    sink.write(["a1", "a2"])
    sink.snapshot(1)
    known = hidden(tmp_path)
    sink.write(["a3", "b1"])
    sink.operator.close()
    assert hidden(tmp_path) == known and len(known) == 2


def test_a_file_in_a_checkpoint_survives_that_it_has_rolled_since(tmp_path: Path) -> None:
    sink = DrivenSink(rows(tmp_path, RollingPolicy.default_rolling_policy(part_size=3)))
    sink.write(["1"])
    lists = sink.snapshot(1)
    sink.write(["2", "3"])
    sink.operator.close()
    again = DrivenSink(rows(tmp_path), lists, 1)
    again.operator.finish()
    again.snapshot(2)
    again.complete(2)
    assert visible(tmp_path) == ["1"]


def test_fewer_and_more_subtasks(tmp_path: Path) -> None:
    assigner = ByFirst()
    two = [DrivenSink(rows(tmp_path, None, assigner), subtask=subtask) for subtask in range(2)]
    two[0].write(["a1", "b1"])
    two[1].write(["a2", "c2"])
    states = [state for sink in two for state in sink.snapshot(1)["spry-writer"]]
    one = DrivenSink(rows(tmp_path, None, assigner), {"spry-writer": states}, 1)
    one.write(["a3"])
    lists = one.snapshot(2)
    one.complete(2)
    assert visible(tmp_path) == ["a1"], "of the two files of bucket a, one goes on"
    more = [
        DrivenSink(
            rows(tmp_path, None, assigner), {"spry-writer": lists["spry-writer"][subtask::3]}, 2, subtask=subtask
        )
        for subtask in range(3)
    ]
    for subtask, sink in enumerate(more):
        sink.write([f"a{4 + subtask}"])
        sink.operator.finish()
        sink.snapshot(3)
        sink.complete(3)
    assert visible(tmp_path) == ["a1", "a2", "a3", "a4", "a5", "a6", "b1", "c2"]
    assert hidden(tmp_path) == []


def test_files_of_several_runs_stand_beside_each_other(tmp_path: Path) -> None:
    for run in range(3):
        sink = DrivenSink(rows(tmp_path), checkpointing=False)
        sink.write([f"run {run}"])
        sink.operator.finish()
        sink.operator.close()
    assert visible(tmp_path) == ["run 0", "run 1", "run 2"]


def test_a_finished_file_that_was_taken_away_is_a_warning_after_a_restore_only(tmp_path: Path) -> None:
    first = DrivenSink(rows(tmp_path, ON_CHECKPOINT))
    first.write(["1"])
    lists = first.snapshot(1)
    first.complete(1)
    [finished] = tmp_path.iterdir()
    finished.unlink()
    second = DrivenSink(rows(tmp_path, ON_CHECKPOINT), lists, 1)
    assert len(second.warnings) == 1 and str(finished) in second.warnings[0]
    second.write(["2"])
    second.snapshot(2)
    for file in hidden(tmp_path):
        file.unlink()
    with pytest.raises(RuntimeError, match=r"cannot commit file .*part-0-.* of bucket ''.*neither .* nor .* is there"):
        second.complete(2)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_checkpoint_whose_file_in_progress_is_damaged(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    sink = DrivenSink(rows(tmp_path, None, ByFirst()))
    sink.write(["a1"])
    lists = sink.snapshot(1)
    damage(hidden(tmp_path)[0])
    with pytest.raises(OSError, match=r"bucket 'a': the file .*, in progress at the checkpoint, cannot be"):
        DrivenSink(rows(tmp_path, None, ByFirst()), lists, 1)


def test_what_is_in_a_checkpoint_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    sink = DrivenSink(rows(tmp_path, RollingPolicy.default_rolling_policy(part_size=2), ByFirst()))
    sink.write(["a1", "b1", "b2"])
    synced.clear()
    sink.snapshot(1)
    assert {file.name for file in hidden(tmp_path / "a")} <= set(synced), "in progress"
    assert {"a", "b"} <= set(synced), "the directories"
    synced.clear()
    sink.complete(1)
    assert synced[-1] in {"a", "b"}, "a new name"


# Random histories

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 5)),
        st.tuples(st.just("tick"), st.integers(1, 100)),
        st.sampled_from([("checkpoint", 1), ("checkpoint", 0), ("announce", 0), ("crash", 0), ("close", 0)]),
        st.tuples(st.just("rescale"), st.integers(1, 3)),
    ),
    min_size=8,
    max_size=40,
)
POLICIES = [
    ON_CHECKPOINT,
    RollingPolicy.default_rolling_policy(),
    RollingPolicy.default_rolling_policy(12, 80, 40),
]


@settings(max_examples=200, deadline=None)
@given(actions=ACTIONS, policy=st.sampled_from(POLICIES), buckets=st.booleans(), random=st.randoms())
def test_every_element_is_visible_once_whatever_happens(
    tmp_path_factory: pytest.TempPathFactory, actions: Any, policy: RollingPolicy, buckets: bool, random: Any
) -> None:
    path = tmp_path_factory.mktemp("files")
    assigner = ByFirst() if buckets else None
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "fsync", lambda descriptor: None)
    try:
        History(path, rows(path, policy, assigner), random).run(actions)
    finally:
        patch.undo()


class History:
    """A job whose source can be read again: what it wrote since the last complete checkpoint is written once more."""

    def __init__(self, path: Path, sink: FileSink, random: Any) -> None:
        self.path = path
        self.sink = sink
        self.random = random
        self.clock = ManualClock(0)
        self.position = 0
        self.taken: dict[int, tuple[int, list[dict[str, list[Any]]]]] = {}
        """Checkpoints that are not complete yet: position and states."""
        self.complete: tuple[int, int, list[dict[str, list[Any]]]] | None = None
        self.checkpoints = 0
        self.parallelism = 2
        self.subtasks: list[DrivenSink] = []
        self.start()

    def start(self) -> None:
        lists: dict[str, list[Any]] = {}
        checkpoint_id = None
        self.position = 0
        if self.complete is not None:
            checkpoint_id, self.position, states = self.complete
            for state in states:
                for name, elements in state.items():
                    lists.setdefault(name, []).extend(elements)
        self.taken.clear()
        shares: list[dict[str, list[Any]]] = [
            {name: elements[i :: self.parallelism] for name, elements in lists.items()} for i in range(self.parallelism)
        ]
        self.subtasks = [
            DrivenSink(self.sink, share, checkpoint_id, clock=self.clock, subtask=subtask)
            for subtask, share in enumerate(shares)
        ]

    def run(self, actions: list[tuple[str, int]]) -> None:
        for action, amount in actions:
            getattr(self, action)(amount)
            counts = Counter(visible(self.path))
            assert all(count == 1 for count in counts.values()), "nothing twice, at no time"
        for sink in self.subtasks:
            sink.operator.finish()
        self.checkpoint(1)
        assert visible(self.path) == sorted(f"{n % 3}-{n}" for n in range(self.position))

    def write(self, count: int) -> None:
        for _ in range(count):
            self.random.choice(self.subtasks).write([f"{self.position % 3}-{self.position}"])
            self.position += 1

    def tick(self, millis: int) -> None:
        self.clock.advance(millis)
        for sink in self.subtasks:
            sink.operator.on_processing_time(self.clock())

    def checkpoint(self, complete: int) -> None:
        self.checkpoints += 1
        self.taken[self.checkpoints] = (self.position, [sink.snapshot(self.checkpoints) for sink in self.subtasks])
        if complete:
            self.finish_checkpoint(self.checkpoints, len(self.subtasks))

    def finish_checkpoint(self, checkpoint_id: int, told: int) -> None:
        position, states = self.taken.pop(checkpoint_id)
        self.complete = (checkpoint_id, position, states)
        self.taken = {i: taken for i, taken in self.taken.items() if i > checkpoint_id}
        for sink in self.subtasks[:told]:
            sink.complete(checkpoint_id)

    def announce(self, _: int) -> None:
        if self.taken:
            self.finish_checkpoint(max(self.taken), len(self.subtasks))

    def crash(self, _: int) -> None:
        if self.taken and self.random.random() < 0.5:  # It is complete, but not everybody hears of it.
            self.finish_checkpoint(max(self.taken), self.random.randrange(len(self.subtasks)))
        self.start()

    def close(self, _: int) -> None:
        for sink in self.subtasks:
            sink.operator.close()
        self.start()

    def rescale(self, parallelism: int) -> None:
        self.checkpoint(1)
        self.parallelism = parallelism
        self.start()


# Buckets


@pytest.mark.parametrize(
    ("pattern", "zone", "expected"),
    [
        ("yyyy-MM-dd--HH", "UTC", "2024-03-05--07"),
        ("yyyy-MM-dd--HH", "Europe/Berlin", "2024-03-05--08"),
        ("yyyy-MM-dd--HH", "GMT-8", "2024-03-04--23"),
        ("HHmm", "+05:30", "1238"),
        ("'dt='yyyyMMdd/'hr'''H", "UTC", "dt=20240305/hr'7"),
        ("yy M d H m s", "Z", "24 3 5 7 8 9"),
        ("u D E EEEE MMM MMMM", "UTC", "2024 65 Tue Tuesday Mar March"),
        ("h a ss.SSS", "UTC", "7 AM 09.042"),
        ("''", "UTC", "'"),
    ],
)
def test_buckets_of_times(tmp_path: Path, pattern: str, zone: str, expected: str) -> None:
    clock = ManualClock(1_709_622_489_042)  # 2024-03-05 07:08:09.042 in UTC
    sink = DrivenSink(rows(tmp_path, None, BucketAssigner.date_time_bucket_assigner(pattern, zone)), clock=clock)
    sink.write(["a"])
    [file] = hidden(tmp_path)
    assert str(file.parent.relative_to(tmp_path)) == expected


def test_a_bucket_for_every_hour_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock(1_709_622_489_042)
    builder = FileSink.for_row_format(tmp_path, STRINGS).with_rolling_policy(ON_CHECKPOINT)
    sink = DrivenSink(builder.with_bucket_assigner(BucketAssigner.date_time_bucket_assigner()).build(), clock=clock)
    sink.write(["a"])
    clock.advance(3_600_000)
    sink.write(["b"])
    assert len({file.parent.name for file in hidden(tmp_path)}) == 2


@pytest.mark.parametrize(
    ("pattern", "zone", "message"),
    [
        ("yyyy-QQ", None, "has the letter 'Q'"),
        ("yyyy 'x", None, "a single quote that is not closed"),
        ("yyyy", "Mars/Olympus", "there is no time zone 'Mars/Olympus'"),
        ("", None, "format_str must be a pattern"),
    ],
)
def test_bad_patterns_and_zones(pattern: str, zone: str | None, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        BucketAssigner.date_time_bucket_assigner(pattern, zone)


def test_an_assigner_sees_times(tmp_path: Path) -> None:
    class ByTimes(BucketAssigner):
        def get_bucket_id(self, element: Any, context: BucketAssigner.Context) -> str:
            return f"{context.timestamp()}_{context.current_watermark()}_{context.current_processing_time()}"

    sink = DrivenSink(rows(tmp_path, None, ByTimes()), clock=ManualClock(77))
    sink.write(["a"], timestamp=5, watermark=3)
    sink.write(["b"], timestamp=None, watermark=4)
    assert sorted(file.parent.name for file in hidden(tmp_path)) == ["5_3_77", "None_4_77"]


@pytest.mark.parametrize("bucket", ["../out", "/etc", "a//b", "a/./b", "a/", 7, None, "x\0"])
def test_a_bucket_is_below_the_base_path(tmp_path: Path, bucket: Any) -> None:
    class Bad(BucketAssigner):
        def get_bucket_id(self, element: Any, context: BucketAssigner.Context) -> str:
            given: str = bucket
            return given

    sink = DrivenSink(rows(tmp_path / "base", None, Bad()))
    with pytest.raises((ValueError, TypeError), match=r"Bad.get_bucket_id gave .* for 'record'"):
        sink.write(["record"])


def test_a_bucket_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("not a directory")
    sink = DrivenSink(rows(tmp_path, None, ByFirst()))
    with pytest.raises(OSError, match=r"bucket 'a': the file .* cannot be made: .*/a is a file, not a directory"):
        sink.write(["a1"])


# Formats


class Counted(BulkWriter[Any]):
    """A first line and a last line around all that is in a file."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.elements: list[Any] = []
        stream.write(b"begin\n")

    def add_element(self, element: Any) -> None:
        self.elements.append(element)

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        self.stream.write(f"{self.elements} end\n".encode())


class CountedFactory(BulkWriterFactory[Any]):
    def create(self, stream: IO[bytes]) -> BulkWriter[Any]:
        return Counted(stream)


@pytest.mark.parametrize("kind", [FileSink, StreamingFileSink])
def test_bulk_formats(tmp_path: Path, kind: type[FileSink]) -> None:
    built = kind.for_bulk_format(str(tmp_path), CountedFactory()).with_bucket_assigner(ByFirst()).build()
    assert type(built) is kind
    sink = DrivenSink(built)
    sink.write([11, 12])
    lists = sink.snapshot(1)
    sink.complete(1)
    sink.write([13])
    again = DrivenSink(built, lists, 1)
    again.write([14])
    again.snapshot(2)
    again.complete(2)
    assert visible(tmp_path) == ["[11, 12] end", "[14] end", "begin", "begin"]


class BySize(OnCheckpointRollingPolicy):
    def should_roll_on_event(self, part_file_state: PartFileInfo, element: Any) -> bool:
        assert part_file_state.get_bucket_id() == "x"
        return part_file_state.get_size() >= 4


def test_a_policy_of_ones_own_and_names(tmp_path: Path) -> None:
    files = OutputFileConfig.builder().with_part_prefix("orders").with_part_suffix(".csv").build()
    assert (files.get_part_prefix(), files.get_part_suffix()) == ("orders", ".csv")
    builder = StreamingFileSink.for_row_format(f"file://{tmp_path}", STRINGS).with_rolling_policy(BySize())
    sink = DrivenSink(builder.with_bucket_assigner(ByFirst()).with_output_file_config(files).disable_compact().build())
    sink.write(["x1", "x2", "x3"])
    sink.snapshot(1)
    sink.complete(1)
    names = sorted(file.name for file in (tmp_path / "x").iterdir())
    assert len(names) == 2
    assert all(name.startswith("orders-0-") and name.endswith(f"-{n}.csv") for n, name in enumerate(names))


# Other stores


def test_files_in_a_store_that_fsspec_opens() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    builder = FileSink.for_row_format("memory://sink/out", STRINGS).with_bucket_assigner(ByFirst())
    built = builder.build()
    sink = DrivenSink(built)
    sink.write(["a1", "b1"])
    lists = sink.snapshot(1)
    assert all(name.rpartition("/")[2].startswith(".") for name in memory.find("/sink/out"))
    sink.write(["a-lost"])
    again = DrivenSink(built, lists, 1)
    assert sorted(memory.cat(name) for name in memory.find("/sink/out/b")) == [b"b1\n"]
    again.write(["a2"])
    again.snapshot(2)
    again.complete(2)
    DrivenSink(built, lists, 1)
    assert sorted(memory.cat(name) for name in memory.find("/sink/out/a")) == [b"a1\n", b"a2\n"]
    with pytest.raises(InvalidProgramError, match=r"files at 'memory://sink/out' cannot be gone on with"):
        builder.with_rolling_policy(RollingPolicy.default_rolling_policy()).build()


# How one is made


def test_mistakes_in_making_one(tmp_path: Path) -> None:
    builder = FileSink.for_row_format(str(tmp_path), STRINGS)
    (tmp_path / "file").write_text("")
    given: Any = "not this"
    mistakes: list[tuple[Callable[[], Any], str]] = [
        (lambda: FileSink.for_row_format(str(tmp_path), given), "for_row_format takes an Encoder"),
        (lambda: FileSink.for_bulk_format(str(tmp_path), given), "for_bulk_format takes a BulkWriterFactory"),
        (lambda: FileSink.for_row_format("", STRINGS), "a path must not be empty"),
        (lambda: FileSink.for_row_format(tmp_path / "file", STRINGS).build(), "the base path .* is a file"),
        (lambda: builder.with_bucket_assigner(given), "takes a BucketAssigner"),
        (lambda: builder.with_rolling_policy(given), "takes a RollingPolicy"),
        (lambda: builder.with_output_file_config(given), "takes a OutputFileConfig"),
        (lambda: builder.with_bucket_check_interval(0), "a number of ms above 0"),
        (lambda: builder.enable_compact(None, None), "finished files are not merged"),
        (lambda: OutputFileConfig("a/b", ""), "part of a file's name"),
        (lambda: RollingPolicy.default_rolling_policy(part_size=0), "part_size must be greater than 0"),
        (lambda: RollingPolicy.default_rolling_policy(rollover_interval=given), "rollover_interval must be an int"),
        (
            lambda: (
                FileSink.for_bulk_format(tmp_path, CountedFactory())
                .with_rolling_policy(RollingPolicy.default_rolling_policy())
                .build()
            ),
            "a bulk format cannot go on with a file",
        ),
    ]
    for make, message in mistakes:
        with pytest.raises((TypeError, ValueError, OSError), match=message):
            make()


# In jobs


@pytest.mark.parametrize("kind", ["sink_to", "add_sink"])
@pytest.mark.parametrize("batch", [False, True])
def test_a_job_writes_and_another_reads(tmp_path: Path, kind: str, batch: bool) -> None:
    env, job = program(2, max_records=7, batch=batch)
    stream = env.from_collection([f"line {n}" for n in range(50)])
    if kind == "sink_to":
        stream.sink_to(FileSink.for_row_format(str(tmp_path), STRINGS).build())
    else:
        stream.add_sink(StreamingFileSink.for_row_format(str(tmp_path), STRINGS).build())
    job.run()
    env, job = program(2)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path)).build()
    found = job.collect(env.from_source(source, WatermarkStrategy.no_watermarks(), "files"))
    job.run()
    assert sorted(found) == sorted(f"line {n}" for n in range(50))


def test_a_job_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fails(value: int) -> int:
        if value == 40:
            raise ValueError("fails")
        return value

    env, job = program(1, max_records=7)
    env.from_collection(range(50)).map(fails).sink_to(rows(tmp_path, RollingPolicy.default_rolling_policy(10)))
    with pytest.raises(JobExecutionError, match="fails"):
        job.run()
    assert visible(tmp_path) == [] and hidden(tmp_path) == []


def test_an_encoder_that_fails_is_named_with_its_record(tmp_path: Path) -> None:
    class Bad(Encoder[Any]):
        def encode(self, element: Any, stream: IO[bytes]) -> None:
            raise ValueError("cannot be encoded")

    env, job = program(1)
    env.from_collection(["first"]).sink_to(FileSink.for_row_format(tmp_path, Bad()).build())
    with pytest.raises(JobExecutionError, match=r"(?s)cannot be encoded.*'first'|'first'.*cannot be encoded"):
        job.run()


def test_leftover_numbers_are_read_from_names(tmp_path: Path) -> None:
    settings_of = rows(tmp_path)._settings
    assert settings_of.number_of("part-0-abc-12", "0-abc") == 12
    for other in ("part-0-abc-x", "part-0-abcd-1", "part-0-abc-", "part-0-abc-01", "other"):
        assert settings_of.number_of(other, "0-abc") is None
    assert file_writer.PartFile("b", "h", None).final is None
