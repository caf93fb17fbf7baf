"""Sinks in jobs whose slots are killed: what is visible in the end is what a job without faults shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from spry.common.serialization import Encoder
from spry.common.sink import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    GlobalCommittingSink,
    WriterContext,
    WriterInitContext,
)
from spry.datastream import StreamExecutionEnvironment, TwoPhaseCommitSinkFunction
from spry.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from spry.jobmanager.job_master import JobMaster
from tests import journal
from tests.in_process_spark import Crashes, run_job
from tests.local_job import new_environment


def environment(parallelism: int = 2) -> StreamExecutionEnvironment:
    env = new_environment(parallelism)
    configuration = env.get_configuration()
    for key, value in {
        "spry.progress": "none",
        "spry.epoch.max-records": "4",
        "execution.checkpointing.interval": "50 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        "restart-strategy.fixed-delay.delay": "0 ms",
    }.items():
        configuration.set_string(key, value)
    return env


class ByRemainder(BucketAssigner):
    def get_bucket_id(self, element: Any, context: BucketAssigner.Context) -> str:
        return f"rest={element % 3}"


COUNT = 8_000


def check(master: JobMaster, crashes: Crashes) -> None:
    """There was something to go on from."""
    assert master.restarts == crashes.count > 0
    assert master.checkpoints._last_completed > 0


def visible(path: Path) -> list[int]:
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    return sorted(int(line) for file in files for line in file.read_text().split())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "policy",
    [RollingPolicy.on_checkpoint_rolling_policy(), RollingPolicy.default_rolling_policy(part_size=300)],
    ids=["on checkpoint", "by size"],
)
def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: RollingPolicy, seed: int) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    env = environment()
    builder = FileSink.for_row_format(tmp_path, Encoder.simple_string_encoder()).with_rolling_policy(policy)
    numbers = env.from_sequence(1, COUNT).key_by(lambda n: n % 7).map(lambda n: n)
    numbers.sink_to(builder.with_bucket_assigner(ByRemainder()).build())
    crashes = Crashes(seed, 0.002, 20)
    check(run_job(env, crashes), crashes)
    assert visible(tmp_path) == list(range(1, COUNT + 1))


class Appending(TwoPhaseCommitSinkFunction[int, str]):
    """A transaction is a file; to commit it is to rename it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def begin_transaction(self) -> str:
        return os.urandom(8).hex()

    def _hidden(self, transaction: str) -> Path:
        return self.directory / f".{transaction}"

    def invoke_in_transaction(self, transaction: str, value: int, context: WriterContext) -> None:
        with self._hidden(transaction).open("a") as file:
            file.write(f"{value}\n")

    def pre_commit(self, transaction: str) -> None:
        pass

    def commit(self, transaction: str) -> None:
        if self._hidden(transaction).exists():
            self._hidden(transaction).rename(self.directory / transaction)

    def abort(self, transaction: str) -> None:
        self._hidden(transaction).unlink(missing_ok=True)


@pytest.mark.parametrize("seed", range(2))
def test_transactions_of_a_sink_function(tmp_path: Path, seed: int) -> None:
    env = environment()
    env.from_sequence(1, COUNT).rebalance().add_sink(Appending(tmp_path))
    crashes = Crashes(seed, 0.002, 20)
    check(run_job(env, crashes), crashes)
    assert visible(tmp_path) == list(range(1, COUNT + 1))


# Committed in one place


class Batches(CommittingSinkWriter[int, Any]):
    def __init__(self, subtask: int) -> None:
        self.subtask = subtask
        self.values: list[int] = []

    def write(self, element: int, context: WriterContext) -> None:
        self.values.append(element)

    def prepare_commit(self) -> list[Any]:
        values, self.values = self.values, []
        return [(self.subtask, tuple(values))] if values else []


class Versions(Committer[Any]):
    """Every commit is the table's next version; what is in an earlier one is left out."""

    def commit(self, requests: list[CommitRequest[Any]]) -> None:
        known = {batch for version in journal.ENTRIES for batch in version}
        for request in requests:
            if request.get_committable() in known:
                assert request.is_recovered()
                request.signal_already_committed()
        version = [request.get_committable() for request in requests if request.get_committable() not in known]
        if version:
            journal.note(version)


class Table(GlobalCommittingSink[int, Any]):
    def create_writer(self, context: WriterInitContext) -> Batches:
        return Batches(context.get_subtask_id())

    def create_global_committer(self, context: CommitterInitContext) -> Versions:
        return Versions()


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_a_table_whose_versions_are_made_in_one_place(parallelism: int, seed: int) -> None:
    journal.reset()
    env = environment(parallelism)
    env.from_sequence(1, COUNT).rebalance().sink_to(Table())
    crashes = Crashes(seed, 0.002, 20)
    check(run_job(env, crashes), crashes)
    versions = journal.reset()
    assert sorted(n for version in versions for _, values in version for n in values) == list(range(1, COUNT + 1))
    if parallelism == 2:
        both = [version for version in versions if {subtask for subtask, _ in version} == {0, 1}]
        assert len(both) >= len(versions) - 2, "what the subtasks wrote between two checkpoints is in one version"


@pytest.mark.parametrize("chaining", [False, True])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_without_checkpoints_there_is_one_version(parallelism: int, chaining: bool) -> None:
    journal.reset()
    env = new_environment(parallelism, chaining=chaining)
    env.get_configuration().set_string("spry.progress", "none")
    env.from_sequence(1, 20).sink_to(Table())
    run_job(env)
    [version] = journal.reset()
    assert sorted(n for _, values in version for n in values) == list(range(1, 21))


def test_the_committer_of_a_sink_with_a_uid_has_one_too() -> None:
    env = environment(3)
    env.from_sequence(1, 20).sink_to(Table()).uid("table").name("the table")
    nodes = {node.uid: node for node in env.get_stream_graph().nodes}
    assert nodes["table"].name == "Sink: the table" and nodes["table"].parallelism == 3
    assert nodes["table-global-committer"].parallelism == 1
