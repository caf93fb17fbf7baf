"""Sinks: functions, writers with transactions, print, collect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spry.common.elements import NO_TIMESTAMP
from spry.common.plan import OperatorPlan
from spry.common.sink import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    SinkWriter,
    StatefulSinkWriter,
    TwoPhaseCommittingSink,
    WriterContext,
    WriterInitContext,
)
from spry.runtime.blocks import detach
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.codegen import CodeWriter
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Emit, Operator
from spry.runtime.operators.functions import FunctionOperator
from spry.runtime.operators.printing import formatter

__all__ = [
    "Committables",
    "RunningCollectOperator",
    "RunningGlobalCommitterOperator",
    "RunningGlobalSinkOperator",
    "RunningPrintOperator",
    "RunningSinkFunctionOperator",
    "RunningSinkOperator",
]

_COMMIT_PAUSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.0, 1.0)
"""Seconds before each try."""
_COMMITTABLES, _WRITER = "spry-committables", "spry-writer"
"""Names of states."""


class Committables:
    """What was prepared for checkpoints. It waits until one that covers it is complete, and is part of every later one.

    >>> waiting = Committables([(1, "a")])
    >>> waiting.add(2, ["b", "c"])
    >>> waiting.covered_by(1), waiting.entries
    (['a'], [(2, 'b'), (2, 'c')])
    >>> waiting.take_all(), waiting.entries
    (['b', 'c'], [])
    """

    def __init__(self, entries: Iterable[tuple[int, Any]] = ()) -> None:
        self.entries = list(entries)
        """Each with its checkpoint."""

    def add(self, checkpoint_id: int, committables: Iterable[Any]) -> None:
        self.entries += [(checkpoint_id, committable) for committable in committables]

    def covered_by(self, checkpoint_id: int) -> list[Any]:
        """Take out what need not wait when this checkpoint is complete."""
        due = [committable for at, committable in self.entries if at <= checkpoint_id]
        self.entries = [entry for entry in self.entries if entry[0] > checkpoint_id]
        return due

    def take_all(self) -> list[Any]:
        """Take out everything."""
        entries, self.entries = self.entries, []
        return [committable for _, committable in entries]


class RunningSinkFunctionOperator(FunctionOperator):
    """Calls ``invoke(value, context)`` per record; a plain callable gets the value alone."""

    method = "invoke"

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self._ctx = WriterContext()
        self._latest_checkpoint = 0
        """Restored or taken; what the function prepared for it may be waiting."""

    def initialize_state(self, context: StateInitializationContext) -> None:
        self._latest_checkpoint = context.get_restored_checkpoint_id() or 0
        super().initialize_state(context)

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        self._latest_checkpoint = max(self._latest_checkpoint, context.checkpoint_id)
        super().snapshot_state(context)

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        call = g.bind(self.call, "invoke")
        if not self.rich:
            g.line(f"{call}({value})")
            return
        ctx = g.bind(self._ctx, "ctx")
        if timestamp is not None:
            none = g.bind(NO_TIMESTAMP, "none")
            g.line(f"{ctx}.timestamp = {timestamp} if {timestamp} != {none} else None")
        g.line(f"{call}({value}, {ctx})")

    def process_watermark(self, timestamp: int) -> None:
        self._ctx.current_watermark = timestamp
        self.output.emit_watermark(timestamp)

    def finish(self) -> None:
        finisher = getattr(self.function, "finish", None)
        if finisher is not None and self.rich:
            finisher()
        waits = self.rich and hasattr(self.function, "notify_checkpoint_complete")
        if waits and not self.context.services.job.checkpointing:
            # What waits for a checkpoint to be complete, or for a savepoint that failed, need not wait any more.
            last = self._latest_checkpoint + 1
            self.snapshot_state(StateSnapshotContext(last, self.context.services.clock()))
            self.notify_checkpoint_complete(last)


class _InitContext(WriterInitContext):
    def __init__(self, context: SubtaskContext, restored_checkpoint_id: int | None) -> None:
        self._context = context
        self._restored_checkpoint_id = restored_checkpoint_id

    def get_subtask_id(self) -> int:
        return self._context.subtask

    def get_number_of_parallel_subtasks(self) -> int:
        return self._context.vertex.parallelism

    def get_attempt_number(self) -> int:
        return self._context.get_attempt_number()

    def get_job_id(self) -> str:
        return self._context.get_job_id()

    def metric_group(self) -> Any:
        return self._context.get_metrics_group()

    def get_restored_checkpoint_id(self) -> int | None:
        return self._restored_checkpoint_id

    def current_processing_time(self) -> int:
        return self._context.services.clock()


class RunningSinkOperator(Operator):
    """A sink's writer, and its committer if it has transactions."""

    must_snapshot = True

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        sink = plan.description.sink  # type: ignore[attr-defined]
        self._sink = context.services.own(sink, sink)  # A simple sink may be its own writer.
        self._ctx = WriterContext()
        self._writer: SinkWriter[Any] | None = None
        self._committer: Committer[Any] | None = None
        self._waiting = Committables()
        self._last: list[Any] = []
        """Committables of the end of the input, for the next checkpoint."""
        self._ended = False
        self._writer_states: list[Any] = []
        self._restored_checkpoint_id: int | None = None

    def initialize_state(self, context: StateInitializationContext) -> None:
        self._restored_checkpoint_id = context.get_restored_checkpoint_id()
        self._writer_states = context.list_state(_WRITER)
        self._waiting = Committables(context.list_state(_COMMITTABLES))

    def open(self) -> None:
        self._open_committer()
        context = _InitContext(self.context, self._restored_checkpoint_id)
        states, self._writer_states = self._writer_states, []
        self._writer = self._sink.restore_writer(context, states) if states else self._sink.create_writer(context)

    def _open_committer(self) -> None:
        if isinstance(self._sink, TwoPhaseCommittingSink):
            self._committer = self._sink.create_committer(
                CommitterInitContext(self.context.get_job_id(), self._restored_checkpoint_id)
            )
            self._settle(self._waiting.take_all(), recovered=True)

    @property
    def _has_transactions(self) -> bool:
        return self._committer is not None

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        assert self._writer is not None, "a chain is compiled after its operators are open"
        ctx = g.bind(self._ctx, "ctx")
        if timestamp is not None:
            none = g.bind(NO_TIMESTAMP, "none")
            g.line(f"{ctx}.timestamp = {timestamp} if {timestamp} != {none} else None")
        g.line(f"{g.bind(self._writer.write, 'write')}({value}, {ctx})")

    def process_watermark(self, timestamp: int) -> None:
        assert self._writer is not None
        self._ctx.current_watermark = timestamp
        self._writer.write_watermark(timestamp)
        self.output.emit_watermark(timestamp)

    def on_processing_time(self, now: int) -> None:
        if self._writer is not None and not self._ended:
            self._writer.on_processing_time(now)

    def next_timer(self) -> int | None:
        return self._writer.next_timer() if self._writer is not None and not self._ended else None

    def end_epoch(self) -> None:
        """Without transactions, what was written in an epoch is visible at its end."""
        if self._writer is not None and not self._has_transactions and not self._ended:
            self._writer.flush(False)

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        assert self._writer is not None
        prepared, self._last = self._last, []
        if not self._ended:
            self._writer.flush(False)
            prepared = self._prepare()
        if isinstance(self._writer, StatefulSinkWriter):
            context.put_list_state(_WRITER, self._writer.snapshot_state(context.checkpoint_id))
        if self._has_transactions:
            self._waiting.add(context.checkpoint_id, prepared)
            context.put_list_state(_COMMITTABLES, list(self._waiting.entries))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._settle(self._waiting.covered_by(checkpoint_id))

    def finish(self) -> None:
        """The input has ended: flush. What is prepared waits for the last checkpoint, if there is one."""
        prepared = self._end()
        if self.context.services.job.checkpointing:
            self._last = prepared
        else:
            # Also what was prepared for savepoints that failed, or of which it was not heard what became of them.
            self._settle([*self._waiting.take_all(), *prepared])

    def _end(self) -> list[Any]:
        assert self._writer is not None
        self._writer.flush(True)
        self._ended = True
        return self._prepare()

    def _prepare(self) -> list[Any]:
        return self._writer.prepare_commit() if isinstance(self._writer, CommittingSinkWriter) else []

    def _settle(self, committables: list[Any], recovered: bool = False) -> None:
        """Commit what is in a complete checkpoint."""
        if self._committer is not None:
            _commit(self, self._committer, [CommitRequest(committable, 0, recovered) for committable in committables])

    def close(self) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
        finally:
            if self._committer is not None:
                self._committer.close()


def _commit(operator: Operator, committer: Committer[Any], requests: list[CommitRequest[Any]]) -> None:
    """Commit, and try again what the committer wants to be tried again."""
    for retries, pause in enumerate(_COMMIT_PAUSES, 1):
        if not requests:
            return
        time.sleep(pause)
        committer.commit(requests)
        operator.context.services.warnings += [
            f"operator '{operator.plan.name}': {request.get_committable()!r} was not committed: {request.failure}"
            for request in requests
            if request.failure is not None
        ]
        requests = [
            CommitRequest(request.get_committable(), retries, request.is_recovered())
            for request in requests
            if request.outcome == "retry"
        ]
    if requests:
        raise RuntimeError(f"{len(requests)} transaction(s) could not be committed in {len(_COMMIT_PAUSES)} tries")


class RunningGlobalSinkOperator(RunningSinkOperator):
    """A sink's writer whose committables are committed by another operator: it is sent them when that may be done.

    At the end of the input it is sent them before: later, nothing can be sent any more.
    """

    @property
    def _has_transactions(self) -> bool:
        return True

    def _open_committer(self) -> None:
        pass

    def resume(self) -> None:
        self._settle(self._waiting.take_all(), recovered=True)

    def _settle(self, committables: list[Any], recovered: bool = False) -> None:
        self._send(committables, True, recovered)

    def finish(self) -> None:
        self._send([*self._waiting.take_all(), *self._end()], False, False)

    def _send(self, committables: list[Any], complete: bool, recovered: bool) -> None:
        if committables:
            self.output.emit([(complete, recovered, committable) for committable in committables], None)


class RunningGlobalCommitterOperator(Operator):
    """Commits what the writers send: at the end of the epoch, or with the next checkpoint after it."""

    takes_batches = True

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        sink = plan.description.sink  # type: ignore[attr-defined]
        self._sink = context.services.own(sink, sink)
        self._committer: Committer[Any] | None = None
        self._ready: list[CommitRequest[Any]] = []
        self._last: list[Any] = []
        """Committables for the next checkpoint."""
        self._waiting = Committables()
        self._restored_checkpoint_id: int | None = None

    def initialize_state(self, context: StateInitializationContext) -> None:
        self._restored_checkpoint_id = context.get_restored_checkpoint_id()
        self._waiting = Committables(context.list_state(_COMMITTABLES))

    def open(self) -> None:
        self._committer = self._sink.create_global_committer(
            CommitterInitContext(self.context.get_job_id(), self._restored_checkpoint_id)
        )
        self._ready = [CommitRequest(committable, 0, True) for committable in self._waiting.take_all()]
        self._commit_ready()

    def process_batch(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        for complete, recovered, committable in values:
            if complete:
                self._ready.append(CommitRequest(committable, 0, recovered))
            else:
                self._last.append(committable)

    def end_epoch(self) -> None:
        self._commit_ready()

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        self._commit_ready()
        self._waiting.add(context.checkpoint_id, self._last)
        self._last = []
        context.put_list_state(_COMMITTABLES, list(self._waiting.entries))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._ready += [CommitRequest(committable) for committable in self._waiting.covered_by(checkpoint_id)]
        self._commit_ready()

    def finish(self) -> None:
        if not self.context.services.job.checkpointing:
            last, self._last = self._last, []
            self._ready += [CommitRequest(committable) for committable in (*self._waiting.take_all(), *last)]
        self._commit_ready()

    def _commit_ready(self) -> None:
        assert self._committer is not None
        ready, self._ready = self._ready, []
        _commit(self, self._committer, ready)

    def close(self) -> None:
        if self._committer is not None:
            self._committer.close()


class RunningPrintOperator(Operator):
    """Prints on the driver, each line with Flink's prefix: ``identifier:subtask> `` or a part of it."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        description: Any = plan.description
        number = str(context.subtask + 1) if context.vertex.parallelism > 1 else ""
        prefix = ":".join(part for part in (description.identifier or "", number) if part)
        self._prefix = f"{prefix}> " if prefix else ""
        self._to_error: bool = description.to_error
        self._format = formatter(description.type_info)

    @property
    def may_keep(self) -> bool:
        return False

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        put = g.bind(self.context.services.lines.append, "put")
        text = f"{g.bind(self._format, 'format')}({value})"
        g.line(f"{put}(({self._to_error}, {g.bind(self._prefix, 'prefix')} + {text}))")


class RunningCollectOperator(Operator):
    """Brings records to the driver."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        description: Any = plan.description
        self._values = context.services.collected.setdefault(description.collect_id, [])

    @property
    def may_keep(self) -> bool:
        return False  # It makes a copy of its own.

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        put: Callable[[Any], None] = self._values.append
        g.line(f"{g.bind(put, 'put')}({g.bind(detach, 'detach')}({value}))")
