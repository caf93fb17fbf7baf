"""Sinks and checkpoints: what goes into one, what is committed when it is complete, what a restored sink does."""

from __future__ import annotations

from typing import Any

import pytest

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
from tests import journal
from tests.sink_driver import DrivenSink


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


def running(sink: Sink[Any], lists: Any = None, restored: int | None = None, checkpointing: bool = True) -> DrivenSink:
    journal.reset()
    return DrivenSink(sink, lists, restored, checkpointing=checkpointing)


def test_what_a_checkpoint_has_is_committed_when_it_is_complete() -> None:
    sink = running(Transactions())
    assert journal.reset() == [("committer", None), ("create", None, 1000)]
    sink.write("ab")
    first = sink.snapshot(1)
    assert first == {"spry-writer": [2], "spry-committables": [(1, "ab")]}
    sink.write("c")
    second = sink.snapshot(2)
    assert second == {"spry-writer": [3], "spry-committables": [(1, "ab"), (2, "c")]}
    assert journal.reset() == [("flush", False), ("flush", False)]
    sink.complete(1)
    assert journal.reset() == [("commit", "ab")]
    sink.complete(1)
    assert journal.reset() == []
    assert sink.snapshot(3)["spry-committables"] == [(2, "c")]
    journal.reset()
    sink.complete(3)
    assert journal.reset() == [("commit", "c")]


def test_what_an_aborted_checkpoint_had_goes_into_the_next() -> None:
    sink = running(Transactions())
    sink.write("a")
    sink.snapshot(1)
    sink.operator.notify_checkpoint_aborted(1)
    sink.write("b")
    sink.snapshot(2)
    journal.reset()
    sink.complete(2)
    assert journal.reset() == [("commit", "a"), ("commit", "b")]


def test_a_restored_sink_commits_first_and_then_goes_on() -> None:
    states = {"spry-writer": [2, 5], "spry-committables": [(3, "ab"), (4, "c")]}
    sink = running(Transactions(), states, 4)
    assert journal.reset() == [("committer", 4), ("again", "ab"), ("again", "c"), ("restore", 4, [2, 5])]
    assert sink.snapshot(5) == {"spry-writer": [7], "spry-committables": []}


def test_a_subtask_that_gets_no_state_starts_anew() -> None:
    running(Transactions(), {}, 4)
    assert journal.reset() == [("committer", 4), ("create", 4, 1000)]


def test_the_end_of_the_input_is_committed_with_the_last_checkpoint() -> None:
    sink = running(Transactions())
    sink.write("a")
    sink.operator.finish()
    assert journal.reset()[2:] == [("flush", True)]
    sink.operator.end_epoch()
    sink.operator.on_processing_time(1)
    assert sink.operator.next_timer() is None
    assert sink.snapshot(7) == {"spry-writer": [1], "spry-committables": [(7, "a")]}
    sink.operator.notify_checkpoint_aborted(7)
    assert sink.snapshot(8)["spry-committables"] == [(7, "a")]
    assert journal.reset() == [], "it is over: nothing is flushed any more"
    sink.complete(8)
    assert journal.reset() == [("commit", "a")]


def test_without_checkpoints_the_end_of_the_input_is_committed_at_once() -> None:
    sink = running(Transactions(), checkpointing=False)
    sink.write("a")
    sink.operator.finish()
    assert journal.reset()[2:] == [("flush", True), ("commit", "a")]


def test_what_cannot_be_committed_for_a_known_reason_is_a_warning() -> None:
    sink = running(Transactions("b"))
    for checkpoint_id, element in enumerate("abc"):
        sink.write(element)
        sink.snapshot(checkpoint_id)
    sink.complete(2)
    assert [entry for entry in journal.reset() if entry[0] == "commit"] == [("commit", "a"), ("commit", "c")]
    assert sink.warnings == ["operator 'sink': 'b' was not committed: refused"]
    assert sink.snapshot(3)["spry-committables"] == []


def test_a_writer_is_woken() -> None:
    sink = running(Transactions())
    journal.reset()
    assert sink.operator.next_timer() == 50
    sink.operator.on_processing_time(51)
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
    sink = running(CountingSink())
    sink.write("abc")
    taken = sink.snapshot(1)
    assert taken == {"spry-writer": [3]}
    restored = running(CountingSink(), taken, 1)
    restored.write("d")
    restored.complete(1)
    assert restored.snapshot(2) == {"spry-writer": [4]}


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
    sink = running(NeverSink())
    sink.write("a")
    sink.snapshot(1)
    journal.reset()
    with pytest.raises(RuntimeError, match=r"1 transaction\(s\) could not be committed in 2 tries"):
        sink.complete(1)
    assert journal.reset() == [[0], [1]]
