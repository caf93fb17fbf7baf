"""Where checkpoints are, and what says that they are ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from spry.common.configuration import Configuration
from spry.common.errors import CheckpointError
from spry.common.options import StateRecoveryOptions
from spry.common.plan import FileHandle, OperatorSnapshot
from spry.jobmanager.recovery import load_initial_checkpoint, older_checkpoint
from spry.runtime.checkpoints.metadata import (
    METADATA,
    CheckpointMetadata,
    OperatorInfo,
    find_checkpoint,
    load_metadata,
    older_checkpoints,
)
from spry.runtime.checkpoints.storage import absolute, open_checkpoint_store


def metadata(number: int = 7, **more: Any) -> CheckpointMetadata:
    given: dict[str, Any] = {
        "checkpoint_id": number,
        "timestamp": 1234,
        "job_id": "abc",
        "job_name": "naïve job",
        "savepoint": False,
        "operators": {"u1": OperatorInfo("count", 2, 128, True), "u2": OperatorInfo("sink", 1, 64, False)},
        "subtasks": (OperatorSnapshot("u1", "count", 0, -5, False, False),),
        "files": (
            FileHandle((("u1", 0), ("u2", 0)), 4, "slot-0", local="/tmp/copy"),
            FileHandle((("u1", 1),), 3, inline=b"\0\xff\n"),
            FileHandle(
                (("u1", 1),),
                9,
                database={"files": [["a.sst", "../shared/a.sst", 5], ["CURRENT", "x-CURRENT", 4]], "groups": [0, 5]},
            ),
        ),
        "sources": {"u3": b"\x80\x05"},
    }
    return CheckpointMetadata(**{**given, **more})


def saved(directory: Path | str, number: int = 7) -> str:
    open_checkpoint_store(str(directory)).write(METADATA, metadata(number).to_bytes())
    return str(directory)


def test_metadata_comes_back_as_it_was(tmp_path: Path) -> None:
    found = load_metadata(saved(tmp_path))
    assert found == metadata(directory=str(tmp_path))
    assert found.stateful_uids() == {"u1", "u2", "u3"}
    assert found.shared_files() == {"../shared/a.sst"}
    assert found.size == 16


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "is not the metadata of a checkpoint"),
        (lambda data: b"hello\nworld", "is not the metadata of a checkpoint"),
        (lambda data: data[:-5], "is corrupt"),
        (lambda data: data[:-1] + b"!", "is corrupt"),
        (lambda data: data[:30], "is corrupt"),
        (
            lambda data: data.replace(b"POINT 1", b"POINT 2"),
            "has version 2; this Spry reads version 1",
        ),
    ],
)
def test_what_is_wrong_with_metadata_is_said(tmp_path: Path, change: Any, message: str) -> None:
    (tmp_path / METADATA).write_bytes(change(metadata().to_bytes()))
    with pytest.raises(CheckpointError, match=message) as caught:
        load_metadata(str(tmp_path))
    assert f"{tmp_path}/{METADATA}" in str(caught.value)


def test_any_damage_is_noticed(tmp_path: Path) -> None:
    data = metadata().to_bytes()
    for position in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[position] ^= 1
        with pytest.raises(CheckpointError):
            CheckpointMetadata.from_bytes(bytes(damaged), "it")


def test_missing_and_unreadable_metadata(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint in"):
        load_metadata(str(tmp_path / "nowhere"))
    (tmp_path / METADATA).mkdir()
    with pytest.raises(CheckpointError, match=r"cannot be read: .*[Dd]irectory"):
        load_metadata(str(tmp_path))


# Finding


@pytest.fixture
def job(tmp_path: Path) -> Path:
    for number in (2, 9, 10):
        saved(tmp_path / "job" / f"chk-{number}", number)
    (tmp_path / "job" / "chk-11").mkdir()  # Not complete.
    (tmp_path / "job" / "chk-x").mkdir()
    return tmp_path / "job"


def test_a_checkpoint_is_found_by_all_its_names(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = str(job / "chk-10")
    named = [str(job), f"{job}/", newest, f"{newest}/", f"{newest}/{METADATA}", f"file://{job}", f"file:{job}"]
    assert [load_metadata(find_checkpoint(name)).checkpoint_id for name in named] == [10] * len(named)
    assert find_checkpoint(str(job / "chk-2")) == str(job / "chk-2")
    monkeypatch.chdir(job.parent)
    assert find_checkpoint("job") == newest
    assert find_checkpoint("./job/chk-9") == str(job / "chk-9")
    monkeypatch.setenv("HOME", str(job.parent))
    assert find_checkpoint("~/job/chk-10/_metadata") == newest


def test_a_directory_may_be_moved(job: Path, tmp_path: Path) -> None:
    os.rename(job / "chk-9", tmp_path / "elsewhere")
    found = load_metadata(find_checkpoint(str(tmp_path / "elsewhere")))
    assert found.checkpoint_id == 9 and found.directory == str(tmp_path / "elsewhere")


@pytest.mark.parametrize("name", ["nowhere", "job/chk-11", "job/chk-x", "."])
def test_what_is_no_checkpoint(job: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(job.parent)
    with pytest.raises(CheckpointError, match=f"there is no checkpoint in {name}: name a savepoint's directory"):
        find_checkpoint(name)


def test_older_ones(job: Path) -> None:
    assert older_checkpoints(str(job / "chk-10")) == [str(job / "chk-9"), str(job / "chk-2")]
    assert older_checkpoints(str(job / "chk-2")) == []
    assert older_checkpoints("/somewhere/savepoint-1") == []
    (job / "chk-9" / METADATA).write_text("?")
    older = older_checkpoint(str(job / "chk-10"))
    assert older is not None and older.checkpoint_id == 2
    assert older_checkpoint(None) is None


def test_instead_of_an_unreadable_one_a_job_starts_from_the_one_before(job: Path) -> None:
    (job / "chk-10" / METADATA).write_bytes(metadata(10).to_bytes()[:-1])
    configuration, notes = Configuration(), []
    configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, str(job))
    found = load_initial_checkpoint(configuration, notes.append)
    assert found is not None and found.checkpoint_id == 9
    assert notes == [
        f"the file {job}/chk-10/_metadata is corrupt: its checksum is not the one that it names; "
        f"going on from the older {job}/chk-9"
    ]
    for number in (2, 9):
        (job / f"chk-{number}" / METADATA).write_text("?")
    with pytest.raises(CheckpointError, match="chk-10/_metadata is corrupt"):
        load_initial_checkpoint(configuration, notes.append)
    assert load_initial_checkpoint(Configuration(), notes.append) is None


# Stores


@pytest.fixture(params=["path", "file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        import fsspec

        fsspec.filesystem("memory").store.clear()
        return "memory://job/chk-1"
    return f"file://{tmp_path}/job/chk-1" if request.param == "file" else f"{tmp_path}/job/chk-1"


def test_a_store(url: str, tmp_path: Path) -> None:
    store = open_checkpoint_store(url)
    assert store.names() == [] and store.size("a") is None
    with pytest.raises(FileNotFoundError):
        store.read("a")
    store.write("a", b"one")
    store.write("a", b"two")
    store.write("below/b", b"x")
    (tmp_path / "local").write_bytes(b"local")
    store.upload(tmp_path / "local", "c")
    assert sorted(store.names()) == ["a", "below", "c"]
    assert store.read("a") == b"two" and store.size("a") == 3 and store.read("c") == b"local"
    assert store.names("below") == ["b"]
    store.remove("a")
    store.remove("a")
    store.remove("below")
    assert store.names() == ["c"]
    store.remove("")
    assert store.names() == []


def test_shared_files_are_beside_the_checkpoints(url: str, tmp_path: Path) -> None:
    store, other = open_checkpoint_store(url), open_checkpoint_store(url[:-1] + "2")
    (tmp_path / "local").write_bytes(b"local")
    store.upload(tmp_path / "local", "../shared/a")
    store.write("b", b"")
    assert other.read("../shared/a") == b"local" and other.size("../shared/a") == 5
    store.remove("")
    store.remove("../shared/a")
    assert other.size("../shared/a") is None, "also when the checkpoint that it is named from is gone"
    assert open_checkpoint_store(url.removesuffix("/chk-1")).names("shared") == []


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_checkpoint_store(str(tmp_path))
    store.write("a", b"old")
    (tmp_path / "local").write_bytes(b"new")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.write("a", b"new")
    with pytest.raises(OSError, match="No space left"):
        store.upload(tmp_path / "local", "a")
    assert store.read("a") == b"old"
    assert sorted(store.names()) == ["a", "local"], "nothing is left of it"


def test_urls_that_cannot_be_opened() -> None:
    with pytest.raises(CheckpointError, match="'nosuch://x' cannot be opened"):
        open_checkpoint_store("nosuch://x")


def test_paths_mean_the_same_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert absolute("a/b") == str(tmp_path / "a/b")
    assert absolute("~/a") == "/home/me/a"
    assert [absolute(u) for u in ("s3://b/a", "file:/a", "file:///a")] == ["s3://b/a", "file:/a", "file:///a"]
