"""Testing functions and whole plans without Spark: elements, watermarks and time are pushed in by hand.

:class:`OperatorHarness` runs one function, or a chain of operators, in this process:

>>> from spry.common.operators import MapOperator
>>> with OperatorHarness(MapOperator(lambda n: n * 2)) as harness:
...     harness.push(1, 2, 3)
...     harness.values()
[2, 4, 6]

:class:`SlotCluster` runs the slots of a whole plan, and carries blocks between them as Spark would. Both drive the same
slots that run in a job: there is no second engine.
"""

from __future__ import annotations

import pickle
import random
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import cloudpickle

from spry.common.elements import NO_TIMESTAMP, ControlElement, EndOfInput, Watermark, WatermarkStatus
from spry.common.errors import CheckpointError, InvalidProgramError, JobExecutionError
from spry.common.keys import KeySelection
from spry.common.operators import (
    FilterOperator,
    FlatMapOperator,
    MapOperator,
    OperatorDescription,
    ProcessOperator,
    ReduceOperator,
    SinkFunctionOperator,
    WindowOperator,
)
from spry.common.output_tag import OutputTag
from spry.common.partitioning import Broadcast, Global
from spry.common.plan import (
    CheckpointRequest,
    EdgePlan,
    EpochCommand,
    FileHandle,
    JobPlan,
    OperatorPlan,
    OperatorSnapshot,
    RestoreState,
    SlotCommand,
    SlotReport,
    VertexPlan,
)
from spry.runtime.blocks import BlockEncoder, decode_block, peek_edge
from spry.runtime.slot import Slot, encode_report
from spry.runtime.subtask import Subtask

__all__ = ["HarnessSnapshot", "ManualClock", "OperatorHarness", "SlotCluster", "StreamElement", "description_of"]

_METHODS: dict[str, Callable[..., OperatorDescription]] = {
    "process_element": ProcessOperator,
    "map": MapOperator,
    "flat_map": FlatMapOperator,
    "filter": FilterOperator,
    "reduce": ReduceOperator,
    "invoke": SinkFunctionOperator,
}


class ManualClock:
    """A clock that stands still until it is set. Times are in ms.

    >>> clock = ManualClock(1000)
    >>> clock.advance(500)
    >>> clock()
    1500
    """

    def __init__(self, now: int = 0) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, millis: int) -> None:
        """Let time pass."""
        self.now += millis


@dataclass(frozen=True, slots=True)
class StreamElement:
    """A record that came out, with its event time in ms (None if it has none)."""

    value: Any
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class HarnessSnapshot:
    """What one subtask put into a checkpoint. It can be pickled."""

    checkpoint_id: int
    parallelism: int
    max_parallelism: int
    directory: str | None
    files: tuple[FileHandle, ...]
    operators: tuple[OperatorSnapshot, ...]


def description_of(function: Any, key: Callable[[Any], Any] | None = None) -> OperatorDescription:
    """The operator that a function object is run by, found by its method (``map``, ``process_element`` ...)."""
    selection = None
    if key is not None:
        selection = key if isinstance(key, KeySelection) else KeySelection.of_callable(key)
    for method, description in _METHODS.items():
        if callable(getattr(function, method, None)):
            return description(function, key=selection)
    raise TypeError(
        f"{function!r} has none of the methods {', '.join(_METHODS)}: give an operator description, "
        "such as MapOperator(function), for a plain function"
    )


class OperatorHarness:
    """One subtask of an operator, or of a chain of operators, driven by hand.

    :param operators: A function object with ``map``, ``process_element`` ..., a description such as
        ``MapOperator(function)``, or a list of descriptions: a chain.
    :param key: The key selector, if a function object is to run on a keyed stream.
    :param side_outputs: The tags whose elements are wanted; without a reader, side outputs are dropped.
    :param parallelism: How many subtasks there are; ``subtask`` says which of them this is.
    :param channels: How many inputs the watermark is the minimum of.
    :param output_types: The declared types: operator's index -> type.
    :param now: What the clock shows at the start, in ms.
    :param restore: What to go on from: a :meth:`snapshot`, or those of all subtasks that there were, whose number may
        be another than ``parallelism``.

    An error of the function is raised by the call that met it, as the :class:`JobExecutionError` that a job would
    end with.
    """

    def __init__(
        self,
        operators: Any,
        key: Callable[[Any], Any] | None = None,
        *,
        side_outputs: Iterable[OutputTag | str] = (),
        parallelism: int = 1,
        subtask: int = 0,
        max_parallelism: int = 128,
        channels: int = 1,
        batch: bool = False,
        object_reuse: bool = False,
        output_types: dict[int, Any] | None = None,
        names: Sequence[str] = (),
        job_parameters: dict[str, str] | None = None,
        configuration: dict[str, str] | None = None,
        now: int = 0,
        restore: HarnessSnapshot | Sequence[HarnessSnapshot] = (),
    ) -> None:
        chain = list(operators) if isinstance(operators, list | tuple) else [operators]
        descriptions = [o if isinstance(o, OperatorDescription) else description_of(o, key) for o in chain]
        if any(description.is_source for description in descriptions):
            raise InvalidProgramError("a harness has no sources: push() gives it its elements")
        tags = [tag.tag_id if isinstance(tag, OutputTag) else tag for tag in side_outputs]
        plans = [
            OperatorPlan(
                index,
                f"uid-{index}",
                names[index] if index < len(names) else type(description).__name__.removesuffix("Operator"),
                description,
                index - 1 if index else None,
                None,
                (output_types or {}).get(index),
            )
            for index, description in enumerate(descriptions)
        ]
        self.clock = ManualClock(now)
        """Processing time. Set it with :meth:`set_processing_time`, so that timers fire."""
        self.output: list[StreamElement | ControlElement] = []
        """Everything that came out so far, in order: records, watermarks, statuses, the end."""
        self._sides: dict[str, list[StreamElement]] = {tag: [] for tag in tags}
        self._channels = channels
        self._encoder = BlockEncoder()
        self._sequences = [0] * channels
        self._epoch = 1
        self._job = _harness_plan(
            plans, tags, parallelism, max_parallelism, channels, batch, object_reuse, job_parameters, configuration
        )
        snapshots = [restore] if isinstance(restore, HarnessSnapshot) else list(restore)
        if snapshots:
            self._job = replace(self._job, restore=_restored(snapshots, max_parallelism))
        self._slot = Slot(cloudpickle.loads(cloudpickle.dumps(self._job)), subtask, str, clock=self.clock)
        self._last_report = SlotReport(subtask, 0, 0)
        self._printed: list[tuple[bool, str]] = []
        self._collected: list[Any] = []
        self._check(self._slot.deploy())
        if snapshots:
            self._begin_epoch()

    # In

    def push(self, *values: Any, timestamp: int | None = None, channel: int = 0) -> None:
        """Elements come in, all with this timestamp or with none."""
        stamps = None if timestamp is None else [timestamp] * len(values)
        self._step(channel, list(values), stamps, [])

    def push_timestamped(self, *records: tuple[Any, int], channel: int = 0) -> None:
        """Elements come in, each with its own timestamp: ``("a", 1000), ("b", 2000)``."""
        self._step(channel, [value for value, _ in records], [stamp for _, stamp in records], [])

    def watermark(self, timestamp: int, channel: int = 0) -> None:
        """A watermark comes in."""
        self._step(channel, [], None, [(0, Watermark(timestamp))])

    def idle(self, idle: bool = True, channel: int = 0) -> None:
        """A channel becomes idle, or active again."""
        self._step(channel, [], None, [(0, WatermarkStatus(idle))])

    def end(self) -> None:
        """The input ends on every channel, as a bounded source ends: with the last watermark."""
        for channel in range(self._channels):
            self._step(channel, [], None, [(0, EndOfInput())])
        while self.subtask.has_more:
            self._run([])

    def set_processing_time(self, now: int) -> None:
        """Set the clock and let what is due happen, also what is due in this very millisecond."""
        self.clock.now = now
        self._slot.timer_delay, delay = 0, self._slot.timer_delay
        self._run([])
        self._slot.timer_delay = delay

    def advance_processing_time(self, millis: int) -> None:
        """Let time pass, and what is due happen."""
        self.set_processing_time(self.clock.now + millis)

    def end_epoch(self) -> SlotReport:
        """The end of an epoch: sinks flush. Gives the report that the driver would get."""
        command = EpochCommand(self._job.job_id, 0, self._epoch)
        self._epoch += 1
        return self._check(self._slot.end_epoch(command))

    def snapshot(
        self, checkpoint_id: int = 1, *, directory: str | None = None, canonical: bool = False
    ) -> HarnessSnapshot:
        """The end of an epoch that is a checkpoint. Other harnesses go on from what it gives (``restore=``).

        :param directory: Where files go; without one, everything is in the snapshot.
        :param canonical: Write it as savepoints are written, in the form that every state backend reads.
        """
        request = CheckpointRequest(checkpoint_id, self.clock.now, directory, canonical=canonical)
        command = EpochCommand(self._job.job_id, 0, self._epoch, checkpoint=request)
        self._epoch += 1
        report = self._check(self._slot.end_epoch(command))
        while not report.snapshots:
            time.sleep(0.001)
            report = self._check(self._slot.report(self._epoch))
        taken, vertex = report.snapshots[0], self.subtask.vertex
        if taken.error is not None:
            raise CheckpointError(taken.error)
        return HarnessSnapshot(
            checkpoint_id,
            vertex.parallelism,
            vertex.max_parallelism,
            directory,
            tuple(taken.files),
            tuple(taken.operators),
        )

    def complete_checkpoint(self, checkpoint_id: int = 1) -> None:
        """Tell the functions that a checkpoint is durable."""
        self._begin_epoch(completed=(checkpoint_id,))

    def abort_checkpoint(self, checkpoint_id: int = 1) -> None:
        """Tell the functions that a checkpoint was given up."""
        self._begin_epoch(aborted=(checkpoint_id,))

    def close(self) -> None:
        """Close the functions that are still open."""
        failing = self._slot.failure is None  # Otherwise somebody knows already.
        self._check(self._slot.close(self._epoch), failing=failing)

    # Out

    def elements(self) -> list[StreamElement]:
        """The records of the main output so far."""
        return [element for element in self.output if isinstance(element, StreamElement)]

    def values(self) -> list[Any]:
        """The values of the main output so far."""
        return [element.value for element in self.elements()]

    def watermarks(self) -> list[int]:
        """The watermarks that came out so far."""
        return [element.timestamp for element in self.output if isinstance(element, Watermark)]

    def side_output(self, tag: OutputTag | str) -> list[StreamElement]:
        """The records of a side output so far."""
        name = tag.tag_id if isinstance(tag, OutputTag) else tag
        if name not in self._sides:
            raise KeyError(f"side output '{name}' was not asked for: OperatorHarness(..., side_outputs=['{name}'])")
        return list(self._sides[name])

    @property
    def ended(self) -> bool:
        """Whether the end of the input has come out."""
        return any(isinstance(element, EndOfInput) for element in self.output)

    def printed(self) -> list[str]:
        """The lines that a print sink has printed so far."""
        self._check(self._slot.report(self._epoch))
        return [text for _, text in self._printed]

    def collected(self) -> list[Any]:
        """What a collect sink has brought to the driver so far."""
        self._check(self._slot.report(self._epoch))
        return list(self._collected)

    # Inside

    @property
    def subtask(self) -> Subtask:
        """The subtask itself, to look into."""
        return next(iter(self._slot.subtasks))

    def state(self, name: str, key: Any, operator: int = 0) -> Any:
        """What a keyed state holds for a key, None if nothing."""
        return self.subtask.contexts[operator].keyed_state.table(name).get(key)

    def keys(self, name: str, operator: int = 0) -> set[Any]:
        """The keys that a keyed state holds something for."""
        return set(self.subtask.contexts[operator].keyed_state.table(name))

    def event_time_timers(self, operator: int = 0) -> list[tuple[int, Any]]:
        """The (time, key) of every event time timer that is set, by time."""
        running: Any = self.subtask.chain.operators[operator]
        timers: list[tuple[int, Any]] = running.event_timers.pending()
        return timers

    def processing_time_timers(self, operator: int = 0) -> list[tuple[int, Any]]:
        """The (time, key) of every processing time timer that is set, by time."""
        running: Any = self.subtask.chain.operators[operator]
        timers: list[tuple[int, Any]] = running.processing_timers.pending()
        return timers

    def next_wake_up(self) -> int | None:
        """When (processing time) something is due by itself."""
        return self.subtask.next_timer()

    # How

    def _step(
        self, channel: int, values: list[Any], stamps: list[int] | None, controls: list[tuple[int, ControlElement]]
    ) -> None:
        payload = self._encoder.encode(_INPUT_EDGE, channel, self._sequences[channel], values, stamps, controls)
        self._sequences[channel] += 1
        self._run([payload])

    def _begin_epoch(self, **settings: Any) -> None:
        self._run([], level=0, **settings)
        self._run([])

    def _run(self, incoming: list[bytes], level: int = 1, **settings: Any) -> None:
        command = EpochCommand(self._job.job_id, 0, self._epoch, **settings)
        for _, payload in self._slot.run_level(level, command, incoming):
            if peek_edge(payload) >= 0:
                self._take_out(payload)
        self._check(None)

    def _take_out(self, payload: bytes) -> None:
        block = decode_block(payload)
        stamps = block.timestamps if block.timestamps is not None else array("q", [NO_TIMESTAMP]) * len(block.values)
        elements = [
            StreamElement(value, None if stamp == NO_TIMESTAMP else stamp)
            for value, stamp in zip(block.values, stamps, strict=True)
        ]
        if block.edge != _OUTPUT_EDGE:
            self._sides[self._job.edges[block.edge].tag or ""].extend(elements)
            return
        position = 0
        for at, control in block.controls:
            self.output.extend(elements[position:at])
            self.output.append(control)
            position = at
        self.output.extend(elements[position:])

    def _check(self, report: SlotReport | None, failing: bool = True) -> SlotReport:
        if report is not None:
            self._last_report = report
            self._printed.extend(report.lines)
            for values in report.collected.values():
                self._collected.extend(values)
        if failing and self._slot.failure is not None:
            raise JobExecutionError(self._job.job_name, self._slot.failure)
        return self._last_report

    def __enter__(self) -> OperatorHarness:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


_INPUT_EDGE, _OUTPUT_EDGE = 0, 1
_BEFORE, _TESTED, _BEHIND = 0, 1, 2


def _harness_plan(
    operators: list[OperatorPlan],
    tags: list[str],
    parallelism: int,
    max_parallelism: int,
    channels: int,
    batch: bool,
    object_reuse: bool,
    job_parameters: dict[str, str] | None,
    configuration: dict[str, str] | None,
) -> JobPlan:
    """Three levels: who pushes, the chain under test, who looks. The first and the last are in slots that never run."""
    vertices = (
        VertexPlan(_BEFORE, "before", 0, channels, max_parallelism, parallelism, ()),
        VertexPlan(_TESTED, "tested", 1, parallelism, max_parallelism, 0, tuple(operators)),
        VertexPlan(_BEHIND, "behind", 2, 1, max_parallelism, parallelism, ()),
    )
    edges = [EdgePlan(_INPUT_EDGE, _BEFORE, 0, None, _TESTED, 0, Broadcast(), False)]
    last = len(operators) - 1
    edges.append(EdgePlan(_OUTPUT_EDGE, _TESTED, last, None, _BEHIND, 0, Global(), False))
    for tag in tags:
        emitters = [
            i for i, plan in enumerate(operators) if isinstance(plan.description, ProcessOperator | WindowOperator)
        ]
        source = emitters[-1] if emitters else last
        edges.append(EdgePlan(len(edges), _TESTED, source, tag, _BEHIND, 0, Global(), False))
    return JobPlan(
        job_id="harness",
        job_name="harness",
        attempt=0,
        slots=parallelism + max(channels, 1),
        levels=3,
        batch=batch,
        vertices=vertices,
        edges=tuple(edges),
        configuration=dict(configuration or {}),
        job_parameters=dict(job_parameters or {}),
        object_reuse=object_reuse,
        cached_files={},
    )


def _restored(snapshots: list[HarnessSnapshot], max_parallelism: int) -> RestoreState:
    """What a job goes on from whose subtasks had these snapshots."""
    first = snapshots[0]
    if any(s.parallelism != first.parallelism or s.directory != first.directory for s in snapshots):
        raise ValueError("the snapshots are not of one checkpoint: they differ in parallelism or directory")
    if first.max_parallelism != max_parallelism:
        raise ValueError(f"the snapshots have max_parallelism={first.max_parallelism}, not {max_parallelism}")
    operators = tuple(operator for snapshot in snapshots for operator in snapshot.operators)
    return RestoreState(
        first.checkpoint_id,
        first.directory,
        tuple(handle for snapshot in snapshots for handle in snapshot.files),
        operators,
        {operator.uid: first.parallelism for operator in operators},
    )


class SlotCluster:
    """All slots of a plan in this process.

    What travels is pickled as it is between processes: the plan, commands, blocks and reports. Blocks reach a slot in
    the order of the slots that sent them, or in an order drawn from ``seed``, as a network might deliver them.
    """

    def __init__(
        self,
        plan: JobPlan,
        clock: Callable[[], int] | None = None,
        seed: int | None = None,
    ) -> None:
        self.plan = plan
        self.clock = clock if clock is not None else ManualClock()
        self.epoch = 0
        self._random = random.Random(seed) if seed is not None else None
        wire = cloudpickle.dumps(plan)
        self.slots = [Slot(pickle.loads(wire), index, str, self.clock) for index in range(plan.slots)]

    def deploy(self) -> list[SlotReport]:
        """Make all subtasks and open their functions."""
        return [_travelled(slot.deploy()) for slot in self.slots]

    def run_epoch(self, command: EpochCommand | None = None, **settings: Any) -> list[SlotReport]:
        """One epoch, level by level. ``settings`` are those of the :class:`EpochCommand`."""
        self.epoch += 1
        given = command or EpochCommand(self.plan.job_id, self.plan.attempt, self.epoch)
        command = pickle.loads(cloudpickle.dumps(replace(given, epoch=self.epoch, **settings)))
        incoming: list[list[bytes]] = [[] for _ in self.slots]
        for level in range(self.plan.levels):
            outgoing: list[list[bytes]] = [[] for _ in self.slots]
            for slot, payloads in zip(self.slots, incoming, strict=True):
                if self._random is not None:
                    self._random.shuffle(payloads)
                for target, payload in slot.run_level(level, command, payloads):
                    outgoing[target].append(payload)
            incoming = outgoing
        if any(peek_edge(payload) >= 0 for payloads in incoming for payload in payloads):
            raise RuntimeError("blocks are left over after the last level")
        return [_travelled(slot.end_epoch(command)) for slot in self.slots]

    def commands(self, events: dict[tuple[int, int], Any]) -> dict[int, SlotCommand]:
        """What enumerators say to readers, (vertex, subtask) -> events, by slot."""
        bases = {vertex.vertex_id: vertex.slot_base for vertex in self.plan.vertices}
        slots: dict[int, SlotCommand] = {}
        for (vertex, subtask), said in events.items():
            slot = slots.setdefault(bases[vertex] + subtask, SlotCommand({}))
            slot.source_events[(vertex, subtask)] = said
        return slots

    def close(self, for_good: bool = True) -> list[SlotReport]:
        """Close every function that is still open."""
        return [_travelled(slot.close(self.epoch, for_good)) for slot in self.slots]


def _travelled(report: SlotReport) -> SlotReport:
    travelled: SlotReport = pickle.loads(encode_report(report))
    return travelled
