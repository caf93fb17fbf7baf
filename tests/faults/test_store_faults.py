"""Checkpoint stores that fail now and then, under a job that writes files exactly once."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spry.common.errors import CheckpointError, JobExecutionError
from spry.common.serialization import Encoder
from spry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from spry.datastream.connectors.file_system import FileSink, RollingPolicy
from spry.datastream.state import ListStateDescriptor
from spry.jobmanager import checkpoint_coordinator
from spry.runtime.checkpoints import restore, snapshots
from spry.runtime.checkpoints.storage import CheckpointStore, open_checkpoint_store
from tests.in_process_spark import Crashes, in_process, run_job
from tests.local_job import new_environment

COUNT = 3_000


class Faults:
    """Every n-th operation of some kinds fails."""

    def __init__(self, every: int, error: OSError, kinds: tuple[str, ...], most: int = 1 << 30) -> None:
        self.every, self.error, self.kinds, self.most = every, error, kinds, most
        self.count = self.failed = 0
        self._lock = threading.Lock()

    def open(self, url: str) -> CheckpointStore:
        store = open_checkpoint_store(url)
        for kind in self.kinds:
            setattr(store, kind, self._failing(getattr(store, kind)))
        return store

    def _failing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            with self._lock:
                self.count += 1
                if self.count % self.every == 0 and self.failed < self.most:
                    self.failed += 1
                    raise self.error
            return method(*args)

        return call


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[Faults], Faults]:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)

    def done(faults: Faults) -> Faults:
        for module in (checkpoint_coordinator, snapshots, restore):
            monkeypatch.setattr(module, "open_checkpoint_store", faults.open)
        return faults

    return done


class Keeps(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.kept = runtime_context.get_list_state(ListStateDescriptor("kept"))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.kept.add(value)
        time.sleep(0.0003)  # However quick the machine is, the job lasts for many checkpoints.
        yield value


def job(tmp_path: Path, tolerated: int) -> StreamExecutionEnvironment:
    env = new_environment(2)
    for key, value in {
        "spry.progress": "none",
        "spry.epoch.max-records": "10",
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": str(tmp_path / "checkpoints"),
        "execution.checkpointing.data-inline-threshold": "0",
        "execution.checkpointing.tolerable-failed-checkpoints": str(tolerated),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        "restart-strategy.fixed-delay.delay": "0 ms",
    }.items():
        env.get_configuration().set_string(key, value)
    sink = FileSink.for_row_format(tmp_path / "out", Encoder.simple_string_encoder())
    numbers = env.from_sequence(1, COUNT).key_by(lambda n: n % 7).process(Keeps())
    numbers.sink_to(sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build())
    return env


def visible(path: Path) -> list[int]:
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    return sorted(int(line) for file in files for line in file.read_text().split())


FULL = OSError(errno.ENOSPC, "No space left on device")
GONE = OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("error", [FULL, GONE], ids=["full", "gone"])
@pytest.mark.parametrize("tolerated", [100, 0])
@pytest.mark.parametrize("every", [3, 4, 7])
def test_files_cannot_be_written_now_and_then(
    tmp_path: Path, install: Any, every: int, tolerated: int, error: OSError
) -> None:
    faults = install(Faults(every, error, ("write", "upload"), most=20))
    master = run_job(job(tmp_path, tolerated))
    assert visible(tmp_path / "out") == list(range(1, COUNT + 1))
    assert faults.failed > 0
    assert (master.restarts > 0) == (tolerated == 0)
    assert master.checkpoints.counts["failed"] > 0
    assert str(error.strerror) in str(master.checkpoints.last_failure)


def test_nor_read_nor_removed(tmp_path: Path, install: Any) -> None:
    install(Faults(3, GONE, ("write", "open", "remove", "names", "size"), most=60))
    crashes = Crashes(1, 0.003, 10)
    master = run_job(job(tmp_path, 2), crashes)
    assert visible(tmp_path / "out") == list(range(1, COUNT + 1))
    assert master.restarts >= crashes.count


def test_a_disk_that_stays_full(tmp_path: Path, install: Any) -> None:
    install(Faults(1, FULL, ("write",)))
    env = job(tmp_path, 3)
    env.get_configuration().set_string("restart-strategy.fixed-delay.attempts", "2")
    with pytest.raises(JobExecutionError, match=r"checkpoint \d+ failed: .*No space left on device.*is 3\)"):
        run_job(env)
    assert visible(tmp_path / "out") == []


@pytest.mark.parametrize("fails", [True, False])
def test_a_savepoint_of_a_job_without_checkpoints_takes_nothing_with_it(
    tmp_path: Path, install: Any, fails: bool
) -> None:
    """What was made ready for a savepoint is given away at the end, whatever has become of the savepoint."""
    if fails:
        install(Faults(1, FULL, ("write",)))
    env = job(tmp_path, 0)
    env.get_configuration().set_string("execution.checkpointing.interval", "0 ms")
    with in_process():
        client = env.execute_async("job")
        asked = []
        while not client.get_job_status().result().is_terminal_state():
            with contextlib.suppress(CheckpointError):
                asked.append(client.trigger_savepoint(str(tmp_path / "savepoints")))
            time.sleep(0.005)
        client.get_job_execution_result().result(20)
    assert asked
    assert any(one.exception(1) is None for one in asked) != fails
    assert visible(tmp_path / "out") == list(range(1, COUNT + 1))
