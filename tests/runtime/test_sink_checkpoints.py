"""Sinks and checkpoints: what goes into one, what is committed when it is complete, what a restored sink does."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.operators import SinkOperator
from spry.common.plan import OperatorPlan
from spry.common.sink import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    Sink,
    SinkWriter,
    StatefulSinkWriter,
    TwoPhaseCommittingSink,
    WriterContext,
    WriterInitContext,
)
from spry.runtime.operators import sinks
from spry.runtime.operators.sinks import RunningSinkOperator
from tests import journal
from tests.sink_driver import Initialization, Snapshot, SubtaskStub


class Writer(CommittingSinkWriter[Any, Any], StatefulSinkWriter[Any, Any]):
    """Its transaction is what was written since the last one; its state is how much was ever written."""

    def __init__(self, written: int) -> None:
        self.written = written
        self.transaction: list[Any] = []

    def write(self, element: Any, context: WriterContext) -> None:
        self.transaction.append(element)
        self.written += 1

    def flush(self, end_of_input: bool) -> None:
        journal.note(("flush", end_of_input))

    def prepare_commit(self) -> list[Any]:
        transaction, self.transaction = self.transaction, []
        return ["".join(transaction)] if transaction else []

    def snapshot_state(self, checkpoint_id: int) -> list[int]:
        return [self.written]

    def on_processing_time(self, now: int) -> None:
        journal.note(("time", now))

    def next_timer(self) -> int | None:
        return 50


class Commits(Committer[Any]):
    def __init__(self, context: CommitterInitContext, refused: set[str]) -> None:
        self.refused = refused
        journal.note(("committer", context.restored_checkpoint_id))

    def commit(self, requests: list[CommitRequest[Any]]) -> None:
        for request in requests:
            if request.get_committable() in self.refused:
                request.signal_failed_with_known_reason(ValueError("refused"))
            else:
                journal.note(("again" if request.is_recovered() else "commit", request.get_committable()))


class Transactions(TwoPhaseCommittingSink[Any, Any]):
    def __init__(self, *refused: str) -> None:
        self.refused = set(refused)

    def create_writer(self, context: WriterInitContext) -> Writer:
        journal.note(("create", context.get_restored_checkpoint_id(), context.current_processing_time()))
        return Writer(0)

    def restore_writer(self, context: WriterInitContext, state: list[Any]) -> Writer:
        journal.note(("restore", context.get_restored_checkpoint_id(), state))
        return Writer(sum(state))

    def create_committer(self, context: CommitterInitContext) -> Commits:
        return Commits(context, self.refused)


def running(sink: Sink[Any], restored: Initialization | None = None, checkpointing: bool = True) -> RunningSinkOperator:
    journal.reset()
    plan = OperatorPlan(0, "uid", "sink", SinkOperator(sink), None, None, None)
    operator = RunningSinkOperator(plan, SubtaskStub(checkpointing=checkpointing))  # type: ignore[arg-type]
    operator.initialize_state(restored or Initialization())
    operator.open()
    return operator


def write(operator: RunningSinkOperator, elements: str) -> None:
    assert operator._writer is not None
    for element in elements:
        operator._writer.write(element, WriterContext())


def snapshot(operator: RunningSinkOperator, checkpoint_id: int) -> Snapshot:
    context = Snapshot(checkpoint_id)
    operator.snapshot_state(context)
    return context


def test_what_a_checkpoint_has_is_committed_when_it_is_complete() -> None:
    operator = running(Transactions())
    assert journal.reset() == [("committer", None), ("create", None, 1000)]
    write(operator, "ab")
    first = snapshot(operator, 1)
    assert first.lists == {"spry-writer": [2], "spry-committables": [(1, "ab")]}
    write(operator, "c")
    second = snapshot(operator, 2)
    assert second.lists == {"spry-writer": [3], "spry-committables": [(1, "ab"), (2, "c")]}
    assert journal.reset() == [("flush", False), ("flush", False)]
    operator.notify_checkpoint_complete(1)
    assert journal.reset() == [("commit", "ab")]
    operator.notify_checkpoint_complete(1)
    assert journal.reset() == []
    assert snapshot(operator, 3).lists["spry-committables"] == [(2, "c")]
    journal.reset()
    operator.notify_checkpoint_complete(3)
    assert journal.reset() == [("commit", "c")]


def test_what_an_aborted_checkpoint_had_goes_into_the_next() -> None:
    operator = running(Transactions())
    write(operator, "a")
    snapshot(operator, 1)
    operator.notify_checkpoint_aborted(1)
    write(operator, "b")
    snapshot(operator, 2)
    journal.reset()
    operator.notify_checkpoint_complete(2)
    assert journal.reset() == [("commit", "a"), ("commit", "b")]


def test_a_restored_sink_commits_first_and_then_goes_on() -> None:
    states = {"spry-writer": [2, 5], "spry-committables": [(3, "ab"), (4, "c")]}
    operator = running(Transactions(), Initialization(states, 4))
    assert journal.reset() == [("committer", 4), ("again", "ab"), ("again", "c"), ("restore", 4, [2, 5])]
    assert snapshot(operator, 5).lists == {"spry-writer": [7], "spry-committables": []}


def test_a_subtask_that_gets_no_state_starts_anew() -> None:
    running(Transactions(), Initialization({}, 4))
    assert journal.reset() == [("committer", 4), ("create", 4, 1000)]


def test_the_end_of_the_input_is_committed_with_the_last_checkpoint() -> None:
    operator = running(Transactions())
    write(operator, "a")
    operator.finish()
    assert journal.reset()[2:] == [("flush", True)]
    operator.end_epoch()
    operator.on_processing_time(1)
    assert operator.next_timer() is None
    assert snapshot(operator, 7).lists == {"spry-writer": [1], "spry-committables": [(7, "a")]}
    operator.notify_checkpoint_aborted(7)
    assert snapshot(operator, 8).lists["spry-committables"] == [(7, "a")]
    assert journal.reset() == [], "it is over: nothing is flushed any more"
    operator.notify_checkpoint_complete(8)
    assert journal.reset() == [("commit", "a")]


def test_without_checkpoints_the_end_of_the_input_is_committed_at_once() -> None:
    operator = running(Transactions(), checkpointing=False)
    write(operator, "a")
    operator.finish()
    assert journal.reset()[2:] == [("flush", True), ("commit", "a")]


def test_what_cannot_be_committed_for_a_known_reason_is_a_warning() -> None:
    operator = running(Transactions("b"))
    for checkpoint_id, element in enumerate("abc"):
        write(operator, element)
        snapshot(operator, checkpoint_id)
    operator.notify_checkpoint_complete(2)
    assert [entry for entry in journal.reset() if entry[0] == "commit"] == [("commit", "a"), ("commit", "c")]
    assert operator.context.services.warnings == ["operator 'sink': 'b' was not committed: refused"]
    assert snapshot(operator, 3).lists["spry-committables"] == []


def test_a_writer_is_woken() -> None:
    operator = running(Transactions())
    journal.reset()
    assert operator.next_timer() == 50
    operator.on_processing_time(51)
    assert journal.reset() == [("time", 51)]


class Counting(StatefulSinkWriter[Any, int]):
    def __init__(self, written: int = 0) -> None:
        self.written = written

    def write(self, element: Any, context: WriterContext) -> None:
        self.written += 1

    def snapshot_state(self, checkpoint_id: int) -> list[int]:
        return [self.written]


class CountingSink(Sink[Any]):
    def create_writer(self, context: WriterInitContext) -> SinkWriter[Any]:
        return Counting()

    def restore_writer(self, context: WriterInitContext, state: list[int]) -> SinkWriter[Any]:
        return Counting(sum(state))


def test_a_writer_may_have_state_without_transactions() -> None:
    operator = running(CountingSink())
    write(operator, "abc")
    taken = snapshot(operator, 1)
    assert taken.lists == {"spry-writer": [3]}
    restored = running(CountingSink(), Initialization(taken.lists, 1))
    write(restored, "d")
    restored.notify_checkpoint_complete(1)
    assert snapshot(restored, 2).lists == {"spry-writer": [4]}


def test_commits_that_are_never_done_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    class Never(Commits):
        def commit(self, requests: list[CommitRequest[Any]]) -> None:
            journal.note([request.get_number_of_retries() for request in requests])
            for request in requests:
                request.retry_later()

    class NeverSink(Transactions):
        def create_committer(self, context: CommitterInitContext) -> Commits:
            return Never(context, set())

    monkeypatch.setattr(sinks, "_COMMIT_PAUSES", (0.0, 0.0))
    operator = running(NeverSink())
    write(operator, "a")
    snapshot(operator, 1)
    journal.reset()
    with pytest.raises(RuntimeError, match=r"1 transaction\(s\) could not be committed in 2 tries"):
        operator.notify_checkpoint_complete(1)
    assert journal.reset() == [[0], [1]]
