"""Sink functions with transactions and with a log of their own, with crashes at every point."""

from __future__ import annotations

import logging
import pickle
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spry.common.errors import JobExecutionError
from spry.common.sink import WriterContext
from spry.common.state import ListStateDescriptor
from spry.datastream import CheckpointCommitter, GenericWriteAheadSink, SinkFunction, TwoPhaseCommitSinkFunction
from spry.datastream import sink_functions as module
from spry.runtime.checkpoints.context import (
    FunctionInitialization,
    FunctionSnapshot,
    StateInitializationContext,
    StateSnapshotContext,
)
from spry.runtime.state.operator_state import OperatorStateBackend
from tests import journal
from tests.local_job import program


class Driven:
    """A sink function, driven by hand."""

    def __init__(self, function: Any, restored: list[Any] | None = None, context: Any = None) -> None:
        self.function = function
        self.states = OperatorStateBackend("sink")
        for meta, elements in restored or ():
            self.states.restore(meta, elements)
        begins = StateInitializationContext(None if restored is None else 1)
        function.initialize_state(FunctionInitialization(begins, self.states, lambda: context))
        function.open(context)

    def write(self, values: str) -> None:
        for value in values:
            self.function.invoke(value, WriterContext())

    def snapshot(self, checkpoint_id: int) -> list[Any]:
        self.function.snapshot_state(FunctionSnapshot(StateSnapshotContext(checkpoint_id, 100 * checkpoint_id)))
        snapshot: list[Any] = pickle.loads(pickle.dumps(self.states.snapshot()))
        return snapshot

    def complete(self, checkpoint_id: int) -> None:
        self.function.notify_checkpoint_complete(checkpoint_id)


def merged(*snapshots: list[Any]) -> list[Any]:
    """The state of several subtasks, for one."""
    [(meta, _)] = snapshots[0]
    return [(meta, [element for [(_, elements)] in snapshots for element in elements])]


# Transactions


class Database:
    """Outside of all attempts: transactions by number, and what is visible."""

    def __init__(self) -> None:
        self.transactions: dict[int, list[str]] = {}
        self.prepared: set[int] = set()
        self.visible: list[str] = []
        self.log: list[Any] = []
        self.broken: set[int] = set()


class Transactions(TwoPhaseCommitSinkFunction[str, int]):
    def __init__(self, database: Database) -> None:
        self.database = database

    def begin_transaction(self) -> int:
        number = len(self.database.log)
        self.database.log.append(("begin", number))
        self.database.transactions[number] = []
        return number

    def invoke_in_transaction(self, transaction: int, value: str, context: WriterContext) -> None:
        assert transaction not in self.database.prepared
        self.database.transactions[transaction].append(value)

    def pre_commit(self, transaction: int) -> None:
        self.database.log.append(("prepare", transaction))
        self.database.prepared.add(transaction)

    def commit(self, transaction: int) -> None:
        if transaction in self.database.broken:
            raise OSError(f"transaction {transaction} cannot be committed")
        assert transaction in self.database.prepared
        self.database.log.append(("commit", transaction))
        self.database.visible += self.database.transactions.pop(transaction, [])

    def abort(self, transaction: int) -> None:
        assert ("commit", transaction) not in self.database.log
        self.database.log.append(("abort", transaction))
        self.database.transactions.pop(transaction, None)


def test_a_transaction_from_each_checkpoint_to_the_next() -> None:
    database = Database()
    sink = Driven(Transactions(database))
    sink.write("ab")
    sink.snapshot(1)
    sink.write("c")
    assert database.visible == []
    assert sink.function.pending_transactions() == [(1, 0)]
    sink.complete(1)
    assert database.visible == ["a", "b"]
    assert sink.function.current_transaction() == 2
    sink.snapshot(2)
    sink.snapshot(3)
    sink.complete(3)
    sink.complete(2)
    assert database.visible == ["a", "b", "c"]
    sink.function.close()
    assert database.log[-1][0] == "abort"
    sink.function.close()
    assert [event for event, _ in database.log].count("abort") == 1


def test_the_end_of_the_input() -> None:
    database = Database()
    sink = Driven(Transactions(database))
    sink.write("a")
    sink.function.finish()
    sink.snapshot(1)
    assert sink.function.current_transaction() is None
    sink.snapshot(2)
    sink.complete(2)
    sink.function.close()
    assert database.visible == ["a"]
    assert database.log == [("begin", 0), ("prepare", 0), ("commit", 0)]


def test_a_restore_commits_what_was_pending_and_aborts_what_was_open() -> None:
    database = Database()
    first = Driven(Transactions(database))
    first.write("a")
    state = first.snapshot(1)
    first.write("lost")
    for _ in range(2):
        again = Driven(Transactions(database), state)
    assert database.visible == ["a"]
    again.write("b")
    assert database.transactions[again.function.current_transaction()] == ["b"]
    assert sum(map(len, database.transactions.values())) == 1, "what was lost is gone"


def test_a_failed_commit_fails_after_the_others_and_is_done_again() -> None:
    database = Database()
    sink = Driven(Transactions(database))
    numbers = []
    for checkpoint_id, value in enumerate("abc"):
        numbers.append(sink.function.current_transaction())
        sink.write(value)
        state = sink.snapshot(checkpoint_id)
    database.broken.add(numbers[1])
    with pytest.raises(OSError, match=f"transaction {numbers[1]} cannot be committed"):
        sink.complete(2)
    assert database.visible == ["a", "c"]
    database.broken.clear()
    Driven(Transactions(database), state)
    assert database.visible == ["a", "c", "b"]


def test_timeouts(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    now = 1000
    monkeypatch.setattr(module, "_now", lambda: now)
    database = Database()

    def sink(ignores: bool) -> Transactions:
        function = Transactions(database)
        function.set_transaction_timeout(100).enable_transaction_timeout_warnings(0.5)
        return function.ignore_failures_after_transaction_timeout() if ignores else function  # type: ignore[return-value]

    first = Driven(sink(True))
    first.write("a")
    state = first.snapshot(1)
    now = 1051
    first.complete(1)
    assert "is committed after 51 ms; its timeout is 100 ms" in caplog.text
    database.broken.add(0)
    with pytest.raises(OSError):
        Driven(sink(True), state)
    now = 1101
    with pytest.raises(OSError):
        Driven(sink(False), state)
    caplog.clear()
    with caplog.at_level(logging.ERROR):
        Driven(sink(True), state)
    assert "what was in it is lost" in caplog.text
    for wrong in (-1, "1", True):
        with pytest.raises(ValueError, match="a number of ms"):
            sink(False).set_transaction_timeout(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from 0 to 1"):
        sink(False).enable_transaction_timeout_warnings(2)


def test_a_context_of_ones_own() -> None:
    class WithContext(Transactions):
        def initialize_user_context(self) -> Any:
            self.database.log.append("initialize")
            return {"pool": [7]}

        def finish_recovering_context(self, handled_transactions: list[int]) -> None:
            self.database.log.append(("recovered", handled_transactions, self.get_user_context()))

    database = Database()
    first = Driven(WithContext(database))
    assert database.log[0] == "initialize"
    first.function.get_user_context()["pool"].append(8)
    open_before, state = first.function.current_transaction(), first.snapshot(1)
    Driven(WithContext(database), state)
    recovered = [entry for entry in database.log if entry[0] == "recovered"]
    assert recovered == [("recovered", [open_before, first.function.current_transaction()], {"pool": [7, 8]})]
    assert database.log.count("initialize") == 1


def test_nothing_is_needed_of_the_constructor() -> None:
    class NoSuper(Transactions):
        def __init__(self) -> None:
            self.database = Database()

    pickle.loads(pickle.dumps(Transactions(Database())))
    Driven(NoSuper()).write("a")


# A log


class Outside:
    """What was sent, and what the committer remembers: the last checkpoint of every subtask."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.last: dict[tuple[str, str, int], int] = {}
        self.refuses = 0
        self.fails_before_remembering = False


OUTSIDE: dict[str, Outside] = {}


class Commits(CheckpointCommitter):
    def __init__(self, name: str) -> None:
        self.name = name

    def create_resource(self) -> None:
        OUTSIDE.setdefault(self.name, Outside())

    def open(self) -> None:
        journal.note("open")

    def close(self) -> None:
        journal.note("close")

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        outside = OUTSIDE[self.name]
        if outside.fails_before_remembering:
            raise OSError("out of order")
        outside.last[(self.job_id, self.operator_id, subtask_idx)] = checkpoint_id

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        return OUTSIDE[self.name].last.get((self.job_id, self.operator_id, subtask_idx), 0) >= checkpoint_id


class Logged(GenericWriteAheadSink[str]):
    def __init__(self, name: str = "outside", job_id: str | None = "job") -> None:
        super().__init__(Commits(name), job_id)
        self.name = name

    def send_values(self, values: Any, checkpoint_id: int, timestamp: int) -> bool:
        outside = OUTSIDE[self.name]
        assert timestamp == 100 * checkpoint_id
        if outside.refuses:
            outside.refuses -= 1
            return False
        outside.sent += values
        return True


class Where:
    def __init__(self, subtask: int = 0) -> None:
        self.subtask = subtask

    def get_index_of_this_subtask(self) -> int:
        return self.subtask

    def get_operator_unique_id(self) -> str:
        return "uid"


def logged(restored: list[Any] | None = None, subtask: int = 0) -> Driven:
    return Driven(Logged(), restored, Where(subtask))


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Outside:
    monkeypatch.setattr(module, "_SEND_PAUSES", (0.0, 0.0, 0.0))
    OUTSIDE["outside"] = Outside()
    return OUTSIDE["outside"]


def test_values_are_sent_when_their_checkpoint_is_complete(outside: Outside) -> None:
    sink = logged()
    sink.write("ab")
    sink.snapshot(1)
    sink.write("c")
    assert outside.sent == []
    sink.complete(1)
    assert outside.sent == ["a", "b"]
    sink.snapshot(2)
    sink.snapshot(3)
    sink.complete(3)
    assert outside.sent == ["a", "b", "c"]
    assert outside.last == {("job", "uid", 0): 2}
    assert sink.snapshot(4)[0][1] == []


def test_what_was_refused_comes_again_in_order(outside: Outside) -> None:
    sink = logged()
    sink.write("a")
    sink.snapshot(1)
    outside.refuses = 1
    sink.complete(1)
    sink.write("b")
    assert len(sink.snapshot(2)[0][1]) == 2
    sink.complete(2)
    assert outside.sent == ["a", "b"]


def test_at_the_end_it_must_be_taken(outside: Outside) -> None:
    sink = logged()
    sink.write("a")
    sink.function.finish()
    state = sink.snapshot(1)
    outside.refuses = 4
    with pytest.raises(RuntimeError, match=r"1 value\(s\) of checkpoint 1 could not be sent in 3 tries"):
        sink.complete(1)
    again = logged(state)
    again.function.finish()
    again.snapshot(2)
    assert outside.sent == ["a"]


def test_a_restore_sends_what_was_not_sent(outside: Outside) -> None:
    sink = logged()
    sink.write("a")
    state = sink.snapshot(1)
    sink.write("lost")
    again = logged(state)
    again.write("b")
    again.snapshot(2)
    assert outside.sent == ["a"]
    again.complete(2)
    once_more = logged(state)
    once_more.snapshot(2)
    assert outside.sent == ["a", "b"], "the committer knows"


def test_values_of_several_subtasks_reach_one(outside: Outside) -> None:
    sinks = [logged(subtask=subtask) for subtask in range(2)]
    for sink, value in zip(sinks, "ab", strict=True):
        sink.write(value)
    states = [sink.snapshot(1) for sink in sinks]
    sinks[1].complete(1)
    assert outside.sent == ["b"]
    one = logged(merged(*states))
    one.snapshot(2)
    assert outside.sent == ["b", "a"]


def test_without_a_job_id_it_is_random() -> None:
    assert Logged(job_id=None)._committer.job_id != Logged(job_id=None)._committer.job_id


# Random histories


STEPS = st.lists(st.sampled_from(["write", "snapshot", "complete", "crash", "crash told", "finish"]), max_size=40)


@settings(max_examples=200, deadline=None)
@given(steps=STEPS, log=st.booleans())
def test_every_value_is_visible_once(steps: list[str], log: bool) -> None:
    database = Database()
    OUTSIDE["outside"] = outside = Outside()
    make = (lambda state: logged(state)) if log else (lambda state: Driven(Transactions(database), state))
    sink, position, checkpoint_id, complete = make(None), 0, 0, (0, None)
    taken: tuple[int, Any] | None = None
    for step in [*steps, "finish", "snapshot", "complete"]:
        if step == "write" and not sink.function._finished:
            sink.function.invoke(str(position), WriterContext())
            position += 1
        elif step == "finish" and not sink.function._finished:
            sink.function.finish()
        elif step == "snapshot":
            checkpoint_id += 1
            taken = (position, sink.snapshot(checkpoint_id))
        elif step == "complete" and taken is not None:
            complete, taken = taken, None
            sink.complete(checkpoint_id)
        elif step.startswith("crash"):
            if step == "crash told" and taken is not None:
                complete = taken  # Durable, but nobody hears of it.
            position, state = complete
            taken = None
            sink = make(state)
        visible = Counter(outside.sent if log else database.visible)
        assert all(count == 1 for count in visible.values())
    sink.function.finish()
    sink.snapshot(checkpoint_id + 1)
    sink.complete(checkpoint_id + 1)
    assert sorted(outside.sent if log else database.visible, key=int) == [str(n) for n in range(position)]


# In jobs


class Noting(TwoPhaseCommitSinkFunction[Any, Any]):
    def begin_transaction(self) -> Any:
        return []

    def invoke_in_transaction(self, transaction: Any, value: Any, context: WriterContext) -> None:
        transaction.append(value)

    def pre_commit(self, transaction: Any) -> None:
        pass

    def commit(self, transaction: Any) -> None:
        journal.note(("commit", *transaction))

    def abort(self, transaction: Any) -> None:
        journal.note("abort")

    def finish_processing(self, transaction: Any) -> None:
        transaction.append("end")


def test_a_job_without_checkpoints_commits_when_its_input_ends() -> None:
    journal.reset()
    env, job = program(1, max_records=2)
    env.from_collection(range(5)).add_sink(Noting())
    job.run()
    assert journal.reset() == [("commit", 0, 1, 2, 3, 4, "end")]


def test_a_job_without_checkpoints_that_fails_commits_nothing() -> None:
    def fails(value: int) -> int:
        if value == 3:
            raise ValueError("fails")
        return value

    journal.reset()
    env, job = program(1, max_records=2)
    env.from_collection(range(5)).map(fails).add_sink(Noting())
    with pytest.raises(JobExecutionError, match="fails"):
        job.run()
    assert journal.reset() == ["abort"]


class Buffering(SinkFunction[Any]):
    """Waits for checkpoints by itself."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("values"))
        self.values: list[Any] = []

    def invoke(self, value: Any, context: WriterContext) -> None:
        self.values.append(value)

    def snapshot_state(self, context: Any) -> None:
        self.state.update(self.values)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        journal.note(self.values)


def test_functions_that_wait_for_a_checkpoint_hear_of_one_at_the_end() -> None:
    journal.reset()
    env, job = program(1)
    env.from_collection(range(3)).add_sink(Buffering())
    job.run()
    assert journal.reset() == [[0, 1, 2]]
