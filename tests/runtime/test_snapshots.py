"""A slot's snapshots: what is written at once, what a forked process writes, and what may go wrong with it."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spry.common.errors import CheckpointError
from spry.common.plan import CheckpointRequest, FileHandle, RestoreState, SlotSnapshot
from spry.runtime.checkpoints.container import SnapshotReader, StatePart
from spry.runtime.checkpoints.restore import Restorer
from spry.runtime.checkpoints.snapshots import OperatorParts, SnapshotTaker
from spry.runtime.checkpoints.storage import open_checkpoint_store
from spry.runtime.state.meta import StateKind, StateMeta

MANY = 20_000


def parts(entries: Any, count: int) -> list[OperatorParts]:
    part = StatePart(StateMeta("it", StateKind.VALUE), lambda: iter(entries), count=count)
    return [OperatorParts("u", "count", 0, 128, [part])]


def request(directory: Path | None, number: int = 1, **more: Any) -> CheckpointRequest:
    return CheckpointRequest(number, 0, str(directory) if directory is not None else None, **more)


def outcome(taker: SnapshotTaker) -> SlotSnapshot:
    deadline = time.monotonic() + 30
    while not (done := taker.poll()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    [snapshot] = done
    return snapshot


@pytest.fixture
def taker() -> Iterator[SnapshotTaker]:
    made = SnapshotTaker(0, 0)
    yield made
    made.close()


def entries_of(handle: FileHandle, directory: Path) -> dict[Any, Any]:
    restorer = Restorer(RestoreState(1, str(directory), (handle,), (), {}))
    try:
        reader = restorer._reader(handle)
        return {key: value for state in reader.states for key, value in reader.entries(state, None, 128)}
    finally:
        restorer.close()


def test_small_state_travels_with_the_report(taker: SnapshotTaker, tmp_path: Path) -> None:
    taker.take(request(tmp_path), parts([("a", 1)], 1), [], time.monotonic())
    [handle] = outcome(taker).files
    assert handle.inline is not None and list(tmp_path.iterdir()) == []
    assert entries_of(handle, tmp_path) == {"a": 1}


def test_of_a_savepoint_it_is_a_file(taker: SnapshotTaker, tmp_path: Path) -> None:
    taker.take(request(tmp_path, savepoint=True), parts([("a", 1)], 1), [], time.monotonic())
    [handle] = outcome(taker).files
    assert handle.path is not None and (tmp_path / handle.path).exists()


def test_large_state_is_written_by_a_process_of_its_own(taker: SnapshotTaker, tmp_path: Path) -> None:
    held = dict.fromkeys(range(MANY), 0)
    taker.take(request(tmp_path), parts(held.items(), MANY), [], time.monotonic())
    held.clear()  # The slot goes on.
    snapshot = outcome(taker)
    [handle] = snapshot.files
    assert snapshot.error is None and snapshot.written == handle.size == (tmp_path / str(handle.path)).stat().st_size
    assert entries_of(handle, tmp_path) == dict.fromkeys(range(MANY), 0)


def endless() -> Iterator[tuple[int, int]]:
    key = 0
    while True:
        key += 1
        yield key, key
        time.sleep(0.0001)


def the_child(taker: SnapshotTaker) -> int:
    [pending] = taker._pending.values()
    [job] = [job for job in pending.jobs if hasattr(job, "_child")]
    return int(job._child)  # type: ignore[attr-defined]


def test_the_process_is_killed(taker: SnapshotTaker, tmp_path: Path) -> None:
    class Endless:
        def __iter__(self) -> Iterator[tuple[int, int]]:
            return endless()

    taker.take(request(tmp_path), parts(Endless(), MANY), [], time.monotonic())
    assert taker.poll() == []
    os.kill(the_child(taker), signal.SIGKILL)
    assert "was killed" in str(outcome(taker).error)
    assert list(tmp_path.iterdir()) == [], "half a file is of no use to anybody"


def test_a_snapshot_that_is_given_up(taker: SnapshotTaker, tmp_path: Path) -> None:
    class Endless:
        def __iter__(self) -> Iterator[tuple[int, int]]:
            return endless()

    taker.take(request(tmp_path), parts(Endless(), MANY), [], time.monotonic())
    child = the_child(taker)
    taker.abort(1)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert taker.poll() == [] and not taker.is_busy
    assert list(tmp_path.iterdir()) == []


class Database:
    """Makes a snapshot of one file."""

    name, namespaced = "", False

    def __init__(self, directory: Path, fails: bool = False) -> None:
        self.directory, self._fails = directory, fails

    def prepare(self) -> None:
        pass

    def native_snapshot(self, directory: Path) -> None:
        directory.mkdir()
        (directory / "CURRENT").write_text("x")
        if self._fails:
            raise OSError("the disk is full")

    def metas(self) -> list[StateMeta]:
        return []


@pytest.mark.parametrize("begun", [False, True])
def test_a_databases_snapshot_that_is_given_up(taker: SnapshotTaker, tmp_path: Path, begun: bool) -> None:
    go = threading.Event()

    def wait() -> list[FileHandle]:
        assert go.wait(10)
        return []

    local = tmp_path / "local"
    local.mkdir()
    waiting = [taker._in_thread(wait) for _ in range(0 if begun else 2)]  # There are as many threads.
    operator = OperatorParts("u", "count", 0, 128, [], [Database(local)])
    taker.take(request(tmp_path / "chk-1"), [operator], [], time.monotonic())
    taker.abort(1)
    if waiting:
        assert list(local.iterdir()) == []
    go.set()
    taker.close()
    assert list(local.iterdir()) == []


def test_a_databases_snapshot_that_cannot_be_made(taker: SnapshotTaker, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.mkdir()
    operator = OperatorParts("u", "count", 0, 128, [], [Database(local, fails=True)])
    taker.take(request(tmp_path / "chk-1"), [operator], [], time.monotonic())
    assert "the disk is full" in str(outcome(taker).error)
    assert list(local.iterdir()) == []


def test_a_full_disk(taker: SnapshotTaker, tmp_path: Path) -> None:
    known, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, known[1]))
        taker.take(request(tmp_path), parts([(key, "x" * 20) for key in range(MANY)], MANY), [], time.monotonic())
        snapshot = outcome(taker)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, known)
        signal.signal(signal.SIGXFSZ, handler)
    assert "cannot be written: File too large" in str(snapshot.error)
    assert snapshot.files == [] and list(tmp_path.iterdir()) == []
    taker.take(request(tmp_path, 2), parts([(1, 1)] * MANY, MANY), [], time.monotonic())
    assert outcome(taker).error is None, "the next one may succeed"


class Unwritable:
    def __reduce__(self) -> Any:
        raise TypeError("not me" + "!" * 100_000)


@pytest.mark.parametrize("many", [1, MANY])
def test_a_value_that_cannot_be_written_is_named(taker: SnapshotTaker, tmp_path: Path, many: int) -> None:
    held = [*((key, 0) for key in range(many)), ("odd", Unwritable())]
    taker.take(request(tmp_path), parts(held, many), [], time.monotonic())
    error = str(outcome(taker).error)
    assert "operator 'count', state 'it': the value <" in error and "of key 'odd' cannot be written" in error


def test_without_a_directory_there_is_a_limit(taker: SnapshotTaker) -> None:
    taker.take(request(None), parts([(1, "x" * 100)], 1), [], time.monotonic())
    assert outcome(taker).files[0].inline is not None
    taker.take(request(None, 2), parts([(1, "x" * (6 << 20))], 1), [], time.monotonic())
    assert "execution.checkpointing.dir" in str(outcome(taker).error)


def test_a_store_behind_a_url(taker: SnapshotTaker) -> None:
    url = "memory://snapshots/chk-1"
    before = set(os.listdir("/tmp"))
    taker.take(CheckpointRequest(1, 0, url), parts([(key, 1) for key in range(MANY)], MANY), [], time.monotonic())
    [handle] = outcome(taker).files
    assert open_checkpoint_store(url).size(str(handle.path)) == handle.size
    assert not [name for name in set(os.listdir("/tmp")) - before if name.startswith("spry-slot-")]


# Local recovery


@pytest.fixture
def local(tmp_path: Path) -> Iterator[tuple[FileHandle, Path]]:
    """A snapshot with a copy on this machine."""
    taker = SnapshotTaker(0, 0, local=tmp_path / "local")
    held = [(key, "value") for key in range(MANY)]
    taker.take(request(tmp_path / "chk-1"), parts(held, MANY), [], time.monotonic())
    [handle] = outcome(taker).files
    taker.close(for_good=False)
    yield handle, tmp_path / "chk-1"


EXPECTED = dict.fromkeys(range(MANY), "value")


def damage(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 0xFF
    path.write_bytes(data)


def test_a_copy_on_this_machine_does_without_the_checkpoint(local: tuple[FileHandle, Path]) -> None:
    handle, directory = local
    assert handle.local is not None and Path(handle.local).read_bytes() == (directory / str(handle.path)).read_bytes()
    (directory / str(handle.path)).unlink()
    assert entries_of(handle, directory) == EXPECTED


def test_without_the_copy_the_checkpoint_is_read(local: tuple[FileHandle, Path]) -> None:
    handle, directory = local
    Path(str(handle.local)).unlink()
    assert entries_of(handle, directory) == EXPECTED


@pytest.mark.parametrize("position", [3, 500, 0.5, -2000, -5])
def test_of_a_damaged_copy_the_checkpoint_is_read(local: tuple[FileHandle, Path], position: float) -> None:
    handle, directory = local
    damage(Path(str(handle.local)), int(position * handle.size) if isinstance(position, float) else position)
    assert entries_of(handle, directory) == EXPECTED


@pytest.mark.parametrize("size", [0, 100])
def test_of_half_a_copy_the_checkpoint_is_read(local: tuple[FileHandle, Path], size: int) -> None:
    handle, directory = local
    os.truncate(str(handle.local), size or handle.size // 2)
    assert entries_of(handle, directory) == EXPECTED


def test_if_both_are_damaged_the_checkpoint_is_named(local: tuple[FileHandle, Path]) -> None:
    handle, directory = local
    for path in (Path(str(handle.local)), directory / str(handle.path)):
        damage(path, handle.size // 2)
    with pytest.raises(CheckpointError, match=f"the file {directory}/{handle.path} is corrupt"):
        entries_of(handle, directory)


def test_copies_are_forgotten_when_newer_checkpoints_are_complete(tmp_path: Path) -> None:
    taker = SnapshotTaker(0, 0, local=tmp_path / "local")
    for number in (1, 2, 3):
        taker.take(request(tmp_path / f"chk-{number}", number), parts([(1, 1)] * MANY, MANY), [], time.monotonic())
        outcome(taker)
    taker.abort(3)
    taker.completed(2)
    assert [path.name.partition("-")[0] for path in (tmp_path / "local").iterdir()] == ["2"]
    taker.close()
    assert not (tmp_path / "local").exists()


# Damage


@pytest.fixture
def file(taker: SnapshotTaker, tmp_path: Path) -> Path:
    taker.take(request(tmp_path), parts([(key, "value") for key in range(MANY)], MANY), [], time.monotonic())
    [handle] = outcome(taker).files
    return tmp_path / str(handle.path)


def test_damage_anywhere_is_noticed(file: Path) -> None:
    whole = file.read_bytes()
    for step in range(1, 40):
        position = len(whole) * step // 40
        damaged = bytearray(whole)
        damaged[position] ^= 0x10
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=str(file)), file.open("rb") as stream:
            reader = SnapshotReader(stream, str(file))
            for state in reader.states:
                list(reader.entries(state, None, 128))
