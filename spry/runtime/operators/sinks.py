"""Sinks: functions, writers with transactions, print, collect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spry.common.elements import NO_TIMESTAMP
from spry.common.plan import OperatorPlan
from spry.common.sink import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    SinkWriter,
    TwoPhaseCommittingSink,
    WriterContext,
    WriterInitContext,
)
from spry.runtime.blocks import detach
from spry.runtime.codegen import CodeWriter
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Emit, Operator
from spry.runtime.operators.functions import FunctionOperator
from spry.runtime.operators.printing import formatter

__all__ = [
    "RunningCollectOperator",
    "RunningPrintOperator",
    "RunningSinkFunctionOperator",
    "RunningSinkOperator",
]

_COMMIT_TRIES = 10


class RunningSinkFunctionOperator(FunctionOperator):
    """Calls ``invoke(value, context)`` per record; a plain callable gets the value alone."""

    method = "invoke"

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self._ctx = WriterContext()

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


class _InitContext(WriterInitContext):
    def __init__(self, context: SubtaskContext) -> None:
        self._context = context

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
        return None


class RunningSinkOperator(Operator):
    """A sink's writer, and its committer if it has transactions."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        sink = plan.description.sink  # type: ignore[attr-defined]
        self._sink = context.services.own(sink, sink)  # A simple sink may be its own writer.
        self._ctx = WriterContext()
        self._writer: SinkWriter[Any] | None = None
        self._committer: Committer[Any] | None = None

    def open(self) -> None:
        self._writer = self._sink.create_writer(_InitContext(self.context))
        if isinstance(self._sink, TwoPhaseCommittingSink):
            self._committer = self._sink.create_committer(CommitterInitContext(self.context.get_job_id()))

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

    def end_epoch(self) -> None:
        """Without transactions, what was written in an epoch is visible at its end."""
        if self._writer is not None and self._committer is None:
            self._writer.flush(False)

    def finish(self) -> None:
        """The input has ended and nothing can be lost any more: flush, and commit what is prepared."""
        assert self._writer is not None
        self._writer.flush(True)
        if self._committer is not None and isinstance(self._writer, CommittingSinkWriter):
            self._commit(self._committer, self._writer.prepare_commit())

    def _commit(self, committer: Committer[Any], committables: list[Any]) -> None:
        requests = [CommitRequest(committable) for committable in committables]
        for retries in range(_COMMIT_TRIES):
            if not requests:
                return
            committer.commit(requests)
            requests = [
                CommitRequest(request.get_committable(), retries + 1)
                for request in requests
                if request.outcome == "retry"
            ]
        if requests:
            raise RuntimeError(f"{len(requests)} transaction(s) could not be committed in {_COMMIT_TRIES} tries")

    def close(self) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
        finally:
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
