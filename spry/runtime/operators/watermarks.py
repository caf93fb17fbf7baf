"""What ``assign_timestamps_and_watermarks`` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spry.common.elements import MAX_WATERMARK, Watermark
from spry.common.plan import OperatorPlan
from spry.common.watermark_strategy import WatermarkStrategy
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Operator
from spry.runtime.operators.functions import is_pure
from spry.runtime.timestamps_and_watermarks import (
    StreamWatermarks,
    TimestampsAndWatermarks,
    slowest,
    watermark_interval,
)

__all__ = ["RunningTimestampsAndWatermarksOperator"]

_STATE = "event time"


class RunningTimestampsAndWatermarksOperator(Operator):
    """Gives each record its timestamp and generates watermarks."""

    takes_batches = True

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        strategy: WatermarkStrategy = plan.description.strategy  # type: ignore[attr-defined]
        self._assign = strategy.extract_timestamp_function()
        self._watermarks = StreamWatermarks(
            lambda timestamp: self.output.emit_watermark(timestamp), lambda idle: self.output.emit_status(idle)
        )
        self._time = TimestampsAndWatermarks(
            strategy,
            self,
            context.services.clock,
            watermark_interval(context.services.job),
            lambda values, timestamps: self.output.emit(values, timestamps),
            self._watermarks,
        )

    def initialize_state(self, context: StateInitializationContext) -> None:
        own = context.union_list_state(_STATE)
        if own:
            subtask = self.context.subtask
            mine = own[subtask] if len(own) == self.context.vertex.parallelism else slowest(own)
            self._watermarks.restore(mine)
            self._time.restore(mine)

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        context.put_union_list_state(_STATE, [{**self._watermarks.snapshot(), **self._time.snapshot()}])

    def resume(self) -> None:
        """After a restore: say again how far event time has come."""
        self._watermarks.repeat()

    @property
    def may_keep(self) -> bool:
        # The generator of a program sees the records, and so may its assigner.
        return self._time.generator is not None or not (self._assign is None or is_pure(self._assign))

    def process_batch(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        self._time.process(values, timestamps)

    def on_processing_time(self, now: int) -> None:
        self._time.on_processing_time(now)

    def next_timer(self) -> int | None:
        return self._time.next_timer()

    def process_watermark(self, timestamp: int) -> None:
        """Watermarks from before end here, but for the one that says that the stream has ended."""
        if timestamp == MAX_WATERMARK:
            self._watermarks.emit_watermark(Watermark(timestamp))

    def process_status(self, idle: bool) -> None:
        """Idleness is decided here, not before."""
