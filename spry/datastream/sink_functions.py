"""Sink functions that show what they were given exactly once: with transactions, or with a log that is sent on.

Both rest on checkpoints. In a job that takes none they commit when its input ends.
"""

from __future__ import annotations

import logging
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from spry.common.checkpoint import (
    CheckpointedFunction,
    CheckpointListener,
    FunctionInitializationContext,
    FunctionSnapshotContext,
)
from spry.common.context import RuntimeContext
from spry.common.sink import WriterContext
from spry.common.state import ListState, ListStateDescriptor
from spry.datastream.functions import SinkFunction

__all__ = ["CheckpointCommitter", "GenericWriteAheadSink", "TwoPhaseCommitSinkFunction"]

IN = TypeVar("IN")
TXN = TypeVar("TXN")

_LOG = logging.getLogger(__name__)
_SEND_PAUSES = (0.0, 0.01, 0.1, 0.5, 1.0)
"""Seconds before each try to send what cannot wait for the next checkpoint."""


def _now() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class _Transaction:
    handle: Any
    started: int
    """When it was begun, in ms."""


@dataclass(frozen=True, slots=True)
class _TransactionState:
    """What a checkpoint has of one subtask."""

    open: _Transaction | None
    pending: list[_Transaction]
    user_context: Any


class TwoPhaseCommitSinkFunction(SinkFunction[IN], CheckpointedFunction, CheckpointListener, Generic[IN, TXN]):
    """A sink function with transactions, one from each checkpoint to the next.

    At a checkpoint the open transaction is pre-committed: from now on nothing may keep it from being committed, also
    by another process after a failure. It is committed when the checkpoint is complete, and committed again by a job
    that goes on from it; the transaction that was open at the checkpoint is aborted then.

    A transaction is whatever object stands for one. It must be picklable, as it goes into checkpoints.
    """

    _transaction_timeout: int | None = None
    _warning_ratio: float | None = None
    _ignores_failures_after_timeout = False
    _state: ListState[Any] | None = None
    _current: _Transaction | None = None
    _user_context: Any = None
    _finished = False

    # What there is to implement

    @abstractmethod
    def begin_transaction(self) -> TXN:
        """A new transaction."""

    @abstractmethod
    def invoke_in_transaction(self, transaction: TXN, value: IN, context: WriterContext) -> None:
        """Write a value within the transaction."""

    @abstractmethod
    def pre_commit(self, transaction: TXN) -> None:
        """Write out all that is buffered, so that committing cannot fail any more."""

    @abstractmethod
    def commit(self, transaction: TXN) -> None:
        """Make the transaction visible. If it fails the job does, and does this again when it goes on."""

    @abstractmethod
    def abort(self, transaction: TXN) -> None:
        """Undo the transaction."""

    def recover_and_commit(self, transaction: TXN) -> None:
        """Commit a transaction of a checkpoint that the job goes on from; it may have been committed already."""
        self.commit(transaction)

    def recover_and_abort(self, transaction: TXN) -> None:
        """Undo a transaction that was open at the checkpoint; it may have been aborted already."""
        self.abort(transaction)

    def finish_processing(self, transaction: TXN) -> None:
        """The input has ended; the transaction is pre-committed next."""

    def initialize_user_context(self) -> Any:
        """An object of one's own that goes into every checkpoint, such as a pool of transaction ids."""
        return None

    def finish_recovering_context(self, handled_transactions: list[TXN]) -> None:
        """All transactions of the checkpoint, these, have been committed or aborted."""

    # What there is to use

    def current_transaction(self) -> TXN | None:
        """The open transaction."""
        return None if self._current is None else self._current.handle

    def pending_transactions(self) -> list[tuple[int, TXN]]:
        """Checkpoint ids and transactions that are pre-committed and not committed yet."""
        return [(checkpoint_id, pending.handle) for checkpoint_id, pending in self._pending]

    def get_user_context(self) -> Any:
        """What ``initialize_user_context`` gave, or the checkpoint."""
        return self._user_context

    def set_transaction_timeout(self, transaction_timeout: int) -> TwoPhaseCommitSinkFunction[IN, TXN]:
        """How long, in ms, the outside system keeps a transaction that is not committed."""
        given: object = transaction_timeout
        if isinstance(given, bool) or not isinstance(given, int) or transaction_timeout < 0:
            raise ValueError(f"the transaction timeout is a number of ms, not {transaction_timeout!r}")
        self._transaction_timeout = transaction_timeout
        return self

    def enable_transaction_timeout_warnings(self, warning_ratio: float) -> TwoPhaseCommitSinkFunction[IN, TXN]:
        """Log a warning when a transaction is committed after this part of the timeout or later."""
        if not 0 <= warning_ratio <= 1:
            raise ValueError(f"the ratio is from 0 to 1, not {warning_ratio!r}")
        self._warning_ratio = warning_ratio
        return self

    def ignore_failures_after_transaction_timeout(self) -> TwoPhaseCommitSinkFunction[IN, TXN]:
        """After a failure, give up transactions that cannot be committed and are older than the timeout.

        That is logged, and what was in them is lost. Otherwise the job could not go on from that checkpoint.
        """
        self._ignores_failures_after_timeout = True
        return self

    # How it works

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        self._state = context.get_operator_state_store().get_list_state(ListStateDescriptor("transactions"))
        self._pending: list[tuple[int, _Transaction]] = []
        self._user_context = None
        recovered_context = False
        states: list[_TransactionState] = list(self._state.get()) if context.is_restored() else []
        for state in states:
            self._user_context = state.user_context
            for transaction in state.pending:
                self._recover_and_commit(transaction)
            if state.open is not None:
                self.recover_and_abort(state.open.handle)
            if state.user_context is not None:
                recovered_context = True
                opened = [] if state.open is None else [state.open]
                self.finish_recovering_context([transaction.handle for transaction in (*state.pending, *opened)])
        if not recovered_context:
            self._user_context = self.initialize_user_context()
        self._current = self._begin()

    def invoke(self, value: IN, context: WriterContext) -> None:
        assert self._current is not None, "initialize_state begins the first transaction"
        self.invoke_in_transaction(self._current.handle, value, context)

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        assert self._state is not None, "initialize_state comes before"
        if self._current is not None:
            self.pre_commit(self._current.handle)
            self._pending.append((context.get_checkpoint_id(), self._current))
            self._current = None if self._finished else self._begin()
        pending = [transaction for _, transaction in self._pending]
        self._state.update([_TransactionState(self._current, pending, self._user_context)])

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        failure: Exception | None = None
        for due in [entry for entry in self._pending if entry[0] <= checkpoint_id]:
            self._warn_of_timeout(due[1])
            try:
                self.commit(due[1].handle)
            except Exception as error:
                failure = failure or error  # The others are committed all the same.
            else:
                self._pending.remove(due)
        if failure is not None:
            raise failure

    def finish(self) -> None:
        self._finished = True
        if self._current is not None:
            self.finish_processing(self._current.handle)

    def close(self) -> None:
        current, self._current = self._current, None
        if current is not None:
            self.abort(current.handle)

    def _begin(self) -> _Transaction:
        return _Transaction(self.begin_transaction(), _now())

    def _recover_and_commit(self, transaction: _Transaction) -> None:
        self._warn_of_timeout(transaction)
        try:
            self.recover_and_commit(transaction.handle)
        except Exception as error:
            timeout, age = self._transaction_timeout, _now() - transaction.started
            if not self._ignores_failures_after_timeout or timeout is None or age <= timeout:
                raise
            _LOG.error(
                "transaction %r is given up, and what was in it is lost: it is %d ms old, its timeout is %d ms: %s",
                transaction.handle,
                age,
                timeout,
                error,
            )

    def _warn_of_timeout(self, transaction: _Transaction) -> None:
        timeout, age = self._transaction_timeout, _now() - transaction.started
        if self._warning_ratio is not None and timeout is not None and age > timeout * self._warning_ratio:
            _LOG.warning(
                "transaction %r is committed after %d ms; its timeout is %d ms", transaction.handle, age, timeout
            )


class CheckpointCommitter(ABC):
    """Remembers in an outside system which checkpoints' values were sent, for a :class:`GenericWriteAheadSink`."""

    job_id = ""
    operator_id = ""

    def set_job_id(self, job_id: str) -> None:
        self.job_id = job_id

    def set_operator_id(self, operator_id: str) -> None:
        """Called before ``open``: several sinks may share the resource."""
        self.operator_id = operator_id

    @abstractmethod
    def create_resource(self) -> None:
        """Make what the facts are kept in, such as a table, unless it is there. Called when the sink is made."""

    @abstractmethod
    def open(self) -> None:
        """Connect. Called once in every subtask."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        """The subtask's values up to this checkpoint have been sent."""

    @abstractmethod
    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class _PendingCheckpoint:
    """The values between two checkpoints."""

    checkpoint_id: int
    subtask: int
    """Who got them. Another subtask may have to send them."""
    timestamp: int
    values: list[Any]


class GenericWriteAheadSink(SinkFunction[IN], CheckpointedFunction, CheckpointListener, Generic[IN]):
    """A sink function for systems without transactions.

    Values go into checkpoints, and are sent once these are complete. The committer remembers what was sent. A failure
    in the instant between sending and remembering makes values be sent twice; so sending should be idempotent. Values
    wait in memory until they are sent.

    :param committer: Remembers which checkpoints' values were sent.
    :param job_id: The job's name in the committer's resource. Give one to go on from a checkpoint with a new submission
        of the program; otherwise it is random.
    """

    _state: ListState[Any] | None = None
    _finished = False

    def __init__(self, committer: CheckpointCommitter, job_id: str | None = None) -> None:
        self._committer = committer
        committer.set_job_id(job_id or uuid.uuid4().hex)
        committer.create_resource()

    @abstractmethod
    def send_values(self, values: Iterable[IN], checkpoint_id: int, timestamp: int) -> bool:
        """Send the values of a checkpoint. False: not now, try again later."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Subclasses that override it call it, too."""
        self._subtask = runtime_context.get_index_of_this_subtask()
        self._committer.set_operator_id(runtime_context.get_operator_unique_id())
        self._committer.open()

    def close(self) -> None:
        self._committer.close()

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        self._state = context.get_operator_state_store().get_list_state(ListStateDescriptor("pending-checkpoints"))
        self._values: list[IN] = []
        self._pending: list[_PendingCheckpoint] = []
        self._restored: list[_PendingCheckpoint] = list(self._state.get()) if context.is_restored() else []

    def invoke(self, value: IN, context: WriterContext) -> None:
        self._values.append(value)

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        assert self._state is not None, "initialize_state comes before"
        # A committer may remember only the last checkpoint of each subtask: what an earlier attempt left, of whichever
        # subtask, must be sent before anything of this attempt.
        restored, self._restored = self._restored, []
        self._send(sorted(restored, key=lambda pending: pending.checkpoint_id), waits=False)
        if self._values:
            checkpoint = context.get_checkpoint_id(), self._subtask, context.get_checkpoint_timestamp()
            self._pending.append(_PendingCheckpoint(*checkpoint, self._values))
            self._values = []
        self._state.update(list(self._pending))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        due = [pending for pending in self._pending if pending.checkpoint_id <= checkpoint_id]
        later = [pending for pending in self._pending if pending.checkpoint_id > checkpoint_id]
        self._pending = [*self._send(due, waits=not self._finished), *later]

    def finish(self) -> None:
        self._finished = True

    def _send(self, checkpoints: list[_PendingCheckpoint], waits: bool) -> list[_PendingCheckpoint]:
        """Send them in order; gives those that have to wait. If they cannot, not sending them is an error."""
        for number, pending in enumerate(checkpoints):
            if self._committer.is_checkpoint_committed(pending.subtask, pending.checkpoint_id):
                continue
            if not any(self._try(pending, pause) for pause in (_SEND_PAUSES[:1] if waits else _SEND_PAUSES)):
                if waits:
                    return checkpoints[number:]
                raise RuntimeError(
                    f"{len(pending.values)} value(s) of checkpoint {pending.checkpoint_id} could not be sent in "
                    f"{len(_SEND_PAUSES)} tries: send_values gave False"
                )
            self._committer.commit_checkpoint(pending.subtask, pending.checkpoint_id)
        return []

    def _try(self, pending: _PendingCheckpoint, pause: float) -> bool:
        time.sleep(pause)
        return self.send_values(pending.values, pending.checkpoint_id, pending.timestamp)
