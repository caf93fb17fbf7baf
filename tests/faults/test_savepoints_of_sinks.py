"""Sinks of jobs without checkpoints: savepoints that fail, or of which nothing is heard, take nothing from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spry.common import Encoder
from spry.common.errors import CheckpointError
from spry.common.job_status import JobStatus
from spry.common.sink import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    GlobalCommittingSink,
    WriterContext,
    WriterInitContext,
)
from spry.datastream import (
    CheckpointCommitter,
    DataStream,
    GenericWriteAheadSink,
    SourceFunction,
    TwoPhaseCommitSinkFunction,
)
from spry.datastream.connectors.file_system import FileSink, RollingPolicy
from tests import journal
from tests.in_process_spark import in_process
from tests.local_job import new_environment, program

COUNT = 300


class Transactions(TwoPhaseCommitSinkFunction[int, list[int]]):
    def begin_transaction(self) -> list[int]:
        return []

    def invoke_in_transaction(self, transaction: list[int], value: int, context: WriterContext) -> None:
        transaction.append(value)

    def pre_commit(self, transaction: list[int]) -> None: ...

    def commit(self, transaction: list[int]) -> None:
        for value in transaction:
            journal.note(value)

    def abort(self, transaction: list[int]) -> None: ...


class Remembering(CheckpointCommitter):
    def create_resource(self) -> None:
        self.sent = 0

    def open(self) -> None: ...

    def close(self) -> None: ...

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        self.sent = checkpoint_id

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        return checkpoint_id <= self.sent


class WriteAhead(GenericWriteAheadSink[int]):
    def send_values(self, values: Any, checkpoint_id: int, timestamp: int) -> bool:
        for value in values:
            journal.note(value)
        return True


class Batches(CommittingSinkWriter[int, Any]):
    def __init__(self) -> None:
        self.values: list[int] = []

    def write(self, element: int, context: WriterContext) -> None:
        self.values.append(element)

    def prepare_commit(self) -> list[Any]:
        values, self.values = self.values, []
        return [values] if values else []


class Noting(Committer[Any]):
    def commit(self, requests: list[CommitRequest[Any]]) -> None:
        for request in requests:
            for value in request.get_committable():
                journal.note(value)


class Table(GlobalCommittingSink[int, Any]):
    def create_writer(self, context: WriterInitContext) -> Batches:
        return Batches()

    def create_global_committer(self, context: CommitterInitContext) -> Noting:
        return Noting()


def to_files(stream: DataStream, directory: Path) -> None:
    rows = FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
    sink = rows.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    stream.map(str).sink_to(sink)


SINKS: dict[str, Callable[[DataStream, Path], Any]] = {
    "files": to_files,
    "transactions": lambda stream, directory: stream.add_sink(Transactions()),
    "write-ahead": lambda stream, directory: stream.add_sink(WriteAhead(Remembering())),
    "global": lambda stream, directory: stream.sink_to(Table()),
}


def shown(directory: Path) -> list[int]:
    files = [path for path in directory.rglob("part-*") if path.is_file()] if directory.exists() else []
    noted = [entry for entry in journal.ENTRIES if isinstance(entry, int)]
    return sorted(noted + [int(line) for file in files for line in file.read_text().split()])


@pytest.fixture(autouse=True)
def empty_journal() -> Iterator[None]:
    journal.reset()
    yield
    journal.reset()


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("kind", SINKS)
def test_savepoints_that_are_not_complete_at_the_end(tmp_path: Path, kind: str, told: bool) -> None:
    env, job = program()
    SINKS[kind](env.from_sequence(1, COUNT), tmp_path / "out")
    job.start()
    for number in (1, 2, 3):
        job.checkpoint(max_records=20, directory=str(tmp_path / "savepoint"))
        job.step(max_records=20, aborted=(number,) if told else ())
    assert shown(tmp_path / "out") == []
    job._max_records = COUNT
    while not job.finished:
        job.step()
    job.close()
    assert shown(tmp_path / "out") == list(range(1, COUNT + 1))


class Numbers(SourceFunction):
    """Waits at two places until savepoints have been tried."""

    running = True

    def run(self, ctx: Any) -> None:
        for n in range(1, COUNT + 1):
            while self.running and n in (100, 200) and f"go {n}" not in journal.ENTRIES:
                journal.note(f"at {n}")
                time.sleep(0.002)
            with ctx.get_checkpoint_lock():
                ctx.collect(n)

    def cancel(self) -> None:
        self.running = False


@pytest.mark.parametrize("kind", SINKS)
def test_savepoints_that_fail(tmp_path: Path, kind: str) -> None:
    env = new_environment(1)
    env.get_configuration().set_string("spry.progress", "none")
    SINKS[kind](env.add_source(Numbers()), tmp_path / "out")
    (tmp_path / "file").write_text("")
    with in_process():
        client = env.execute_async()
        for n in (100, 200):
            deadline = time.monotonic() + 20
            while f"at {n}" not in journal.ENTRIES or client.get_job_status().result() is not JobStatus.RUNNING:
                assert time.monotonic() < deadline
                time.sleep(0.002)
            with pytest.raises(CheckpointError, match=r"savepoint \d failed"):
                client.trigger_savepoint(str(tmp_path / "file")).result(10)
            journal.note(f"go {n}")
        client.get_job_execution_result().result(20)
    assert shown(tmp_path / "out") == list(range(1, COUNT + 1))
