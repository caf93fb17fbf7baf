"""Sinks: functions, writers, transactions, print."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.errors import JobExecutionError
from spry.common.operators import PrintOperator
from spry.common.sink import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    Sink,
    SinkWriter,
    TwoPhaseCommittingSink,
    WriterContext,
    WriterInitContext,
)
from spry.common.typeinfo import Types
from spry.common.types import Row, RowKind
from spry.datastream import RuntimeContext, SinkFunction
from spry.runtime.operators import sinks
from spry.runtime.testing import OperatorHarness
from tests import journal
from tests.local_job import program


class Notes(SinkFunction[Any]):
    def open(self, runtime_context: RuntimeContext) -> None:
        journal.note("open")

    def invoke(self, value: Any, context: WriterContext) -> None:
        journal.note((value, context.timestamp, context.current_watermark))

    def finish(self) -> None:
        journal.note("finish")

    def close(self) -> None:
        journal.note("close")


MIN = -(2**63)


def test_a_sink_function_sees_values_timestamps_and_watermarks() -> None:
    journal.reset()
    with OperatorHarness(Notes()) as harness:
        harness.push("a")
        harness.push("b", timestamp=5)
        harness.watermark(3)
        harness.push("c")
        harness.end()
    assert journal.reset() == ["open", ("a", None, MIN), ("b", 5, MIN), ("c", None, 3), "finish", "close"]


def test_a_plain_function_is_a_sink_too() -> None:
    journal.reset()
    env, job = program(2)
    env.from_collection(range(5)).add_sink(journal.note)
    job.run()
    assert sorted(journal.reset()) == list(range(5))


class Writer(SinkWriter[Any]):
    def __init__(self, context: WriterInitContext) -> None:
        self.me = context.get_subtask_id()
        journal.note(("create", self.me, context.get_number_of_parallel_subtasks(), context.get_attempt_number()))

    def write(self, element: Any, context: WriterContext) -> None:
        journal.note(("write", element, context.timestamp))

    def flush(self, end_of_input: bool) -> None:
        journal.note(("flush", end_of_input))

    def write_watermark(self, timestamp: int) -> None:
        journal.note(("watermark", timestamp))

    def close(self) -> None:
        journal.note("close")


class WriterSink(Sink[Any]):
    def create_writer(self, context: WriterInitContext) -> SinkWriter[Any]:
        return Writer(context)


def test_a_writer_is_flushed_with_every_epoch_and_at_the_end() -> None:
    journal.reset()
    from spry.common.operators import SinkOperator

    with OperatorHarness(SinkOperator(WriterSink()), parallelism=3, subtask=1) as harness:
        harness.push("a", timestamp=1)
        harness.end_epoch()
        harness.watermark(7)
        harness.push("b")
        harness.end()
    assert journal.reset() == [
        ("create", 1, 3, 0),
        ("write", "a", 1),
        ("flush", False),
        ("watermark", 7),
        ("write", "b", None),
        ("watermark", 2**63 - 1),
        ("flush", True),
        "close",
    ]


class Transaction(CommittingSinkWriter[Any, Any]):
    def __init__(self) -> None:
        self.pending: list[Any] = []

    def write(self, element: Any, context: WriterContext) -> None:
        self.pending.append(element)

    def prepare_commit(self) -> list[Any]:
        pending, self.pending = self.pending, []
        return [tuple(pending)] if pending else []

    def close(self) -> None:
        journal.note("writer close")


class Commits(Committer[Any]):
    def __init__(self, behaviour: str) -> None:
        self.behaviour = behaviour

    def commit(self, requests: list[CommitRequest[Any]]) -> None:
        for request in requests:
            retries = request.get_number_of_retries()
            if self.behaviour == "retry twice" and retries < 2:
                journal.note(("retry", retries))
                request.retry_later()
            elif self.behaviour == "never":
                request.retry_later()
            elif self.behaviour == "known":
                request.signal_failed_with_known_reason(ValueError("known"))
            elif self.behaviour == "unknown":
                request.signal_failed_with_unknown_reason(ValueError("nobody knows"))
            elif self.behaviour == "already":
                request.signal_already_committed()
            else:
                journal.note(("commit", request.get_committable()))

    def close(self) -> None:
        journal.note("committer close")


class TransactionalSink(TwoPhaseCommittingSink[Any, Any]):
    def __init__(self, behaviour: str = "") -> None:
        self.behaviour = behaviour

    def create_writer(self, context: WriterInitContext) -> CommittingSinkWriter[Any, Any]:
        return Transaction()

    def create_committer(self, context: CommitterInitContext) -> Committer[Any]:
        assert context.job_id == "local"
        return Commits(self.behaviour)


def write(behaviour: str = "", fail_at: int | None = None) -> list[Any]:
    def fails(value: int) -> int:
        if value == fail_at:
            raise ValueError("fails")
        return value

    journal.reset()
    env, job = program(1, max_records=2)
    env.from_collection(range(5)).map(fails).sink_to(TransactionalSink(behaviour))
    try:
        job.run()
    finally:
        entries = journal.reset()
        assert entries[-2:] == ["writer close", "committer close"], "closed once, whatever happened"
        write.entries = entries[:-2]  # type: ignore[attr-defined]
    return entries[:-2]


def test_without_checkpoints_everything_is_committed_once_at_the_end() -> None:
    assert write() == [("commit", (0, 1, 2, 3, 4))]


def test_a_commit_may_be_retried() -> None:
    assert write("retry twice") == [("retry", 0), ("retry", 1), ("commit", (0, 1, 2, 3, 4))]


def test_a_commit_that_is_never_done_fails_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinks, "_COMMIT_PAUSES", (0.0, 0.0, 0.0))
    with pytest.raises(JobExecutionError, match=r"1 transaction\(s\) could not be committed in 3 tries"):
        write("never")


def test_outcomes_of_commits() -> None:
    assert write("known") == []
    assert write("already") == []
    with pytest.raises(JobExecutionError, match=r"cannot commit \(0, 1, 2, 3, 4\): nobody knows"):
        write("unknown")


def test_nothing_is_committed_when_the_job_fails() -> None:
    with pytest.raises(JobExecutionError, match="fails"):
        write(fail_at=4)
    assert write.entries == []  # type: ignore[attr-defined]


class WriterCloseFails(Transaction):
    def close(self) -> None:
        super().close()
        raise ValueError("writer cannot close")


class CloseFails(TransactionalSink):
    def create_writer(self, context: WriterInitContext) -> CommittingSinkWriter[Any, Any]:
        return WriterCloseFails()


def test_the_committer_is_closed_though_the_writer_fails_to() -> None:
    journal.reset()
    env, job = program(1)
    env.from_collection([1]).sink_to(CloseFails())
    with pytest.raises(JobExecutionError, match="writer cannot close"):
        job.run()
    assert [entry for entry in journal.reset() if "close" in entry] == ["writer close", "committer close"]


# Print


@pytest.mark.parametrize(
    ("identifier", "parallelism", "expected"),
    [(None, 1, "x"), (None, 3, "2> x"), ("out", 1, "out> x"), ("out", 3, "out:2> x"), ("", 1, "x")],
)
def test_prefixes(identifier: str | None, parallelism: int, expected: str) -> None:
    description = PrintOperator(identifier)
    with OperatorHarness(description, parallelism=parallelism, subtask=min(1, parallelism - 1)) as harness:
        harness.push("x")
        assert harness.printed() == [expected]


VALUES: list[tuple[Any, str, str]] = [
    (None, "None", "null"),
    (True, "True", "true"),
    (1, "1", "1"),
    (1.5, "1.5", "1.5"),
    ("a b", "a b", "a b"),
    (("a", None, (True, 2)), "('a', None, (True, 2))", "(a,null,(true,2))"),
    (["a", False], "['a', False]", "[a, false]"),
    ({"a": None}, "{'a': None}", "{a=null}"),
    (Row("a", None, 1), "<Row('a', None, 1)>", "+I[a,null,1]"),
]


@pytest.mark.parametrize(("value", "plain", "typed"), VALUES)
def test_values_are_printed_as_python_does_or_with_a_type_as_flink_does(value: Any, plain: str, typed: str) -> None:
    with OperatorHarness(PrintOperator(None)) as harness:
        harness.push(value)
        assert harness.printed() == [plain]
    with OperatorHarness(PrintOperator(None, type_info=Types.STRING())) as harness:
        harness.push(value)
        assert harness.printed() == [typed]
    with OperatorHarness(PrintOperator(None, type_info=Types.PICKLED_BYTE_ARRAY())) as harness:
        harness.push(value)
        assert harness.printed() == [plain]


def test_row_kinds() -> None:
    row = Row(1)
    row.set_row_kind(RowKind.DELETE)
    with OperatorHarness(PrintOperator(None, type_info=Types.ROW([Types.INT()]))) as harness:
        harness.push(row)
        assert harness.printed() == ["-D[1]"]


def test_standard_error_and_the_declared_type_of_a_stream() -> None:
    env, job = program(1)
    pairs = env.from_collection([("a", True)], Types.TUPLE([Types.STRING(), Types.BOOLEAN()]))
    pairs.print_to_err("e")
    pairs.filter(lambda r: True).print()
    pairs.map(lambda r: r).print("m")
    job.run()
    assert sorted(job.lines) == [(False, "(a,true)"), (False, "m> ('a', True)"), (True, "e> (a,true)")]
