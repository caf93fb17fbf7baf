"""A subtask: one chain of operators at work, with its gate in front and its writers behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

from spry.common.accumulators import combine_accumulators
from spry.common.elements import MIN_TIMESTAMP, ControlElement, EndOfInput, Watermark, WatermarkStatus
from spry.common.keys import key_group_range
from spry.common.plan import (
    CheckpointRequest,
    EdgePlan,
    ExecutionState,
    JobPlan,
    OperatorSnapshot,
    SourceEvents,
    VertexPlan,
    VertexReport,
)
from spry.common.type_checks import compile_enforcer
from spry.runtime.blocks import Block
from spry.runtime.chain import Key, OperatorChain
from spry.runtime.checkpoints.container import StatePart
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.checkpoints.restore import Restorer
from spry.runtime.checkpoints.snapshots import OperatorParts
from spry.runtime.context import SlotServices, SubtaskContext
from spry.runtime.failures import OperatorFailure, explain
from spry.runtime.gate import InputGate
from spry.runtime.operators import create_operator
from spry.runtime.operators.batch import RunningGroupByKeyOperator, needs_grouping
from spry.runtime.operators.source import Budget, RunningSourceBase
from spry.runtime.writers import Transport, Writer, create_writer, target_subtasks

__all__ = ["SnapshotDeclined", "Subtask"]

_SLICE = 4096
"""Records that run through a chain before its writers get to pass blocks on."""


class SnapshotDeclined(Exception):
    """An operator cannot take part in a checkpoint. The job goes on; the message says why."""

    def __init__(self, why: str, another_time: bool = False) -> None:
        super().__init__(why)
        self.another_time = another_time
        """Nothing has failed: a later checkpoint may do."""


class Subtask:
    """One parallel instance of a vertex."""

    def __init__(
        self, job: JobPlan, vertex: VertexPlan, index: int, transport: Transport, services: SlotServices
    ) -> None:
        self.vertex = vertex
        self.index = index
        self.state = ExecutionState.INITIALIZING
        self.records_in = 0
        self.contexts = [SubtaskContext(services, vertex, operator, index) for operator in vertex.operators]
        operators = [create_operator(c.operator, c) for c in self.contexts]
        vertices = {v.vertex_id: v for v in job.vertices}
        self.writers: list[Writer] = []
        writers: dict[Key, list[Writer]] = {}
        for edge in job.edges:
            if edge.source_vertex == vertex.vertex_id:
                target = vertices[edge.target_vertex]
                edge = _with_own_functions(edge, services)
                writer = create_writer(
                    edge, index, vertex.parallelism, target.parallelism, target.max_parallelism, transport
                )
                self.writers.append(writer)
                writers.setdefault((edge.source_operator, edge.tag), []).append(writer)
        self.chain = OperatorChain(operators, writers, _side_enforcers(job, vertex), job.object_reuse)
        self.gate = InputGate(_channels(job, vertices, vertex, index))
        head = operators[0]
        self.source = head if isinstance(head, RunningSourceBase) else None
        self._grouping: RunningGroupByKeyOperator | None = None
        if job.batch and needs_grouping(operators[0]):
            self._grouping = RunningGroupByKeyOperator(self.chain, self.contexts[0])
        self._rest: Iterator[None] | None = None
        self._slice = _SLICE
        self._batch = job.batch
        self._closed = False
        self._restored = False
        self._was_finished = False

    # Life

    def _selectors(self) -> Iterator[tuple[int, Any]]:
        """Key selectors and partitioners that have a life, each with the index of the operator that it works for."""
        for index, context in enumerate(self.contexts):
            if context.key is not None and context.key.function is not None:
                yield index, context.key.function
        for writer in self.writers:
            for function in writer.edge.partitioning.functions:
                if function is not None:
                    yield writer.edge.source_operator, function

    def initialize_state(self, restorer: Restorer | None) -> None:
        """Give the operators what a checkpoint has for them. Called before ``open``."""
        known = self._known(restorer) if restorer is not None else []
        if known:
            self.gate.restore(known[0].watermark, known[0].idle)
            self._was_finished = all(operator.finished for operator in known)
            if self.source is not None:
                self.source.ended = self._was_finished
        self._restored = bool(known)
        for index, (operator, context) in enumerate(zip(self.chain.operators, self.contexts, strict=True)):
            found = StateInitializationContext()
            if restorer is not None:
                found = restorer.restore(context)
            self.chain.guard(index, operator.initialize_state, found)

    def _known(self, restorer: Restorer) -> list[OperatorSnapshot]:
        """What a checkpoint says of this chain. Operators may be new in it. A source has its own only."""
        deciding = self.vertex.operators if self.source is None else self.vertex.operators[:1]
        found = [restorer.watermark(operator.uid, self.index, self.vertex.parallelism) for operator in deciding]
        return [operator for operator in found if operator is not None]

    def resume(self) -> None:
        """The first epoch after a restore: those behind have to hear again how far event time has come."""
        if not self._restored or self.state is not ExecutionState.RUNNING:
            return
        self._restored = False
        if self._was_finished:
            for writer in self.writers:
                writer.control(EndOfInput())
            self._retire()
            return
        if self.source is None:
            if self.gate.watermark > MIN_TIMESTAMP:
                self.chain.control(Watermark(self.gate.watermark))
            if self.gate.idle:
                self.chain.control(WatermarkStatus(True))
        for index, operator in enumerate(self.chain.operators):
            self.chain.guard(index, operator.resume)

    def open(self) -> None:
        """Open the operators and what chooses keys for them: the subtask runs."""
        for index, function in self._selectors():
            self.chain.guard(index, getattr(function, "open", _nothing), self.contexts[index])
        self.chain.open()
        self.state = ExecutionState.RUNNING

    def close(self, state: ExecutionState) -> None:
        """Close what was opened, once."""
        if not self.state.is_terminal:
            self.state = state
        if not self._closed:
            self._closed = True
            try:
                self.chain.close()
            finally:
                for index, function in self._selectors():
                    self.chain.guard(index, getattr(function, "close", _nothing))

    def _finish(self) -> None:
        if self.state is not ExecutionState.RUNNING:
            return
        if self._grouping is not None:
            self._rest = self._grouping.finish()
        else:
            self._end()

    def _end(self) -> None:
        self.chain.finish()
        self._retire()

    def _retire(self) -> None:
        """Nothing follows. What was written last is committed with a later checkpoint, and savepoints ask functions for
        their state: stay open for these, unless there are none.
        """
        self.state = ExecutionState.FINISHED
        if self._batch:
            self.close(ExecutionState.FINISHED)

    @property
    def has_more(self) -> bool:
        """Batch mode: the input has ended, and not all of what was grouped by key has been let in."""
        return self._rest is not None

    def go_on(self, deadline: float) -> Iterator[None]:
        """Let in more of what was grouped by key, until the deadline (on the monotonic clock).

        The rest is for the next epochs: in one long epoch, slots that are ready would wait too long for others.
        """
        if self._rest is None or self.state is not ExecutionState.RUNNING:
            return
        for _ in self._rest:
            self._after_slice()
            yield
            if monotonic() >= deadline:
                return
        self._rest = None
        self._end()

    # Input

    def process(self, block: Block) -> Iterator[None]:
        """Take in a block from a channel; yields whenever blocks may have become ready to go."""
        for ready in self.gate.in_order(block):
            yield from self._process(ready)

    def _process(self, block: Block) -> Iterator[None]:
        position = 0
        for at, element in block.controls:
            yield from self._records(block, position, at)
            position = at
            for out in self.gate.control(block.edge, block.source, element):
                self._control(out)
        yield from self._records(block, position, len(block.values))
        if self.gate.ended:
            self._finish()

    def _control(self, element: ControlElement) -> None:
        if self._grouping is not None:
            self._grouping.control(element)
        else:
            self.chain.control(element)

    def _records(self, block: Block, start: int, end: int) -> Iterator[None]:
        if end <= start:
            return
        self.records_in += end - start
        process = self.chain.process if self._grouping is None else self._grouping.process
        while start < end:
            stop = min(start + self._slice, end)
            whole = start == 0 and stop == len(block.values)
            values = block.values if whole else block.values[start:stop]
            stamps = block.timestamps
            if stamps is not None and not whole:
                stamps = stamps[start:stop]
            process(values, stamps)
            self._after_slice()
            yield
            start = stop

    def _after_slice(self) -> None:
        """Let blocks go, and keep the next slice small if this one has grown a lot."""
        waiting = max((len(b.values) for w in self.writers for b in w.buffers), default=0)
        if waiting > 8 * _SLICE:
            self._slice = max(16, self._slice // 4)
        elif self._slice < _SLICE:
            self._slice = min(_SLICE, self._slice * 2)
        self.chain.flush(False)

    # Source

    def run_source(self, budget: Budget) -> Iterator[None]:
        """Read within the budget; yields whenever blocks may have become ready to go."""
        if self.source is not None and self.state is ExecutionState.RUNNING:
            yield from self._read(self.source, self.source.run(budget))

    def drain_source(self, budget: Budget) -> Iterator[None]:
        """Read no further: the source's input is over."""
        if self.source is not None and self.state is ExecutionState.RUNNING:
            yield from self._read(self.source, self.source.drain(budget))

    def _read(self, source: RunningSourceBase, steps: Iterator[None]) -> Iterator[None]:
        try:
            for _ in steps:
                self._after_slice()
                yield
        except (OperatorFailure, GeneratorExit):
            raise
        except BaseException as error:
            raise explain(error, None, self.chain.operators, 0) from None
        if source.ended:
            self._finish()

    def handle_source_events(self, events: SourceEvents) -> None:
        """What the enumerator says to this subtask's reader."""
        if self.source is not None and self.state is ExecutionState.RUNNING:
            self.chain.guard(0, self.source.handle, events)

    # Time

    def on_processing_time(self, now: int) -> None:
        """Let operators act on the clock."""
        if self.state is ExecutionState.RUNNING:
            for index, operator in enumerate(self.chain.operators):
                self.chain.guard(index, operator.on_processing_time, now)

    def next_timer(self) -> int | None:
        """When an operator wants to be woken."""
        if self.state is not ExecutionState.RUNNING:
            return None
        return min((t for o in self.chain.operators if (t := o.next_timer()) is not None), default=None)

    def end_epoch(self) -> None:
        """The epoch's last record is through."""
        if self.state is ExecutionState.RUNNING:
            for index, operator in enumerate(self.chain.operators):
                self.chain.guard(index, operator.end_epoch)
            for index, context in enumerate(self.contexts):
                for backend in context.keyed_backends:
                    self.chain.guard(index, backend.end_epoch)

    # Checkpoints

    def snapshot(self, request: CheckpointRequest) -> tuple[list[OperatorParts], list[OperatorSnapshot]]:
        """What the operators have to write, and how far they have come."""
        finished = self.state is ExecutionState.FINISHED
        watermark, idle = self.gate.watermark, self.gate.idle
        if self.source is not None:
            watermark, idle = self.source.watermarks.last, self.source.watermarks.idle
        parts, operators = [], []
        groups = key_group_range(self.index, self.vertex.max_parallelism, self.vertex.parallelism)
        for index, (operator, context) in enumerate(zip(self.chain.operators, self.contexts, strict=True)):
            why = operator.why_not_ready(request.checkpoint_id)
            if why is not None:
                raise SnapshotDeclined(f"operator '{context.operator.name}': {why}", another_time=True)
            taken = StateSnapshotContext(request.checkpoint_id, request.timestamp)
            try:
                self.chain.guard(index, operator.snapshot_state, taken)
            except OperatorFailure as error:
                if operator.must_snapshot:
                    raise
                raise SnapshotDeclined(error.info.describe()) from None
            plan = context.operator
            databases = []
            for backend in context.keyed_backends:
                if backend.has_files:
                    databases.extend([backend] if backend.metas() else [])
                else:
                    taken.parts.extend(_parts_of(backend))
            parts.append(
                OperatorParts(
                    plan.uid, plan.name, self.index, self.vertex.max_parallelism, taken.parts, databases, groups
                )
            )
            operators.append(OperatorSnapshot(plan.uid, plan.name, self.index, watermark, idle, finished))
        return parts, operators

    def notify(self, completed: tuple[int, ...], aborted: tuple[int, ...]) -> None:
        """Tell the operators what became of checkpoints."""
        for index, operator in enumerate(self.chain.operators):
            for checkpoint_id in completed:
                self.chain.guard(index, operator.notify_checkpoint_complete, checkpoint_id)
            for checkpoint_id in aborted:
                self.chain.guard(index, operator.notify_checkpoint_aborted, checkpoint_id)

    # Report

    def report(self) -> VertexReport:
        """What this subtask has done so far."""
        accumulators = combine_accumulators([context.accumulators for context in self.contexts])
        metrics: dict[str, Any] = {}
        for context in self.contexts:
            metrics.update({f"{context.operator.name}.{k}": v for k, v in context.metrics.values().items()})
        report = VertexReport(
            vertex_id=self.vertex.vertex_id,
            subtask=self.index,
            records_in=self.records_in,
            records_out=sum(writer.records for writer in self.writers),
            finished=self.state is ExecutionState.FINISHED,
            backlog=self.has_more,
            watermark=self.gate.watermark,
            accumulators=accumulators,
            metrics=metrics,
        )
        if self.source is not None:
            report.records_in = self.source.records
            report.watermark = self.source.watermark
            report.backlog = self.source.backlog and not self.source.ended
            report.split_requests, report.source_events = self.source.take_requests()
        return report


def _parts_of(backend: Any) -> list[StatePart]:
    return [
        StatePart(
            meta, partial(backend.entries, meta.name), True, backend.namespaced, backend.name, backend.count(meta.name)
        )
        for meta in backend.metas()
    ]


def _nothing(*_: Any) -> None:
    """Functions need not have ``open`` and ``close``."""


def _with_own_functions(edge: EdgePlan, services: SlotServices) -> EdgePlan:
    partitioning = edge.partitioning
    own = services.own(partitioning, *partitioning.functions)
    return edge if own is partitioning else replace(edge, partitioning=own)


def _side_enforcers(job: JobPlan, vertex: VertexPlan) -> dict[tuple[int, str], Callable[[Any], Any]]:
    enforcers = {}
    for (index, tag), type_info in vertex.side_types.items():
        enforce = compile_enforcer(type_info) if type_info is not None else None
        if enforce is not None:
            enforcers[(index, tag)] = enforce
    return enforcers


def _channels(job: JobPlan, vertices: dict[int, VertexPlan], vertex: VertexPlan, index: int) -> list[tuple[int, int]]:
    """Every (edge, source subtask) that feeds this subtask."""

    def feeds(edge: EdgePlan, source: int) -> bool:
        parallelism = vertices[edge.source_vertex].parallelism
        return index in target_subtasks(edge.partitioning, source, parallelism, vertex.parallelism)

    return [
        (edge.edge_id, source)
        for edge in job.edges
        if edge.target_vertex == vertex.vertex_id
        for source in range(vertices[edge.source_vertex].parallelism)
        if feeds(edge, source)
    ]
