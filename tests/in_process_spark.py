"""Stands in for Spark: a job master's slots run in this process, and die as its test wants them to.

A crash loses the slots as they are: nothing is flushed and nothing closed, as with SIGKILL.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from spry.common.errors import FailureInfo, JobExecutionError
from spry.common.job_id import JobID
from spry.common.plan import EpochCommand, JobPlan, SlotReport
from spry.datastream import StreamExecutionEnvironment
from spry.graph.submission import JobSubmission
from spry.jobmanager import executor, job_master
from spry.jobmanager.job_master import JobMaster
from spry.runtime.clock import system_clock
from spry.runtime.testing import SlotCluster

__all__ = ["Crashes", "in_process", "run_job"]


class Crashes:
    """When slots die: at random, in this part of the epochs, until they have died so often.

    That is a hundred times as likely when a checkpoint is taken, or when they are to be told that one is complete.
    """

    def __init__(self, seed: int = 0, rate: float = 0.0, most: int = 0) -> None:
        self.random = random.Random(seed)
        self.rate = rate
        self.left = most
        self.count = 0
        self.dead: list[SlotCluster] = []
        """Kept, so that no destructor writes anything out."""

    def now(self, command: EpochCommand) -> bool:
        rate = self.rate * 100 if command.completed or command.checkpoint is not None else self.rate
        if self.left <= 0 or self.random.random() >= rate:
            return False
        self.left -= 1
        self.count += 1
        return True


class _InProcessSpark:
    crashes: Crashes

    def __init__(self, context: Any, plan: JobPlan, requirements: str | None = None) -> None:
        self._cluster = SlotCluster(plan, system_clock, seed=1)
        self._gone = False

    def deploy(self) -> list[SlotReport]:
        return self._cluster.deploy()

    def run_epoch(self, command: EpochCommand, description: str) -> list[SlotReport]:
        before = self.crashes.now(command)
        reports = [] if before else self._cluster.run_epoch(command)
        if before or self.crashes.now(command):
            self._gone = True
            self.crashes.dead.append(self._cluster)
            return [SlotReport(0, command.epoch, 1, failure=FailureInfo("slot 0 was killed", slot_lost=True))]
        return reports

    def close(self, for_good: bool = True) -> list[SlotReport]:
        return [] if self._gone else self._cluster.close(for_good)

    def release(self) -> None:
        """Nothing to give back."""

    stop_reading = interrupt = cancel = release


_RUNNING = SimpleNamespace(isStopped=lambda: False)
_CONTEXT = SimpleNamespace(version="none", master="local[2]", _jsc=SimpleNamespace(sc=lambda: _RUNNING))


def run_job(env: StreamExecutionEnvironment, crashes: Crashes | None = None, seconds: float = 30) -> JobMaster:
    """Run the job that was defined on an environment, to its end."""
    with _patched(crashes or Crashes()):
        submission = JobSubmission(env.get_stream_graph(), env.get_configuration())
        master = JobMaster(submission, _CONTEXT, JobID.generate())
        master.start()
        try:
            master.result.result(seconds)
        except TimeoutError:
            master.cancel()
            raise
        except JobExecutionError:
            master.ended.result(10)
            raise
        master.ended.result(10)
    return master


@contextmanager
def in_process(crashes: Crashes | None = None) -> Iterator[None]:
    """Within the block ``env.execute``, ``execute_async`` and ``execute_and_collect`` need no Spark."""
    with _patched(crashes or Crashes()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "get_spark_context", lambda configuration: (_CONTEXT, 0.0))
        yield


class _patched:
    def __init__(self, crashes: Crashes) -> None:
        self._spark = type("InProcessSpark", (_InProcessSpark,), {"crashes": crashes})
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> None:
        self._patch.setattr(job_master, "SparkJob", self._spark)
        self._patch.setattr(job_master, "release_thread", lambda: None)

    def __exit__(self, *_: Any) -> None:
        self._patch.undo()
