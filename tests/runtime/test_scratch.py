"""Directories that go with their process, even if it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spry.runtime.checkpoints.snapshots import SnapshotTaker
from spry.runtime.scratch import remove_scratch, scratch_directory

_PROGRAM = """
import os, sys, time
from spry.runtime.scratch import scratch_directory

directory = scratch_directory(sys.argv[1], "state")
(directory / "file").write_text("x")
child = os.fork()
if child:
    print(child, directory, flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process with a scratch directory, and a child that outlives it."""
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child, _, directory = process.stdout.readline().strip().partition(" ")
        try:
            yield process, Path(directory)
        finally:
            os.kill(int(child), signal.SIGKILL)
            process.kill()


def test_what_killed_processes_leave_behind(other: tuple[subprocess.Popen[str], Path], tmp_path: Path) -> None:
    process, theirs = other
    remove_scratch(scratch_directory(str(tmp_path), "state"))
    assert (theirs / "file").exists(), "it is in use"
    process.kill()
    process.wait()
    remove_scratch(scratch_directory(str(tmp_path), "checkpoints"))
    assert (theirs / "file").exists(), "it is of another kind"
    ours = scratch_directory(str(tmp_path), "state")
    assert not theirs.parent.exists() and ours.is_dir()
    remove_scratch(ours)
    assert list(tmp_path.iterdir()) == [], "a process without scratch directories leaves nothing"


def test_several_in_one_process(tmp_path: Path) -> None:
    one, other = scratch_directory(str(tmp_path), "state"), scratch_directory(str(tmp_path), "state")
    assert one.parent == other.parent and one != other
    remove_scratch(one)
    assert not one.exists() and other.is_dir()
    remove_scratch(other)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_being_made_stays(tmp_path: Path) -> None:
    young, old = tmp_path / "spry-scratch-state-young", tmp_path / "spry-scratch-state-old"
    young.mkdir(), old.mkdir()
    os.utime(old, (0, 0))
    remove_scratch(scratch_directory(str(tmp_path), "state"))
    assert list(tmp_path.iterdir()) == [young]


def test_a_place_that_somebody_has_cleaned_up(tmp_path: Path) -> None:
    first = scratch_directory(str(tmp_path), "state")
    first.rmdir()
    (first.parent / "owner").unlink()
    first.parent.rmdir()
    second = scratch_directory(str(tmp_path), "state")
    assert second.is_dir()
    remove_scratch(first), remove_scratch(second)


def test_copies_for_local_recovery_of_jobs_long_gone(tmp_path: Path) -> None:
    names = ("spry-local-job-0", "spry-local-job-1", "spry-local-gone-0", "spry-local-recent-0", "of-somebody-else")
    for name in names:
        (tmp_path / name).mkdir()
        if "recent" not in name:
            os.utime(tmp_path / name, (0, 0))
    SnapshotTaker(0, 1, local=tmp_path / "spry-local-job-0").close(for_good=False)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names} - {"spry-local-gone-0"}, "the same job's are for the next attempt"
