"""Which files the cleaner removes, and that it never removes one that is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spry.common.plan import FileHandle
from spry.jobmanager import checkpoint_cleaner
from spry.jobmanager.checkpoint_cleaner import CheckpointCleaner
from spry.runtime.checkpoints.metadata import METADATA, CheckpointMetadata
from spry.runtime.checkpoints.storage import location, open_checkpoint_store


@pytest.fixture
def cleaner() -> Iterator[CheckpointCleaner]:
    made = CheckpointCleaner()
    yield made
    made.close()


def checkpoint(parent: Path, number: int, *shared: str) -> CheckpointMetadata:
    directory = parent / f"chk-{number}"
    store = open_checkpoint_store(str(directory))
    store.write(METADATA, b"x")
    for name in shared:
        store.write(f"../shared/{name}", b"x")
    files = [(name, f"../shared/{name}", 1) for name in shared]
    handle = FileHandle((("u", 0),), 1, database={"files": files})
    return CheckpointMetadata(number, 0, "job", "job", False, {}, (), (handle,), directory=str(directory))


def shared(parent: Path) -> list[str]:
    return sorted(path.name for path in (parent / "shared").iterdir())


def test_a_checkpoint_goes_with_the_files_that_no_other_needs(cleaner: CheckpointCleaner, tmp_path: Path) -> None:
    old, new = checkpoint(tmp_path, 1, "a", "b", "c"), checkpoint(tmp_path, 2, "b")
    cleaner.keep([new], [location(str(tmp_path), "shared/c")], uploading=True)
    cleaner.remove_checkpoint(old)
    cleaner.remove_checkpoint(new)  # It is needed.
    cleaner.close()
    assert shared(tmp_path) == ["b", "c"]
    assert not (tmp_path / "chk-1").exists() and (tmp_path / "chk-2" / METADATA).exists()


def test_nothing_goes_whose_metadata_stays(
    cleaner: CheckpointCleaner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = checkpoint(tmp_path, 1, "a")
    monkeypatch.setattr(Path, "unlink", _refuse)
    cleaner.remove_checkpoint(old)
    cleaner.close()
    assert shared(tmp_path) == ["a"]


def _refuse(path: Path, missing_ok: bool = False) -> None:
    raise PermissionError(13, "Permission denied")


def test_what_lies_about_is_swept_only_while_nobody_writes(cleaner: CheckpointCleaner, tmp_path: Path) -> None:
    one = checkpoint(tmp_path, 1, "a")
    (tmp_path / "shared" / "lost").write_text("x")
    cleaner.keep([one], [], uploading=False)
    assert cleaner.begin_upload()
    cleaner.sweep(str(tmp_path))
    settle(cleaner)
    assert shared(tmp_path) == ["a", "lost"]
    cleaner.keep([one], [], uploading=False)
    cleaner.sweep(str(tmp_path))
    cleaner.close()
    assert shared(tmp_path) == ["a"]


def test_whoever_writes_waits_for_a_removal_but_not_for_ever(
    cleaner: CheckpointCleaner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_cleaner, "_PATIENCE_SECONDS", 0.05)
    at_it, go = threading.Event(), threading.Event()
    real = open_checkpoint_store

    def slow(url: str) -> Any:
        store: Any = real(url)
        remove = store.remove

        def wait_and_remove(name: str) -> None:
            at_it.set()
            assert go.wait(10)
            remove(name)

        store.remove = wait_and_remove
        return store

    monkeypatch.setattr(checkpoint_cleaner, "open_checkpoint_store", slow)
    for name in ("one", "other"):
        real(str(tmp_path)).write(f"shared/{name}", b"x")
    cleaner.sweep(str(tmp_path))
    assert at_it.wait(10)
    assert not cleaner.begin_upload(), "the removal might hit what is being written"
    go.set()
    settle(cleaner)
    assert cleaner.begin_upload()
    assert len(shared(tmp_path)) == 1, "it does not go on while somebody writes"


def test_after_the_end_things_are_removed_at_once(cleaner: CheckpointCleaner, tmp_path: Path) -> None:
    cleaner.close()
    (tmp_path / "chk-1").mkdir()
    cleaner.remove_directory(str(tmp_path / "chk-1"))
    assert not (tmp_path / "chk-1").exists()


def settle(cleaner: CheckpointCleaner) -> None:
    done = threading.Event()
    cleaner.run(done.set)
    assert done.wait(10)


def test_a_file_has_one_location(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    expected = location(str(tmp_path / "chk-1"), "../shared/a")
    assert location(f"file://{tmp_path}/link/chk-7/", "../shared/a") == expected
    assert location(f"{tmp_path}", "shared/a") == expected
    assert location("s3://b/job/chk-1", "../shared/a") == location("s3://b/job/", "shared/a") == "s3://b/job/shared/a"
