"""A slot: one process that owns a subtask of every vertex of its sharing group, and runs them level by level."""

from __future__ import annotations

import gc
import os
import pickle
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle

from spry.common.configuration import Configuration
from spry.common.errors import FailureInfo
from spry.common.keys import key_group_of, subtask_of_key_group
from spry.common.options import CheckpointingOptions, SpryOptions, StateBackendOptions, StateRecoveryOptions
from spry.common.plan import (
    CheckpointRequest,
    EdgePlan,
    EpochCommand,
    ExecutionState,
    JobPlan,
    SlotCommand,
    SlotReport,
    StateQuery,
    StopMode,
    VertexReport,
)
from spry.runtime.blocks import Block, decode_block, peek_edge
from spry.runtime.checkpoints.restore import Restorer
from spry.runtime.checkpoints.snapshots import SnapshotTaker
from spry.runtime.clock import Clock, system_clock
from spry.runtime.context import SlotServices
from spry.runtime.failures import OperatorFailure, explain, failure_of
from spry.runtime.operators.source import Budget
from spry.runtime.subtask import SnapshotDeclined, Subtask

__all__ = ["Slot", "encode_report"]

_FAILED_EDGE = -1
_POISON = struct.pack("<iiq", _FAILED_EDGE, 0, 0)
"""Tells the other slots that this one has failed, so that they do not go on with half of an epoch."""

Addressed = tuple[int, bytes]
"""(target slot, payload)."""


class Slot:
    """The subtasks of one slot of a job, and the blocks on their way to and from them.

    Everything that goes wrong is kept and reported at the end of the epoch: a failing task would only make Spark
    print its own account of it.
    """

    def __init__(
        self,
        job: JobPlan,
        slot: int,
        resolve_file: Callable[[str], str],
        clock: Clock = system_clock,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self.job = job
        self._stopping = stopping
        self.slot = slot
        self.services = SlotServices(job, resolve_file, clock)
        self.timer_delay = 1
        """In ms. Timers fire when their millisecond is over, so that windows that end with it have all its elements."""
        self.failure: FailureInfo | None = None
        self._aborted = False
        self._outgoing: list[Addressed] = []
        self._passed_on = 0
        self._busy = 0.0
        self._vertices = {vertex.vertex_id: vertex for vertex in job.vertices}
        self._edges = {edge.edge_id: edge for edge in job.edges}
        self._subtasks: dict[int, Subtask] = {}
        self._delivered: list[tuple[Subtask, Block]] = []
        """Blocks of this slot for this slot, which are taken in next."""
        self._answers: dict[int, tuple[bool, bytes]] = {}
        configuration = Configuration.from_dict(job.configuration)
        self._taker = SnapshotTaker(
            slot,
            job.attempt,
            configuration.get(CheckpointingOptions.SNAPSHOT_COMPRESSION),
            _local_directory(configuration, job.job_id, slot),
            configuration.get(SpryOptions.CHECKPOINT_MAX_STATE_SIZE),
            configuration.get(StateBackendOptions.ASYNC_SNAPSHOTS),
        )

    # Transport (see spry.runtime.writers)

    def is_in_slot(self, edge: EdgePlan, target: int) -> bool:
        return self._vertices[edge.target_vertex].slot_base + target == self.slot

    def deliver(self, edge: EdgePlan, target: int, block: Block) -> None:
        self._delivered.append((self._subtasks[edge.target_vertex], block))

    def send(self, edge: EdgePlan, target: int, payload: bytes) -> None:
        self._passed_on += len(payload)
        self._outgoing.append((self._vertices[edge.target_vertex].slot_base + target, payload))

    @property
    def subtasks(self) -> Iterable[Subtask]:
        """The subtasks that live here, in topological order."""
        return self._subtasks.values()

    # Life

    def deploy(self) -> SlotReport:
        """Make the subtasks and open their functions."""
        try:
            _make_room_for_calls(sum(len(vertex.operators) for vertex in self.job.vertices))
            for vertex in self.job.vertices:
                index = self.slot - vertex.slot_base
                if 0 <= index < vertex.parallelism:
                    self._subtasks[vertex.vertex_id] = Subtask(self.job, vertex, index, self, self.services)
            self._initialize()
            for subtask in reversed(self._subtasks.values()):
                subtask.open()
        except BaseException as error:
            self._fail(error)
        return self.report(0)

    def _initialize(self) -> None:
        """Before anything is opened, operators take in what a checkpoint has for them."""
        restorer = Restorer(self.job.restore) if self.job.restore is not None else None
        try:
            for subtask in self._subtasks.values():
                subtask.initialize_state(restorer)
        finally:
            if restorer is not None:
                restorer.close()

    def close(self, epoch: int, for_good: bool = True) -> SlotReport:
        """Close every function that is still open. Unless it is for good, copies of snapshots stay for a restart."""
        state = ExecutionState.FAILED if self.failure else ExecutionState.CANCELED
        for subtask in self._subtasks.values():
            try:
                subtask.close(state)
            except Exception as error:
                if self.failure is None:
                    self._fail(error)
        report = self.report(epoch)
        self._taker.close(for_good)
        for subtask in self._subtasks.values():
            for context in subtask.contexts:
                for backend in context.keyed_backends:
                    backend.dispose()
        self.services.dispose()
        return report

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = failure_of(error)
        self._aborted = True

    # An epoch

    def run_level(self, level: int, command: EpochCommand, incoming: Iterable[bytes]) -> Iterator[Addressed]:
        """Run the subtasks of one level; yields what goes to other slots."""
        started = time.perf_counter()
        source = iter(incoming)
        if level == 0:
            self._passed_on = 0
            self._busy = 0.0
        if not self._aborted:
            try:
                yield from self._run_level(level, command, source)
            except GeneratorExit:
                raise
            except BaseException as error:
                self._fail(error)
                self._outgoing.clear()
                self._delivered.clear()
                for slot in range(self.job.slots):
                    yield slot, _POISON
        for _ in source:
            pass  # Spark takes a worker back only if its task has read all of its input.
        self._busy += time.perf_counter() - started

    def _run_level(self, level: int, command: EpochCommand, incoming: Iterator[bytes]) -> Iterator[Addressed]:
        if level == 0:
            yield from self._begin_epoch(command)
        now = self.services.processing_time = self.services.clock()
        here = [s for s in self._subtasks.values() if s.vertex.level == level]
        # Within the slot records reach deeper levels at once, so all timers that are due fire before the first record.
        for subtask in () if command.quiet else self._subtasks.values() if level == 0 else here:
            subtask.on_processing_time(now - self.timer_delay)
        yield from self._drain()
        for payload in incoming:
            if peek_edge(payload) == _FAILED_EDGE:
                self._aborted = True
                return
            yield from self._take_in(*self._decode(payload))
        if level == 0 and not command.quiet:
            yield from self._run_sources([s for s in here if s.source is not None], command)
        deadline = time.monotonic() + command.max_millis / 1000
        for subtask in here:
            for _ in subtask.go_on(deadline):
                yield from self._drain()
            subtask.chain.flush(True)
            yield from self._drain()

    def _begin_epoch(self, command: EpochCommand) -> Iterator[Addressed]:
        """What was said since the last epoch comes before its first record."""
        for checkpoint_id in command.completed:
            self._taker.completed(checkpoint_id)
        for checkpoint_id in command.aborted:
            self._taker.abort(checkpoint_id)
        for subtask in self._subtasks.values():
            subtask.resume()
            if command.completed or command.aborted:
                subtask.notify(command.completed, command.aborted)
            yield from self._drain()

    def _decode(self, payload: bytes) -> tuple[Subtask, Block]:
        """A block from another slot, and whose it is."""
        subtask = self._subtasks[self._edges[peek_edge(payload)].target_vertex]
        try:
            return subtask, decode_block(payload)
        except BaseException as error:
            info = explain(error, None, subtask.chain.operators, 0).info
            raise OperatorFailure(replace(info, summary=f"a record cannot be unpickled: {info.summary}")) from None

    def _take_in(self, subtask: Subtask, block: Block) -> Iterator[Addressed]:
        for _ in subtask.process(block):
            yield from self._drain()
        yield from self._drain()

    def _run_sources(self, sources: list[Subtask], command: EpochCommand) -> Iterator[Addressed]:
        mine = command.slots.get(self.slot, SlotCommand())
        for subtask in sources:
            events = mine.source_events.get((subtask.vertex.vertex_id, subtask.index))
            if events is not None:
                subtask.handle_source_events(events)
            if subtask.source is not None:
                subtask.source.align(command.watermark_limits.get(subtask.vertex.vertex_id))
        drains = command.stop is StopMode.DRAIN
        if not drains and command.max_records <= 0 and command.checkpoint is None:
            return
        end = time.monotonic() + command.max_millis / 1000
        for number, subtask in enumerate(sources):
            share = max(0.0, end - time.monotonic()) / (len(sources) - number)
            budget = Budget(
                command.max_records,
                time.monotonic() + share,
                lambda: self._passed_on >= command.max_bytes or self._stopping(),
            )
            budget.checkpoint = command.checkpoint
            for _ in subtask.drain_source(budget) if drains else subtask.run_source(budget):
                yield from self._drain()
            yield from self._drain()

    def _drain(self) -> Iterator[Addressed]:
        """Hand over what goes to other slots, and take in what stays, with all that follows from it.

        What has just been made is used up before more is made: it is still in the processor's caches, and little waits.
        """
        if self._outgoing:
            outgoing, self._outgoing = self._outgoing, []
            yield from outgoing
        if self._delivered:
            delivered, self._delivered = self._delivered, []
            for subtask, block in delivered:
                yield from self._take_in(subtask, block)

    def end_epoch(self, command: EpochCommand) -> SlotReport:
        """After the last level."""
        if not self._aborted:
            try:
                for subtask in self._subtasks.values() if not command.quiet else ():
                    missing = subtask.gate.missing()
                    if missing is not None:
                        raise RuntimeError(f"vertex '{subtask.vertex.name}' lost data: {missing}")
                    subtask.end_epoch()
                if command.checkpoint is not None:
                    self._snapshot(command.checkpoint)
                if command.queries:
                    self._answer(command.queries)
            except Exception as error:
                self._fail(error)
        return self.report(command.epoch)

    # Checkpoints

    def _snapshot(self, request: CheckpointRequest) -> None:
        started = time.monotonic()
        parts, operators = [], []
        try:
            for subtask in self._subtasks.values():
                own, known = subtask.snapshot(request)
                parts.extend(own)
                operators.extend(known)
        except SnapshotDeclined as error:
            self._taker.fail(request, str(error), started, error.another_time)
            return
        self._taker.take(request, parts, operators, started)

    def _answer(self, queries: tuple[StateQuery, ...]) -> None:
        """Answer those questions whose keys are here."""
        for query in queries:
            try:
                found = self._look_up(query.name, pickle.loads(query.key))
                if found is not None:
                    self._answers[query.query_id] = True, cloudpickle.dumps(found[0], 5)
            except Exception as error:  # Whoever asks something odd learns it; the job goes on.
                self._answers[query.query_id] = False, f"{type(error).__name__}: {error}".encode()

    def _look_up(self, name: str, key: Any) -> tuple[Any] | None:
        """The key's value in the state that is called so in queries, None if that is not here."""
        for subtask in self._subtasks.values():
            vertex = subtask.vertex
            for context in subtask.contexts:
                own = context.keyed_state.queryable.get(name)
                if own is None:
                    continue
                group = key_group_of(key, vertex.max_parallelism)
                if subtask_of_key_group(group, vertex.max_parallelism, vertex.parallelism) == subtask.index:
                    return (context.keyed_state.lookup(own, key),)
        return None

    # Report

    def report(self, epoch: int) -> SlotReport:
        """What the driver should know; printed lines and collected records go with it, once."""
        vertices: list[VertexReport] = []
        try:
            vertices = [subtask.report() for subtask in self._subtasks.values()]
        except Exception as error:
            self._fail(error)
        report = SlotReport(
            slot=self.slot,
            epoch=epoch,
            pid=os.getpid(),
            host=socket.gethostname(),
            vertices=vertices,
            lines=self.services.lines[:],
            collected={name: values[:] for name, values in self.services.collected.items() if values},
            failure=self.failure,
            next_timer=min(
                (t + self.timer_delay for s in self._subtasks.values() if (t := s.next_timer()) is not None),
                default=None,
            ),
            busy_seconds=self._busy,
            warnings=self.services.warnings[:],
            snapshots=self._taker.poll(),
            answers=self._answers,
        )
        self._answers = {}
        self.services.lines.clear()
        self.services.warnings.clear()
        for values in self.services.collected.values():
            values.clear()
        return report


def _local_directory(configuration: Configuration, job_id: str, slot: int) -> Path | None:
    """Where copies of snapshots stay for recovery on this machine, if that is wanted."""
    if not configuration.get(StateRecoveryOptions.LOCAL_RECOVERY):
        return None
    parents = configuration.get_optional(CheckpointingOptions.LOCAL_BACKUP_DIRS) or [tempfile.gettempdir()]
    return Path(parents[slot % len(parents)]) / f"spry-local-{job_id}-{slot}"


def _make_room_for_calls(operators: int) -> None:
    """Within a slot, records and watermarks go from operator to operator by calls: long graphs need a deep stack."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000 + 20 * operators))


def encode_report(report: SlotReport) -> bytes:
    """The wire form of a report."""
    try:
        return pickle.dumps(report, 5)
    except Exception:
        payload: bytes = cloudpickle.dumps(report, 5)
        return payload


class HeapKeeper:
    """Keeps the garbage collector off a slot's live state.

    PySpark collects after every task; with a million live entries that would take seconds. Everything that is alive
    at a task's end is frozen, and thawed now and then so that real garbage goes too.
    """

    def __init__(self, every_seconds: float = 60.0) -> None:
        self._every = every_seconds
        self._last = time.monotonic()

    def end_of_task(self) -> None:
        """Call last in every task."""
        now = time.monotonic()
        if now - self._last >= self._every:
            start = time.monotonic()
            gc.unfreeze()
            gc.collect()
            # A large heap is thawed the less often the longer that takes.
            self._every = max(60.0, 200 * (time.monotonic() - start))
            self._last = time.monotonic()
        gc.freeze()
