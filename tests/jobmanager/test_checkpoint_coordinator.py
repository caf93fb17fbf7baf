"""When checkpoints are taken, when they are complete, and what becomes of their files. The tests play the slots."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spry.common.configuration import Configuration
from spry.common.errors import CheckpointError
from spry.common.job_status import JobStatus
from spry.common.plan import CheckpointRequest, FileHandle, SlotReport, SlotSnapshot, StopMode
from spry.jobmanager import checkpoint_cleaner, checkpoint_coordinator
from spry.jobmanager.checkpoint_cleaner import CheckpointCleaner
from spry.jobmanager.checkpoint_coordinator import CheckpointCoordinator, CheckpointFailuresError
from spry.runtime.checkpoints.metadata import METADATA, OperatorInfo, find_checkpoint, load_metadata
from spry.runtime.checkpoints.storage import CheckpointStore, open_checkpoint_store

OPERATORS = {"count": OperatorInfo("count", 2, 128, True)}


class Clock:
    """Time stands still until a test says otherwise."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(
        checkpoint_coordinator, "time", SimpleNamespace(monotonic=made.monotonic, time=lambda: made.now)
    )
    monkeypatch.setattr(checkpoint_coordinator, "_METADATA_SECONDS", 10)
    return made


class Job:
    """A coordinator, with two slots that do what they are told."""

    def __init__(self, clock: Clock, directory: Path | None, slots: int = 2, job_id: str = "job1", **options: str):
        settings = {"execution.checkpointing.interval": "10 s"}
        if directory is not None:
            settings["execution.checkpointing.dir"] = str(directory)
        settings |= {f"execution.checkpointing.{key.replace('_', '-')}": value for key, value in options.items()}
        configuration = Configuration.from_dict(
            {key.removeprefix("execution.checkpointing./"): value for key, value in settings.items()}
        )
        self.clock, self.slots, self.epoch = clock, slots, 0
        self.coordinator = CheckpointCoordinator(job_id, "the job", configuration, slots, OPERATORS, False)

    def next(self, seconds: float = 0.0) -> CheckpointRequest | None:
        """What the next epoch, so much later, is to end with."""
        self.clock.now += seconds
        self.epoch += 1
        return self.coordinator.request(self.epoch)[0]

    def due(self, seconds: float = 10.0) -> CheckpointRequest:
        request = self.next(seconds)
        assert request is not None
        return request

    def report(self, request: CheckpointRequest, *slots: int, error: str | None = None, shared: tuple[str, ...] = ()):
        """These slots, or all, have written their parts, or failed to."""
        reports = []
        for slot in slots or range(self.slots):
            name = f"slot-{slot}"
            if request.directory is not None and error is None:
                open_checkpoint_store(request.directory).write(name, b"state")
            handle = FileHandle((("count", slot),), 5, name)
            if shared:
                for file in shared:
                    open_checkpoint_store(str(request.directory)).write(file, b"table")
                files = [(file[-1], file, 5) for file in shared]
                handle = FileHandle((("count", slot),), 5, database={"files": files})
            snapshot = SlotSnapshot(request.checkpoint_id, slot, [handle] if error is None else [], [], error)
            reports.append(SlotReport(slot, self.epoch, 1, snapshots=[snapshot]))
        self.coordinator.take_in(reports)

    def complete(self, seconds: float = 10.0, **options: Any) -> CheckpointRequest:
        """A whole checkpoint, so much later."""
        request = self.due(seconds)
        self.report(request, **options)
        return request

    def tick(self, seconds: float) -> None:
        self.clock.now += seconds
        self.coordinator.take_in([])

    @property
    def ids(self) -> list[int]:
        return [checkpoint.checkpoint_id for checkpoint in self.coordinator.completed]

    def settle(self) -> None:
        """Wait for the thread that removes."""
        done = threading.Event()
        self.coordinator._cleaner.run(done.set)
        assert done.wait(10)


Make = Callable[..., Job]


@pytest.fixture
def make(clock: Clock, tmp_path: Path) -> Make:
    def made(directory: Path | None = tmp_path, **options: Any) -> Job:
        return Job(clock, directory, **options)

    return made


def chk(path: Path, number: int) -> Path:
    return path / "job1" / f"chk-{number}"


# When


def test_a_checkpoint_is_taken_at_every_interval(make: Make) -> None:
    job = make()
    assert job.next() is None and job.next(9.9) is None
    assert job.coordinator.seconds_until_due() == pytest.approx(0.1)
    first = job.due(0.1)
    assert first.checkpoint_id == 1 and not first.savepoint and not first.canonical
    job.report(first)
    assert job.next(9.9) is None
    assert job.due(0.1).checkpoint_id == 2


def test_after_a_long_epoch_the_intervals_missed_are_not_made_up_for(make: Make) -> None:
    job = make()
    job.complete(95.0)
    job.complete(0.0)  # One was due while the epoch ran.
    assert job.next(0.1) is None
    assert job.next(9.9) is not None


def test_one_at_a_time_unless_said_otherwise(make: Make) -> None:
    job = make()
    first = job.due()
    assert job.next(30) is None
    assert job.coordinator.seconds_until_due() == float("inf"), "an idle job need not look again and again"
    job.report(first, 0)
    assert job.next(1) is None
    job.report(first, 1)
    assert job.next(0) is not None

    several = make(max_concurrent_checkpoints="2")
    assert several.due().checkpoint_id == 1
    assert several.due().checkpoint_id == 2
    assert several.next(60) is None


def test_the_least_pause_between_two(make: Make) -> None:
    job = make(min_pause="25 s", max_concurrent_checkpoints="3")
    first = job.due()
    assert job.next(100) is None, "with a pause there is only one at a time"
    job.report(first)
    assert job.next(24) is None
    assert job.coordinator.seconds_until_due() == pytest.approx(1.0)
    assert job.next(1) is not None


def test_a_checkpoint_that_takes_too_long_is_given_up(make: Make, tmp_path: Path) -> None:
    job = make(timeout="60 s", tolerable_failed_checkpoints="1")
    request = job.due()
    job.report(request, 0)
    job.tick(60)
    assert job.coordinator.is_busy
    job.tick(1)
    job.settle()
    assert job.coordinator.take_out() == ((), (1,))
    assert job.coordinator.counts == {"completed": 0, "failed": 1}
    assert job.coordinator.last_failure == "checkpoint 1 failed: it was not complete after 60 s"
    assert not chk(tmp_path, 1).exists()
    job.report(request, 1)  # Too late.
    assert job.ids == []
    assert job.next(0) is not None


def test_no_checkpoints_in_batch_mode_nor_without_an_interval(clock: Clock) -> None:
    settings = {"execution.checkpointing.interval": "1 s"}
    batch = CheckpointCoordinator("job", "job", Configuration.from_dict(settings), 1, {}, True)
    never = CheckpointCoordinator("job", "job", Configuration(), 1, {}, False)
    clock.now += 100
    for coordinator in (batch, never):
        assert not coordinator.enabled
        assert coordinator.request(1) == (None, None)
        assert coordinator.seconds_until_due() == float("inf")
    with pytest.raises(CheckpointError, match="batch mode, in which there are no savepoints"):
        batch.savepoint("/tmp/x", True, None)


# Failing


def test_failures_in_a_row_are_counted(make: Make) -> None:
    job = make(tolerable_failed_checkpoints="2")
    for _ in range(2):
        for _ in range(2):
            job.complete(error="the disk is full")
        job.complete()  # Begins the count anew.
    for _ in range(2):
        job.complete(error="the disk is full")
    with pytest.raises(CheckpointFailuresError, match=r"checkpoint 9 failed: slot 0: the disk is full .*is 2\)"):
        job.complete(error="the disk is full")


def test_no_failure_is_tolerated_unless_said_otherwise(make: Make) -> None:
    with pytest.raises(CheckpointFailuresError):
        make().complete(error="no")


def test_metadata_that_cannot_be_written(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make(tolerable_failed_checkpoints="1")
    first = job.complete()
    real = checkpoint_coordinator.open_checkpoint_store

    def full(url: str) -> CheckpointStore:
        store = real(url)

        def write(name: str, data: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        store.write = write  # type: ignore[method-assign]
        return store

    monkeypatch.setattr(checkpoint_coordinator, "open_checkpoint_store", full)
    job.complete()
    monkeypatch.setattr(checkpoint_coordinator, "open_checkpoint_store", real)
    assert "metadata cannot be written: [Errno 28]" in str(job.coordinator.last_failure)
    assert job.ids == [first.checkpoint_id]
    job.settle()
    assert chk(tmp_path, 1).exists() and not chk(tmp_path, 2).exists()


# What becomes of files


@pytest.mark.parametrize("retained", [1, 3])
def test_so_many_are_kept(make: Make, tmp_path: Path, retained: int) -> None:
    job = make(num_retained=str(retained))
    for _ in range(5):
        job.complete()
    job.settle()
    kept = list(range(6 - retained, 6))
    assert job.ids == kept
    assert sorted(path.name for path in (tmp_path / "job1").iterdir()) == [f"chk-{number}" for number in kept]
    assert find_checkpoint(str(tmp_path / "job1")) == str(chk(tmp_path, 5))


def test_a_newer_one_makes_those_before_it_superfluous(make: Make, tmp_path: Path) -> None:
    job = make(max_concurrent_checkpoints="2")
    slow, quick = job.due(), job.due()
    job.report(slow, 0)
    job.report(quick)
    assert job.ids == [2]
    assert job.coordinator.take_out() == ((2,), (1,))
    job.settle()
    job.report(slow, 1)
    job.settle()
    assert job.ids == [2] and not (chk(tmp_path, 1) / METADATA).exists()


def test_shared_files_stay_as_long_as_a_checkpoint_needs_them(make: Make, tmp_path: Path) -> None:
    job = make(incremental="true", num_retained="2")
    assert job.due().known_files == frozenset()
    job.report(CheckpointRequest(1, 0, str(chk(tmp_path, 1))), shared=("../shared/a", "../shared/b"))
    second = job.due()
    assert second.shared == "../shared" and second.known_files == {"../shared/a", "../shared/b"}
    job.report(second, shared=("../shared/b", "../shared/c"))
    third = job.due()
    job.report(third, shared=("../shared/c", "../shared/d"))
    job.settle()
    shared = tmp_path / "job1" / "shared"
    assert job.ids == [2, 3]
    assert sorted(path.name for path in shared.iterdir()) == ["b", "c", "d"]
    job.coordinator.close(JobStatus.FINISHED)
    assert not (tmp_path / "job1").exists()


def test_shared_files_that_one_on_its_way_may_need_stay_too(make: Make, tmp_path: Path) -> None:
    job = make(incremental="true", max_concurrent_checkpoints="2")
    job.complete(shared=("../shared/a",))
    slow, quick = job.due(), job.due()
    assert slow.known_files == {"../shared/a"}
    job.report(quick, shared=("../shared/b",))
    job.settle()
    assert job.ids == [3]
    assert not chk(tmp_path, 1).exists()


def test_shared_files_of_given_up_checkpoints_go_once_nothing_is_on_its_way(make: Make, tmp_path: Path) -> None:
    job = make(incremental="true", tolerable_failed_checkpoints="3", max_concurrent_checkpoints="2")
    job.complete(shared=("../shared/a",))
    shared = tmp_path / "job1" / "shared"
    lost = job.due()
    (shared / "lost").write_text("by one slot")
    job.report(lost, 0, error="the disk is full")
    slow, quick = job.due(), job.due()
    job.report(slow, shared=("../shared/a", "../shared/b"))
    job.settle()
    assert (shared / "lost").exists(), "what is on its way may refer to it"
    job.report(quick, shared=("../shared/b",))
    job.settle()
    assert sorted(path.name for path in shared.iterdir()) == ["b"]


def test_a_claimed_checkpoints_shared_files_are_not_those_of_the_job(tmp_path: Path, clock: Clock) -> None:
    before = Job(clock, tmp_path, incremental="true", externalized_checkpoint_retention="RETAIN_ON_CANCELLATION")
    request = before.complete(shared=("../shared/a",))
    before.coordinator.close(JobStatus.CANCELED)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    settings = {
        "execution.checkpointing.interval": "10 s",
        "execution.checkpointing.dir": str(tmp_path),
        "execution.checkpointing.incremental": "true",
        "execution.state-recovery.claim-mode": "claim",
    }
    job = Job(clock, tmp_path, job_id="job2")
    job.coordinator = CheckpointCoordinator("job2", "the job", Configuration.from_dict(settings), 2, OPERATORS, False)
    job.coordinator.restored(load_metadata(f"file://{link}/job1/chk-{request.checkpoint_id}"))
    job.complete(shared=("../shared/a",))
    job.settle()
    assert not list((tmp_path / "job1").rglob("a")), "it has the same name as one that is needed"
    assert (tmp_path / "job2" / "shared" / "a").exists()


def test_a_savepoint_shares_nothing(make: Make, tmp_path: Path) -> None:
    job = make(incremental="true")
    job.complete(shared=("../shared/a",))
    job.coordinator.savepoint(str(tmp_path / "s"), False, None)
    request = job.due(0)
    assert request.savepoint and request.shared is None and not request.known_files


@pytest.mark.parametrize(
    ("retention", "kept"),
    [
        ("NO_EXTERNALIZED_CHECKPOINTS", set()),
        ("DELETE_ON_CANCELLATION", {JobStatus.FAILED}),
        ("RETAIN_ON_CANCELLATION", {JobStatus.FAILED, JobStatus.CANCELED}),
    ],
)
@pytest.mark.parametrize("status", [JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.FAILED])
def test_what_a_job_leaves_behind(
    make: Make, tmp_path: Path, retention: str, kept: set[JobStatus], status: JobStatus
) -> None:
    job = make(externalized_checkpoint_retention=retention)
    for _ in range(2):
        job.complete()
    unfinished = job.due()
    job.report(unfinished, 0)
    saved = job.coordinator.savepoint(str(tmp_path / "savepoints"), True, None)
    job.report(job.due(0))
    job.coordinator.close(status)
    assert Path(saved.done.result(0)).exists(), "savepoints are their owner's"
    left = sorted(path.name for path in (tmp_path / "job1").glob("*"))
    assert left == (["chk-2"] if status in kept else [])
    assert (tmp_path / "job1").exists() == (status in kept)


def test_jobs_that_share_a_directory_leave_each_others_files_alone(make: Make, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "of-another-job").write_text("x")
    (tmp_path / "chk-9").mkdir()
    job = make(create_subdir="false")
    job.complete()
    assert (tmp_path / "chk-1" / METADATA).exists()
    job.coordinator.close(JobStatus.FINISHED)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chk-9", "shared"]


# Savepoints


def test_a_savepoint(make: Make, tmp_path: Path) -> None:
    job = make(savepoint_dir=str(tmp_path / "here"))
    request = job.coordinator.savepoint(None, True, None)
    assert job.coordinator.wants_savepoint
    asked = job.due(0)
    assert asked.savepoint and asked.canonical and asked.checkpoint_id == 1
    assert str(asked.directory).startswith(str(tmp_path / "here" / "savepoint-job1-"))
    job.report(asked, 0)
    assert not request.done.done()
    job.report(asked, 1)
    assert request.done.result(0) == asked.directory
    metadata = load_metadata(find_checkpoint(request.done.result(0)))
    assert metadata.savepoint and metadata.job_name == "the job"
    assert job.coordinator.latest() is not None, "a failure goes back to it"
    job.complete(0)  # Soon: the savepoint's owner may move it.
    job.settle()
    assert Path(str(asked.directory)).exists()


def test_a_savepoint_needs_a_directory(make: Make) -> None:
    with pytest.raises(CheckpointError, match=r"no directory for the savepoint.*savepoint-dir"):
        make().coordinator.savepoint(None, True, None)


def test_savepoints_that_are_asked_for_together_follow_one_another(make: Make, tmp_path: Path) -> None:
    job = make()
    wanted = [job.coordinator.savepoint(str(tmp_path / "s"), True, None) for _ in range(3)]
    requests = [job.due(0) for _ in range(3)]
    assert job.next(0) is None
    for request in reversed(requests):
        job.report(request)
    assert [one.done.result(0) for one in wanted] == [request.directory for request in requests]


def test_a_savepoint_that_fails_is_no_failure_of_the_job(make: Make, tmp_path: Path) -> None:
    job = make()
    wanted = job.coordinator.savepoint(str(tmp_path / "s"), True, StopMode.SUSPEND)
    job.report(job.due(0), error="the disk is full")
    with pytest.raises(CheckpointError, match="savepoint 1 failed: slot 0: the disk is full"):
        wanted.done.result(0)
    assert job.coordinator.counts["failed"] == 1
    job.settle()
    assert list((tmp_path / "s").glob("*")) == []


def test_a_savepoint_beside_a_checkpoint_that_is_on_its_way(make: Make, tmp_path: Path) -> None:
    job = make()
    checkpoint = job.due()
    wanted = job.coordinator.savepoint(str(tmp_path / "s"), True, None)
    saved = job.due(0)
    job.report(checkpoint)
    job.report(saved)
    assert wanted.done.done() and job.ids == [1, 2]


def test_the_last_checkpoint_of_a_job_is_no_savepoint(make: Make, tmp_path: Path) -> None:
    job = make()
    wanted = job.coordinator.savepoint(str(tmp_path / "s"), True, None)
    request, savepoint = job.coordinator.request(1, now_wanted=True)
    assert request is not None and not request.savepoint and savepoint is None
    job.coordinator.close(JobStatus.FINISHED)
    with pytest.raises(CheckpointError, match="ended before the savepoint was taken"):
        wanted.done.result(0)
    with pytest.raises(CheckpointError, match="has ended"):
        job.coordinator.savepoint(str(tmp_path / "s"), True, None)


def test_a_savepoint_that_is_not_complete_when_the_job_ends(make: Make, tmp_path: Path) -> None:
    job = make()
    wanted = job.coordinator.savepoint(str(tmp_path / "s"), True, None)
    job.report(job.due(0), 0)
    job.coordinator.close(JobStatus.CANCELED)
    with pytest.raises(CheckpointError, match="before the savepoint was complete"):
        wanted.done.result(0)
    assert list((tmp_path / "s").glob("*")) == []


# Going on


def test_after_a_failure_the_newest_is_gone_on_from(make: Make) -> None:
    job = make(num_retained="3")
    job.complete(), job.complete()
    lost = job.due()
    job.report(lost, 0)
    latest = job.coordinator.restart()
    assert latest is not None and latest.checkpoint_id == 2
    assert job.coordinator.take_out() == ((), ())
    job.settle()
    job.report(lost, 1)  # From a slot of the attempt before.
    assert job.ids == [1, 2]
    assert job.next(9) is None, "the interval begins anew"
    assert job.due(1).checkpoint_id == 4, "numbers are never used again"


def test_a_failure_while_metadata_is_being_written(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make()
    go = threading.Event()
    real = CheckpointCoordinator._write_metadata

    def slow(self: CheckpointCoordinator, pending: Any) -> Any:
        assert go.wait(10)
        return real(self, pending)

    monkeypatch.setattr(CheckpointCoordinator, "_write_metadata", slow)
    monkeypatch.setattr(checkpoint_coordinator, "_METADATA_SECONDS", 0.0)
    job.complete()
    assert job.ids == []
    threading.Timer(0.05, go.set).start()
    latest = job.coordinator.restart()
    assert latest is not None and latest.checkpoint_id == 1, "it is complete: what it covers must not come again"


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Metadata is not written before this is set."""
    go = threading.Event()
    real = CheckpointCoordinator._write_metadata

    def slow(self: CheckpointCoordinator, pending: Any) -> Any:
        assert go.wait(10)
        return real(self, pending)

    monkeypatch.setattr(CheckpointCoordinator, "_write_metadata", slow)
    monkeypatch.setattr(checkpoint_coordinator, "_METADATA_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_coordinator, "_GIVE_UP_SECONDS", 0.05)
    yield go
    go.set()


@pytest.mark.parametrize("restarts", [False, True])
def test_metadata_that_takes_too_long(make: Make, tmp_path: Path, hanging: threading.Event, restarts: bool) -> None:
    job = make(timeout="60 s", tolerable_failed_checkpoints="1")
    job.complete()
    pending = job.coordinator._pending[1]
    assert pending.writing is not None
    if restarts:
        assert job.coordinator.restart() is None
    else:
        job.tick(61)
        assert job.coordinator.take_out() == ((), (1,))
    hanging.set()
    pending.writing.result(10)
    deadline = time.monotonic() + 10
    while chk(tmp_path, 1).exists():
        assert time.monotonic() < deadline, "it is no checkpoint any more"
        time.sleep(0.01)
    job.tick(0)
    assert job.ids == [] and job.coordinator.latest() is None


def test_a_job_ends_though_metadata_hangs(make: Make, hanging: threading.Event) -> None:
    job = make()
    job.complete()
    job.coordinator.close(JobStatus.CANCELED)
    assert job.ids == []


def test_savepoints_that_a_failure_breaks_off(make: Make, tmp_path: Path) -> None:
    job = make()
    taken = job.coordinator.savepoint(str(tmp_path / "s"), True, None)
    job.due(0)
    waiting = job.coordinator.savepoint(str(tmp_path / "s"), True, None)
    job.coordinator.restart()
    for wanted in (taken, waiting):
        with pytest.raises(CheckpointError, match="the job failed before"):
            wanted.done.result(0)
    assert job.next(0) is None


def test_checkpoints_may_be_preferred_to_savepoints(make: Make, tmp_path: Path) -> None:
    plain, preferring = make(), make(job_id="job2", prefer_checkpoint_for_recovery="true")
    for job, expected, announced in ((plain, 2, (1, 2)), (preferring, 1, (1,))):
        job.complete()
        job.coordinator.savepoint(str(tmp_path / "s"), True, None)
        job.report(job.due(0))
        latest = job.coordinator.restart() if job is plain else job.coordinator.latest()
        assert latest is not None and latest.checkpoint_id == expected
        if job is preferring:
            assert job.coordinator.take_out()[0] == announced, "nothing may be given away that could come again"


def test_what_a_job_has_stopped_with_is_gone_on_from(make: Make, tmp_path: Path) -> None:
    job = make(prefer_checkpoint_for_recovery="true")
    job.complete()
    job.coordinator.savepoint(str(tmp_path / "s"), True, StopMode.SUSPEND)
    job.report(job.due(0))
    assert job.coordinator.take_out()[0] == (1, 2), "sinks give away what it covers"
    latest = job.coordinator.restart()
    assert latest is not None and latest.checkpoint_id == 2
    job.coordinator.savepoint(str(tmp_path / "s"), True, None)
    job.report(job.due(0))
    latest = job.coordinator.restart()
    assert latest is not None and latest.checkpoint_id == 2, "the other savepoint is none to go back to"
    job.complete()
    latest = job.coordinator.latest()
    assert latest is not None and latest.checkpoint_id == 4


def test_a_job_starts_from_a_checkpoint_of_another(make: Make, tmp_path: Path, clock: Clock) -> None:
    before = make(externalized_checkpoint_retention="RETAIN_ON_CANCELLATION")
    for _ in range(3):
        before.complete()
    before.coordinator.close(JobStatus.CANCELED)
    start = load_metadata(find_checkpoint(str(tmp_path / "job1")))

    job = make(job_id="job2")
    job.coordinator.restored(start)
    assert job.coordinator.restart() is start
    assert job.due().checkpoint_id == 4
    assert chk(tmp_path, 3).exists()


@pytest.mark.parametrize("claims", [False, True])
@pytest.mark.parametrize("savepoint", [False, True])
def test_what_a_job_starts_from_is_its_own_only_if_it_claims_it(
    tmp_path: Path, clock: Clock, claims: bool, savepoint: bool
) -> None:
    before = Job(clock, tmp_path, externalized_checkpoint_retention="RETAIN_ON_CANCELLATION")
    if savepoint:
        before.coordinator.savepoint(str(tmp_path / "s"), True, None)
    request = before.due()
    before.report(request)
    before.coordinator.close(JobStatus.CANCELED)
    start = load_metadata(str(request.directory))

    settings = {
        "execution.checkpointing.interval": "10 s",
        "execution.checkpointing.dir": str(tmp_path),
        "execution.state-recovery.claim-mode": "claim" if claims else "no_claim",
    }
    job = Job(clock, tmp_path, job_id="job2")
    job.coordinator = CheckpointCoordinator("job2", "the job", Configuration.from_dict(settings), 2, OPERATORS, False)
    job.coordinator.restored(start)
    job.complete()
    job.settle()
    assert Path(str(request.directory)).exists() != claims
    assert job.ids == ([2] if claims or not savepoint else [1, 2])


def test_an_unreadable_checkpoint_is_left_for_an_older_one(make: Make) -> None:
    job = make(num_retained="2")
    job.complete(), job.complete()
    newest = job.coordinator.latest()
    assert newest is not None
    assert job.coordinator.discard(newest)
    older = job.coordinator.latest()
    assert older is not None and older.checkpoint_id == 1
    assert not job.coordinator.discard(older)


# In memory


def test_without_a_directory_checkpoints_stay_in_memory(make: Make) -> None:
    job = make(directory=None)
    request = job.complete()
    assert request.directory is None
    latest = job.coordinator.latest()
    assert latest is not None and latest.path == "checkpoint 1 in memory"
    job.coordinator.close(JobStatus.FINISHED)


def test_storage_is_chosen_by_name(make: Make, tmp_path: Path) -> None:
    assert make(storage="jobmanager", directory=None).due().directory is None
    assert make(storage="filesystem").due().directory == str(chk(tmp_path, 1))
    with pytest.raises(CheckpointError, match=r"'filesystem', but execution\.checkpointing\.dir is not set"):
        make(directory=None, storage="filesystem")


@pytest.mark.parametrize("retains", [False, True])
def test_on_one_machine_files_need_no_directory_of_the_users(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retains: bool
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    settings = {"execution.checkpointing.interval": "10 s"}
    if retains:
        settings["execution.checkpointing.externalized-checkpoint-retention"] = "RETAIN_ON_CANCELLATION"
    job = Job(clock, None)
    job.coordinator = CheckpointCoordinator(
        "job1", "the job", Configuration.from_dict(settings), 2, OPERATORS, False, on_one_machine=True
    )
    directory = Path(str(job.complete().directory))
    owners = list(tmp_path.glob("*/owner"))
    assert (directory / METADATA).exists() and len(owners) == (not retains), "what is retained outlives the process"
    job.coordinator.close(JobStatus.CANCELED)
    assert directory.exists() == retains and bool(list(tmp_path.iterdir())) == retains


# Whole or not at all


def test_a_crash_at_any_point_leaves_the_old_or_the_new_checkpoint_whole(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver stops at its n-th operation on the store; what is there then is looked at as a new one would."""

    class Crashed(BaseException):
        pass

    real = checkpoint_coordinator.open_checkpoint_store
    steps = {"left": 0, "done": 0}

    def crashing(url: str) -> CheckpointStore:
        store = real(url)

        def counted(method: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any) -> Any:
                if steps["left"] == 0:
                    raise Crashed
                steps["left"] -= 1
                steps["done"] += 1
                return method(*args)

            return call

        for name in ("write", "remove", "names", "size"):
            setattr(store, name, counted(getattr(store, name)))
        return store

    for module in (checkpoint_coordinator, checkpoint_cleaner):
        monkeypatch.setattr(module, "open_checkpoint_store", crashing)
    monkeypatch.setattr(CheckpointCoordinator, "_in_thread", staticmethod(_at_once))
    monkeypatch.setattr(CheckpointCleaner, "run", lambda self, call: call())
    seen = set()
    for survives in range(20):
        steps.update(left=1 << 30, done=0)
        job = Job(clock, tmp_path / str(survives), incremental="true")
        job.complete(shared=("../shared/a", "../shared/b"))
        steps["left"] = survives
        try:
            job.complete(shared=("../shared/b", "../shared/c"))
            ended = True
        except Crashed:
            ended = False
        found = load_metadata(find_checkpoint(str(tmp_path / str(survives) / "job1")))
        seen.add(found.checkpoint_id)
        for file in found.shared_files():
            assert real(str(found.directory)).size(file) == 5
        if ended:
            break
    assert ended and seen == {1, 2}


def _at_once(call: Callable[..., Any], *args: Any) -> Any:
    from concurrent.futures import Future

    future: Future[Any] = Future()
    future.set_result(call(*args))
    return future
