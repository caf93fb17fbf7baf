"""The job master, with a Spark that is not there or does not listen."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from spry.common.configuration import Configuration
from spry.common.errors import FailureInfo, JobCancelledError, JobExecutionError, SlotLostError
from spry.common.job_id import JobID
from spry.common.job_status import JobStatus
from spry.common.plan import SlotReport
from spry.graph.submission import JobSubmission
from spry.jobmanager import job_master
from spry.jobmanager.checkpoint_coordinator import CheckpointCoordinator
from spry.jobmanager.job_master import JobMaster
from spry.jobmanager.state_queries import StateQueries
from spry.runtime.testing import OperatorHarness
from tests.local_job import new_environment


class NoSpark:
    """What a job master sees of Spark when its Java process has died."""

    def __init__(self, *args: Any) -> None:
        self.cancelled = 0

    def deploy(self) -> list[SlotReport]:
        raise SlotLostError("Spark's Java process is gone")

    def close(self, for_good: bool = True) -> list[SlotReport]:
        raise SlotLostError("Spark's Java process is gone")

    def release(self) -> None:
        raise ConnectionRefusedError

    def stop_reading(self) -> None:
        """Nobody is there."""

    def interrupt(self) -> None:
        """Nobody is there."""

    def cancel(self) -> None:
        self.cancelled += 1


class DeafSpark(NoSpark):
    """Comes to its job late: the first requests to cancel it find nothing to cancel."""

    def deploy(self) -> list[SlotReport]:
        deadline = time.monotonic() + 10
        while self.cancelled < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        raise SlotLostError("the epoch was cancelled" if self.cancelled else "nobody cancelled")

    def release(self) -> None:
        """Nothing to give back."""


class SlowSpark(NoSpark):
    """One slot keeps the other waiting, whose process is gone afterwards."""

    def deploy(self) -> list[SlotReport]:
        return [SlotReport(0, 0, 1)]

    def run_epoch(self, command: Any, description: str) -> list[SlotReport]:
        failure = FailureInfo("slot 0 lost its process", slot_lost=True)
        time.sleep(0.02)
        return [SlotReport(0, 1, 1, failure=failure)]


def started(monkeypatch: pytest.MonkeyPatch, spark: type[NoSpark]) -> JobMaster:
    monkeypatch.setattr(job_master, "SparkJob", spark)
    monkeypatch.setattr(job_master, "release_thread", lambda: None)
    monkeypatch.setattr(job_master, "_CANCEL_GRACE_SECONDS", 0.02)
    env = new_environment()
    env.from_collection([1]).print()
    configuration = env.get_configuration()
    master = JobMaster(JobSubmission(env.get_stream_graph(), configuration), None, JobID.generate())
    master.start()
    return master


def test_a_job_whose_spark_is_gone_fails_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    master = started(monkeypatch, NoSpark)
    with pytest.raises(JobExecutionError, match="Java process is gone"):
        master.result.result(10)
    assert master.status is JobStatus.FAILED
    assert {subtask.state.value for subtask in master.graph.subtasks()} == {"FAILED"}


def test_a_slot_that_spark_ended_for_idleness_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_master, "_WORKER_IDLE_SECONDS", 0.01)
    master = started(monkeypatch, SlowSpark)
    with pytest.raises(JobExecutionError, match=r"slot 0 lost its process; .* another slot kept this one waiting"):
        master.result.result(10)


def test_a_source_of_ours_that_fails_needs_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> Any:
        return OperatorHarness(5)  # Raises deep inside the engine.

    monkeypatch.setattr(job_master.SourceCoordinator, "__init__", fail)
    fail.__code__ = fail.__code__.replace(co_filename=job_master.__file__)
    master = started(monkeypatch, NoSpark)
    with pytest.raises(JobExecutionError) as caught:
        master.result.result(10)
    assert caught.value.failure.operator == "Source: Collection Source"
    assert caught.value.failure.traceback == ""


def test_cancelling_does_not_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    master = started(monkeypatch, DeafSpark)
    master.cancel()
    master.ended.result(10)
    with pytest.raises(JobCancelledError):
        master.result.result(10)
    assert master.status is JobStatus.CANCELED
    deadline = time.monotonic() + 5
    while any(thread.name.startswith("canceller") for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "the thread that cancels ends with the job"
        time.sleep(0.01)


class Alarm:
    """Notes how long the job master would sleep."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def clear(self) -> None:
        """It has not rung."""


@pytest.mark.parametrize(
    ("timers", "pause", "expected"),
    [
        ([], 20.0, 20.0),
        ([None, None], 20.0, 20.0),
        ([5_000], 20.0, 5.0),
        ([9_000, None, 2_500], 20.0, 2.5),
        ([60_000], 20.0, 20.0),
        ([-3_000], 20.0, None),
        ([5_000], 0.0, None),
    ],
)
def test_an_idle_job_sleeps_until_its_next_timer(
    monkeypatch: pytest.MonkeyPatch, timers: list[int | None], pause: float, expected: float | None
) -> None:
    """Timers are in ms from now here."""
    now = 1_700_000_000.0
    monkeypatch.setattr(job_master.time, "time", lambda: now)
    master = JobMaster.__new__(JobMaster)
    alarm = Alarm()
    master._cancelling = False
    master._wake = alarm  # type: ignore[assignment]
    master.checkpoints = CheckpointCoordinator("job", "job", Configuration(), 1, {}, False)
    master._queries = StateQueries()
    reports = [
        SlotReport(slot, 1, 1, next_timer=None if timer is None else int(now * 1000) + timer)
        for slot, timer in enumerate(timers)
    ]
    master._pause(reports, pause)
    assert alarm.waits == ([] if expected is None else [pytest.approx(expected)])
