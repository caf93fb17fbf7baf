"""Whole programs in this process: graphs, slots, blocks and enumerators as in a job, but no Spark.

env, job = program(parallelism=2)
numbers = job.collect(env.from_collection(range(10)).map(lambda n: n + 1))
job.run()
assert sorted(numbers) == list(range(1, 11))

A job can take a checkpoint, which another goes on from, at whatever parallelism:

env, job = program(checkpointing=True)
...
job.start()
job.step()
env, job = program(parallelism=3, restore=job.checkpoint())
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

from spry.common.accumulators import merge_accumulators
from spry.common.configuration import Configuration
from spry.common.errors import CheckpointError, JobExecutionError
from spry.common.operators import CollectOperator, SourceOperator
from spry.common.options import PipelineOptions
from spry.common.plan import CheckpointRequest, JobPlan, RestoreState, SlotReport
from spry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from spry.graph.execution_graph import ExecutionGraph, build_execution_graph
from spry.graph.job_graph import build_job_graph
from spry.jobmanager.source_coordinator import SourceCoordinator
from spry.jobmanager.watermark_alignment import WatermarkAlignment
from spry.runtime.testing import ManualClock, SlotCluster

__all__ = ["LocalCheckpoint", "LocalJob", "new_environment", "plain", "program"]


@dataclass(frozen=True, slots=True)
class LocalCheckpoint:
    """What another job goes on from."""

    state: RestoreState
    sources: dict[str, bytes]
    now: int
    """What the clock showed."""


def new_environment(
    parallelism: int = 1, *, chaining: bool = True, batch: bool = False, object_reuse: bool = False
) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set(PipelineOptions.OBJECT_REUSE, object_reuse)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH if batch else RuntimeExecutionMode.STREAMING)
    if not chaining:
        env.disable_operator_chaining()
    return env


def plain(name: str) -> str:
    """An operator's or chain's name as the program gave it: without "Source: " and "Sink: "."""
    return name.replace("Source: ", "").replace("Sink: ", "")


def program(parallelism: int = 1, **settings: Any) -> tuple[StreamExecutionEnvironment, LocalJob]:
    """A new environment, and the job that its program will be."""
    names = ("max_records", "seed", "epochs", "checkpointing", "restore")
    reads = {name: settings.pop(name) for name in names if name in settings}
    env = new_environment(parallelism, **settings)
    return env, LocalJob(env, **reads)


class LocalJob:
    """Runs what was defined on an environment.

    ``max_records`` cuts the stream into epochs; ``seed`` lets blocks arrive in a random order; the job gives up when it
    has not ended after so many ``epochs`` or seconds. A job that is to take checkpoints says so (``checkpointing``), or
    goes on from one (``restore``).
    """

    def __init__(
        self,
        env: StreamExecutionEnvironment,
        *,
        max_records: int = 1000,
        seed: int | None = None,
        epochs: int = 2000,
        seconds: float = 30.0,
        checkpointing: bool = False,
        restore: LocalCheckpoint | None = None,
    ) -> None:
        self.env = env
        self.clock = ManualClock(1_000_000 if restore is None else restore.now)
        self.lines: list[tuple[bool, str]] = []
        self.accumulators: dict[str, Any] = {}
        self.metrics: dict[str, Any] = {}
        self.epoch_count = 0
        self.reports: list[SlotReport] = []
        self._max_records, self._seed = max_records, seed
        self._epochs, self._seconds = epochs, seconds
        self._collected: dict[str, list[Any]] = {}
        self._graph: ExecutionGraph | None = None
        self._cluster: SlotCluster | None = None
        self._coordinators: list[SourceCoordinator] = []
        self._failed = False
        self._checkpointing = checkpointing or restore is not None
        self._restore = restore
        self._checkpoints = 0 if restore is None else restore.state.checkpoint_id

    # Before

    def sleep(self) -> Callable[[float], None]:
        """In place of ``time.sleep``: the job's clock goes on. Threads that other tests have left sleep as they did."""
        mine, asleep = threading.current_thread(), time.sleep

        def sleep(seconds: float) -> None:
            if threading.current_thread() is mine:
                self.clock.advance(int(seconds * 1000))
            else:
                asleep(seconds)

        return sleep

    def collect(self, stream: DataStream) -> list[Any]:
        """The list that the stream's records will be in."""
        collect_id = f"collect-{len(self._collected)}"
        stream._sink(collect_id, CollectOperator(collect_id))
        return self._collected.setdefault(collect_id, [])

    # All of it

    def run(self) -> LocalJob:
        """Until every subtask has finished."""
        self.start()
        try:
            deadline = time.monotonic() + self._seconds
            while not self.finished:
                self.step()
                if self.epoch_count > self._epochs or time.monotonic() > deadline:
                    raise TimeoutError(f"the job has not ended after {self.epoch_count} epochs")
        finally:
            self.close()
        return self

    # Step by step

    def start(self) -> None:
        stream_graph = self.env.get_stream_graph()
        configuration = self.env.get_configuration()
        self._graph = graph = build_execution_graph(build_job_graph(stream_graph))
        plan = JobPlan(
            job_id="local",
            job_name=stream_graph.settings.job_name,
            attempt=0,
            slots=graph.slots,
            levels=graph.levels,
            batch=stream_graph.settings.batch,
            vertices=graph.vertex_plans(),
            edges=tuple(graph.edges),
            configuration=configuration.to_dict(),
            job_parameters=self.env.get_config().get_global_job_parameters(),
            object_reuse=configuration.get(PipelineOptions.OBJECT_REUSE),
            cached_files={},
            checkpointing=self._checkpointing,
            restore=self._restore.state if self._restore is not None else None,
        )
        self._cluster = SlotCluster(plan, self.clock, self._seed)
        self._alignment = WatermarkAlignment(graph.vertices)
        for vertex in graph.vertices:
            head = vertex.job_vertex.head
            if isinstance(head.description, SourceOperator):
                source = head.description.source
                held = self._restore.sources.get(head.uid) if self._restore is not None else None
                coordinator = SourceCoordinator(vertex.id, head.name, source, vertex.parallelism, {}, held)
                coordinator.uid = head.uid
                self._coordinators.append(coordinator)
        try:
            self._take_in(self._cluster.deploy())
            for coordinator in self._coordinators:
                coordinator.start()
            self._tell_coordinators(self.reports)
        except BaseException:
            self.close()
            raise

    def step(self, max_records: int | None = None, max_millis: int = 1 << 31, **settings: Any) -> list[SlotReport]:
        """One epoch."""
        assert self._cluster is not None
        self.epoch_count += 1
        events = {}
        for coordinator in self._coordinators:
            coordinator.discover()
            for subtask, said in coordinator.take_out().items():
                events[(coordinator.vertex_id, subtask)] = said
        self._enumerators = {c.uid: c.snapshot(self._checkpoints) for c in self._coordinators if self._checkpointing}
        reports = self._cluster.run_epoch(
            max_records=max_records or self._max_records,
            max_millis=max_millis,
            slots=self._cluster.commands(events),
            watermark_limits=self._alignment.limits(),
            **settings,
        )
        self._take_in(reports)
        self._tell_coordinators(reports)
        return reports

    def checkpoint(self, max_records: int | None = None, directory: str | None = None) -> LocalCheckpoint:
        """One epoch, which ends with a checkpoint. It is not said to be complete."""
        assert self._graph is not None and self._cluster is not None
        self._checkpoints += 1
        request = CheckpointRequest(self._checkpoints, self.clock.now, directory)
        reports = self.step(max_records, checkpoint=request)
        taken = [snapshot for report in reports for snapshot in report.snapshots]
        while len(taken) < len(reports):
            Event().wait(0.001)  # Tests may have made another thing of time.sleep.
            taken.extend(snapshot for slot in self.slots for snapshot in slot.report(self.epoch_count).snapshots)
        errors = [snapshot.error for snapshot in taken if snapshot.error is not None]
        if errors:
            raise CheckpointError(errors[0])
        parallelism = {o.uid: vertex.parallelism for vertex in self._graph.vertex_plans() for o in vertex.operators}
        files = tuple(handle for snapshot in taken for handle in snapshot.files)
        operators = tuple(operator for snapshot in taken for operator in snapshot.operators)
        state = RestoreState(self._checkpoints, directory, files, operators, parallelism)
        return LocalCheckpoint(state, self._enumerators, self.clock.now)

    def _tell_coordinators(self, reports: list[SlotReport]) -> None:
        for report in reports:
            for vertex in report.vertices:
                self._alignment.take_in(vertex.vertex_id, vertex.subtask, vertex.watermark, vertex.finished)
                for coordinator in self._coordinators:
                    if coordinator.vertex_id == vertex.vertex_id:
                        coordinator.take_in(vertex, report.host)

    def close(self) -> None:
        """Close what is open; closing again does nothing."""
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            reports = cluster.close()
            for report in reports:
                self.lines.extend(report.lines)
            if not self._failed:
                self._check(reports)
        for coordinator in self._coordinators:
            coordinator.close()
        self._coordinators = []

    @property
    def finished(self) -> bool:
        return all(vertex.finished for report in self.reports for vertex in report.vertices)

    @property
    def printed(self) -> list[str]:
        return [text for _, text in self.lines]

    @property
    def slots(self) -> list[Any]:
        assert self._cluster is not None
        return self._cluster.slots

    def _take_in(self, reports: list[SlotReport]) -> None:
        self.reports = reports
        for report in reports:
            self.lines.extend(report.lines)
            for collect_id, values in report.collected.items():
                self._collected[collect_id].extend(values)
        self._check(reports)
        vertices = [vertex for report in reports for vertex in report.vertices]
        self.accumulators = merge_accumulators([vertex.accumulators for vertex in vertices])
        self.metrics = {}
        for vertex in vertices:
            self.metrics.update({f"{vertex.subtask}.{name}": value for name, value in vertex.metrics.items()})

    def _check(self, reports: list[SlotReport]) -> None:
        for report in reports:
            if report.failure is not None:
                self._failed = True
                raise JobExecutionError("local", report.failure)
