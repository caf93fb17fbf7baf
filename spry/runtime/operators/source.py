"""The reading end of a source: one reader, driven within an epoch's budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

from spry.common.elements import MAX_WATERMARK, NO_TIMESTAMP, Watermark
from spry.common.errors import InvalidProgramError
from spry.common.plan import CheckpointRequest, OperatorPlan, SourceEvents
from spry.common.source import InputStatus, ReaderOutput, SourceReader, SourceReaderContext
from spry.common.type_checks import compile_enforcer
from spry.common.watermark_strategy import WatermarkOutput, WatermarkStrategy
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Operator
from spry.runtime.timestamps_and_watermarks import (
    StreamWatermarks,
    TimestampsAndWatermarks,
    WatermarkOutputMultiplexer,
    slowest,
    watermark_interval,
)

__all__ = ["Budget", "RunningSourceBase", "RunningSourceOperator"]

_FIRST_BATCH = 4
_LARGEST_BATCH = 4096
_BATCH_SECONDS = 0.01
_SPLITS = "splits"
_EVENT_TIME = "event time"


class Budget:
    """What the sources of a slot may still read in this epoch."""

    __slots__ = ("checkpoint", "deadline", "full", "records")

    def __init__(self, records: int, deadline: float, full: Callable[[], bool]) -> None:
        self.records = records
        """Per source subtask."""
        self.deadline = deadline
        """On the monotonic clock, for all sources of the slot."""
        self.full = full
        """Whether the slot has as much in hand as it may have."""
        self.checkpoint: CheckpointRequest | None = None
        """The epoch ends with this checkpoint."""


class RunningSourceBase(Operator):
    """What all sources share: batches that grow as long as they are quick, and the end of the input."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self.ended = False
        self.backlog = True
        self.records = 0
        self.watermarks = StreamWatermarks(
            lambda timestamp: self.output.emit_watermark(timestamp), lambda idle: self.output.emit_status(idle)
        )
        self._batch = _FIRST_BATCH
        self._enforce = compile_enforcer(plan.type_info) if plan.type_info is not None else None
        self._limit: int | None = None

    @property
    def watermark(self) -> int | None:
        """How far event time has come; None if the source is idle."""
        return None if self.watermarks.idle else self.watermarks.last

    def align(self, limit: int | None) -> None:
        """Do not read on while the watermark is past the limit: the source's group has not come so far."""
        self._limit = limit

    @property
    def _is_ahead(self) -> bool:
        return self._limit is not None and self.watermarks.last > self._limit

    def initialize_state(self, context: StateInitializationContext) -> None:
        times = context.union_list_state(_EVENT_TIME)
        if times:
            mine = times[self.context.subtask] if len(times) == self.context.vertex.parallelism else slowest(times)
            self.watermarks.restore(mine)

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        state = {**self.watermarks.snapshot(), "highest": 0, "emitted": 0}
        context.put_union_list_state(_EVENT_TIME, [state])

    def resume(self) -> None:
        """After a restore: say again how far event time has come."""
        self.watermarks.repeat()

    def drain(self, budget: Budget) -> Iterator[None]:
        """The job ends here for good, although there may be more to read: event time is over."""
        yield from ()
        if not self.ended:
            self.end()

    @abstractmethod
    def poll(self, max_records: int) -> tuple[int, InputStatus]:
        """Read at most about this many records and emit them."""

    def run(self, budget: Budget) -> Iterator[None]:
        """Read until the budget is spent, nothing is there, or the input ends; yields after each batch."""
        left = budget.records
        while not self.ended and left > 0:
            if self._is_ahead:
                self.backlog = False  # There may be more to read, but not now.
                return
            start = monotonic()
            count, status = self.poll(min(self._batch, left))
            yield
            left -= count
            self.records += count
            if status is InputStatus.END_OF_INPUT:
                self.end()
                return
            self.backlog = status is InputStatus.MORE_AVAILABLE
            now = monotonic()
            if now - start < _BATCH_SECONDS and count >= self._batch:
                self._batch = min(self._batch * 2, _LARGEST_BATCH)
            elif now - start > 4 * _BATCH_SECONDS:
                self._batch = max(self._batch // 2, 1)
            if not self.backlog or left <= 0 or now >= budget.deadline or budget.full():
                return

    def end(self) -> None:
        """No record follows: event time is over."""
        self.ended = True
        self.backlog = False
        self.watermarks.emit_watermark(Watermark(MAX_WATERMARK))

    def emit(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Check and pass on a run of records. A source that emits is not idle."""
        self.pass_on(self.checked(values), timestamps)

    def checked(self, values: Sequence[Any]) -> Sequence[Any]:
        """The records in the form of the declared type."""
        return values if self._enforce is None else list(map(self._enforce, values))

    def pass_on(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Pass on a run of records that have been checked."""
        self.watermarks.mark_active()
        self.output.emit(values, timestamps)

    def take_requests(self) -> tuple[int, tuple[Any, ...]]:
        """Split requests and events for the enumerator since the last call."""
        return 0, ()

    def handle(self, events: SourceEvents) -> None:
        """What the enumerator says."""
        raise InvalidProgramError(f"source '{self.plan.name}' has no enumerator")


class _ReaderContext(SourceReaderContext):
    def __init__(self, context: SubtaskContext) -> None:
        self._context = context
        self.split_requests = 0
        self.events: list[Any] = []

    def index_of_subtask(self) -> int:
        return self._context.subtask

    def current_parallelism(self) -> int:
        return self._context.vertex.parallelism

    def send_split_request(self) -> None:
        self.split_requests += 1

    def send_source_event_to_coordinator(self, event: Any) -> None:
        self.events.append(event)

    def metric_group(self) -> Any:
        return self._context.get_metrics_group()

    def get_configuration(self) -> dict[str, str]:
        return dict(self._context.services.job.configuration)


class _Output(ReaderOutput):
    """Collects what a reader emits, of all splits or of one, and passes it on in runs."""

    def __init__(
        self,
        emit: Callable[[Sequence[Any], Sequence[int] | None], None],
        watermarks: WatermarkOutput,
        whole: _MainOutput | None = None,
    ) -> None:
        self._emit = emit
        self._watermarks = watermarks
        self._whole = whole
        self._values: list[Any] = []
        self._stamps: list[int] = []
        self._timestamped = False
        self.count = 0
        """Records since it was set to 0 last."""

    def collect(self, record: Any, timestamp: int | None = None) -> None:
        self.count += 1
        self._values.append(record)
        if timestamp is not None and not self._timestamped:
            self._timestamped = True
            self._stamps = [NO_TIMESTAMP] * (len(self._values) - 1)
        if self._timestamped:
            self._stamps.append(NO_TIMESTAMP if timestamp is None else timestamp)

    def collect_batch(self, records: Sequence[Any], timestamps: Sequence[int] | None = None) -> None:
        self.flush()
        if timestamps is not None and len(timestamps) != len(records):
            raise ValueError(f"{len(records)} records but {len(timestamps)} timestamps")
        self.count += len(records)
        if len(records):
            self._emit(records, timestamps)

    def emit_watermark(self, timestamp: int) -> None:
        self.flush()
        self._watermarks.emit_watermark(Watermark(timestamp))

    def mark_idle(self) -> None:
        self.flush()
        self._watermarks.mark_idle()

    def mark_active(self) -> None:
        self.flush()
        self._watermarks.mark_active()

    def create_output_for_split(self, split_id: str) -> ReaderOutput:
        assert self._whole is not None
        return self._whole.create_output_for_split(split_id)

    def flush(self) -> None:
        """Pass on what is there."""
        if self._values:
            values, stamps = self._values, self._stamps if self._timestamped else None
            self._values, self._stamps, self._timestamped = [], [], False
            self._emit(values, stamps)


class _MainOutput(_Output):
    """The output of a whole reader, with the outputs of its splits.

    With a strategy, each split has timestamps and watermarks of its own; the reader's watermark is the least of them.
    What a reader emits here, not to a split's output, is a stream beside them.
    """

    max_records = _FIRST_BATCH

    def __init__(self, operator: RunningSourceOperator, strategy: WatermarkStrategy | None) -> None:
        self._operator = operator
        self._strategy = strategy
        watermarks = operator.watermarks
        self._multiplexer = WatermarkOutputMultiplexer(watermarks)
        self._splits: dict[str, _Output] = {}
        self.restored: dict[str | None, dict[str, Any]] = {}
        """What a checkpoint says of the event time of splits that have not come yet; of None what no split has."""
        self.times: dict[str | None, TimestampsAndWatermarks] = {}
        """Those of the splits; of None what no split has."""
        super().__init__(self._with_time(None, watermarks), watermarks, self)

    def _with_time(
        self, split_id: str | None, watermarks: WatermarkOutput
    ) -> Callable[[Sequence[Any], Sequence[int] | None], None]:
        if self._strategy is None:
            return self._operator.emit
        operator, services = self._operator, self._operator.context.services
        time = self.times[split_id] = TimestampsAndWatermarks(
            self._strategy, operator, services.clock, watermark_interval(services.job), operator.pass_on, watermarks
        )
        known = self.restored.pop(split_id, None)
        if known is not None:
            time.restore(known)
        return lambda values, timestamps: time.process(operator.checked(values), timestamps)

    def snapshot(self) -> list[tuple[str | None, dict[str, Any]]]:
        """The event time of every split."""
        out: list[tuple[str | None, dict[str, Any]]] = []
        for split_id in self._splits:
            time = self.times.get(split_id)
            out.append((split_id, {**self._multiplexer.snapshot(split_id), **(time.snapshot() if time else {})}))
        if None in self.times:
            out.append((None, self.times[None].snapshot()))
        return out

    def create_output_for_split(self, split_id: str) -> ReaderOutput:
        known = self._splits.get(split_id)
        if known is None:
            self.times.pop(None, None)  # From now on only splits count.
            watermarks = self._multiplexer.register(split_id)
            if split_id in self.restored:
                self._multiplexer.restore(split_id, self.restored[split_id])
            known = self._splits[split_id] = _Output(self._with_time(split_id, watermarks), watermarks, self)
        return known

    def release_output_for_split(self, split_id: str) -> None:
        released = self._splits.pop(split_id, None)
        if released is not None:
            released.flush()
            self.count += released.count
            self.times.pop(split_id, None)
            self._multiplexer.unregister(split_id)

    def splits_by_watermark(self) -> dict[str, int]:
        """How far each split has come."""
        return {split_id: self._multiplexer.watermark_of(split_id) for split_id in self._splits}

    def take_count(self) -> int:
        """Pass everything on; how many records there were since the last call."""
        self.flush()
        total, self.count = self.count, 0
        for split in self._splits.values():
            split.flush()
            total += split.count
            split.count = 0
        return total


class RunningSourceOperator(RunningSourceBase):
    """A source with splits."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self._ctx = _ReaderContext(context)
        self._reader: SourceReader[Any] | None = None
        self._paused: set[str] = set()
        self._restored: list[Any] = []
        description: Any = plan.description
        self._out = _MainOutput(self, description.strategy)

    def initialize_state(self, context: StateInitializationContext) -> None:
        super().initialize_state(context)
        self._restored = context.list_state(_SPLITS)
        self._out.restored.update(context.union_list_state("event time of splits"))

    def open(self) -> None:
        if self.ended:
            return  # It had finished when the checkpoint was taken.
        description: Any = self.plan.description
        self._reader = description.source.create_reader(self._ctx)
        assert self._reader is not None
        if self._restored:
            self._reader.add_splits(self._restored)
            self._restored = []
        self._reader.start()

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        super().snapshot_state(context)
        if self._reader is not None:
            context.put_list_state(
                _SPLITS, self._reader.snapshot_state(context.checkpoint_id) if not self.ended else ()
            )
            context.put_union_list_state("event time of splits", self._out.snapshot())

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        if self._reader is not None:
            self._reader.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        if self._reader is not None:
            self._reader.notify_checkpoint_aborted(checkpoint_id)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()

    def poll(self, max_records: int) -> tuple[int, InputStatus]:
        assert self._reader is not None
        out = self._out
        out.max_records = max_records
        status = self._reader.poll_next(out)
        count = out.take_count()
        if not isinstance(status, InputStatus):
            raise InvalidProgramError(
                f"{type(self._reader).__name__}.poll_next returned {status!r}; it must return an InputStatus"
            )
        return count, status

    def align(self, limit: int | None) -> None:
        """Splits that are ahead of the limit pause, if the reader can do that; else the reader as a whole waits."""
        super().align(limit)
        reader = self._reader
        if reader is None or type(reader).pause_or_resume_splits is SourceReader.pause_or_resume_splits:
            return
        ahead: set[str] = set()
        if limit is not None:
            ahead = {split_id for split_id, watermark in self._out.splits_by_watermark().items() if watermark > limit}
        if ahead != self._paused:
            reader.pause_or_resume_splits(sorted(ahead - self._paused), sorted(self._paused - ahead))
            self._paused = ahead

    def on_processing_time(self, now: int) -> None:
        for split_id, time in list(self._out.times.items()):
            if self._is_ahead or split_id in self._paused:
                time.wait()
            time.on_processing_time(now)

    def next_timer(self) -> int | None:
        return min((t for time in self._out.times.values() if (t := time.next_timer()) is not None), default=None)

    def take_requests(self) -> tuple[int, tuple[Any, ...]]:
        requests, events = self._ctx.split_requests, tuple(self._ctx.events)
        self._ctx.split_requests = 0
        self._ctx.events.clear()
        return requests, events

    def handle(self, events: SourceEvents) -> None:
        assert self._reader is not None
        if events.splits:
            self._reader.add_splits(list(events.splits))
        for event in events.events:
            self._reader.handle_source_events(event)
        if events.no_more_splits:
            self._reader.notify_no_more_splits()
