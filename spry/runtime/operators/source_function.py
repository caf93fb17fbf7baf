"""SourceFunction: the user's own loop, in a thread of its own.

The thread may hand over a bounded number of records, then it waits for the slot to take them. What it emits under the
checkpoint lock is taken together.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any

from spry.common.elements import NO_TIMESTAMP, Watermark, WatermarkStatus
from spry.common.plan import CheckpointRequest, OperatorPlan
from spry.common.source import InputStatus
from spry.runtime.blocks import detach
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.clock import Clock
from spry.runtime.context import SubtaskContext
from spry.runtime.operators import checkpointed
from spry.runtime.operators.source import Budget, RunningSourceBase
from spry.runtime.timestamps_and_watermarks import watermark_time

__all__ = ["RunningSourceFunctionOperator"]

_CAPACITY = 65536
_LONGEST_WAIT = 0.02
_JOIN_SECONDS = 1.0
_LOCK_SECONDS = 0.5
"""How long a checkpoint waits at least for the checkpoint lock."""


class _Cancelled(BaseException):
    """Unwinds the user's loop when it emits after the source was closed."""


class _SourceContext:
    """What ``run(ctx)`` is given."""

    def __init__(self, clock: Clock, copies: bool) -> None:
        self._clock = clock
        self._copies = copies
        self.lock = threading.RLock()
        """The user's: what is done under it is one step for checkpoints. Not the one that guards what waits below, so
        that a thread that waits for room keeps it."""
        self._changed = threading.Condition()
        self._items: list[tuple[Any, int]] = []
        self._wanted = 1
        self.closed = False

    def _put(self, value: Any, stamp: int) -> None:
        with self._changed:
            while len(self._items) >= _CAPACITY and not self.closed:
                self._changed.wait()
            if self.closed:
                raise _Cancelled
            self._items.append((value, stamp))
            if len(self._items) == self._wanted:
                self._changed.notify_all()

    def collect(self, value: Any) -> None:
        """Emit a record without a timestamp."""
        self._put(detach(value) if self._copies else value, NO_TIMESTAMP)

    def collect_with_timestamp(self, value: Any, timestamp: int) -> None:
        """Emit a record with its event time in ms."""
        self._put(detach(value) if self._copies else value, int(timestamp))

    def emit_watermark(self, mark: Any) -> None:
        """Emit a watermark: a number in ms, or an object with ``timestamp``."""
        self._put(Watermark(watermark_time(mark)), NO_TIMESTAMP)

    def mark_as_temporarily_idle(self) -> None:
        """Hold no watermark back until the next record."""
        self._put(WatermarkStatus(True), NO_TIMESTAMP)

    def get_checkpoint_lock(self) -> threading.RLock:
        """Emitting and updating positions under this lock is one step for checkpoints."""
        return self.lock

    def get_processing_time(self) -> int:
        """The machine's clock, in ms."""
        return self._clock()

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def take_all(self) -> list[tuple[Any, int]]:
        """Everything that waits."""
        with self._changed:
            taken, self._items = self._items, []
            self._changed.notify_all()
            return taken

    def take(self, limit: int, wait: float) -> list[tuple[Any, int]]:
        with self._changed:
            self._wanted = limit
            if len(self._items) < limit and not self.closed:
                self._changed.wait_for(lambda: len(self._items) >= limit or self.closed, wait)
            taken, self._items = self._items[:limit], self._items[limit:]
            self._changed.notify_all()
            return taken


class RunningSourceFunctionOperator(RunningSourceBase):
    """Runs a SourceFunction."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        description: Any = plan.description
        self._function = context.services.own(description.function, description.function)
        self._ctx = _SourceContext(context.services.clock, not context.is_object_reuse_enabled())
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._done = False
        self._cancelled = False
        self._snapshot: StateSnapshotContext | None = None
        self._declined: int | None = None
        """The checkpoint that the loop has not let in."""

    def initialize_state(self, context: StateInitializationContext) -> None:
        super().initialize_state(context)
        checkpointed.initialize_function(self._function, context, self.context)

    def run(self, budget: Budget) -> Iterator[None]:
        yield from super().run(budget)
        if budget.checkpoint is not None and not self.ended:
            yield from self._reach_checkpoint(budget.checkpoint, budget.deadline)

    def _reach_checkpoint(self, request: CheckpointRequest, deadline: float, last: bool = False) -> Iterator[None]:
        """What the loop has emitted goes into this epoch; the loop stands still while its state is asked for.

        It may hold the lock for as long as it likes, others do not wait for it: then there is no checkpoint.
        """
        lock = self._ctx.lock
        deadline = max(deadline, monotonic() + _LOCK_SECONDS)
        while not lock.acquire(timeout=0.001):
            self.records += self._pass_on(self._ctx.take_all())  # It may wait for room within its step.
            yield
            if monotonic() >= deadline:
                self._declined = request.checkpoint_id
                return
        try:
            if last:
                self._ctx.close()
            self.records += self._pass_on(self._ctx.take_all())
            yield
            self._snapshot = StateSnapshotContext(request.checkpoint_id, request.timestamp)
            checkpointed.snapshot_function(self._function, self._snapshot, self.context)
        finally:
            lock.release()

    def drain(self, budget: Budget) -> Iterator[None]:
        """Cancel the loop, and let it come to its end if it does so soon; what it has emitted is taken over."""
        if not self.ended:
            self._check_failure()
            self._cancel()
            while not self._done and monotonic() < budget.deadline:
                self.records += self._pass_on(self._ctx.take(_CAPACITY, 0.001))
                yield
            if budget.checkpoint is not None:
                yield from self._reach_checkpoint(budget.checkpoint, budget.deadline, last=True)
            self._ctx.close()
        yield from super().drain(budget)

    def _cancel(self) -> None:
        if not self._done and not self._cancelled:
            self._cancelled = True
            canceller = getattr(self._function, "cancel", None)
            if canceller is not None:
                canceller()

    def why_not_ready(self, checkpoint_id: int) -> str | None:
        if self._declined != checkpoint_id:
            return None
        return "run() holds its checkpoint lock: no checkpoint can be taken until it gives the lock back"

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        super().snapshot_state(context)
        if self._snapshot is None or self._snapshot.checkpoint_id != context.checkpoint_id:
            self._snapshot = StateSnapshotContext(context.checkpoint_id, context.timestamp)
            checkpointed.snapshot_function(self._function, self._snapshot, self.context)
        context.parts.extend(self._snapshot.parts)
        self._snapshot = None

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        checkpointed.notify_complete(self._function, checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        checkpointed.notify_aborted(self._function, checkpoint_id)

    def open(self) -> None:
        if self.ended:
            self._done = True  # It had finished when the checkpoint was taken.
            return
        opener = getattr(self._function, "open", None)
        if opener is not None:
            opener(self.context)
        self._thread = threading.Thread(target=self._run, name=f"source {self.plan.name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._function.run(self._ctx)
        except _Cancelled:
            pass
        except BaseException as error:
            self._failure = error
        finally:
            self._done = True
            self._ctx.close()

    def poll(self, max_records: int) -> tuple[int, InputStatus]:
        done = self._done  # Looked at first: what the loop emitted before it ended is taken below.
        items = self._ctx.take(max_records, _LONGEST_WAIT)
        records = self._pass_on(items)
        if not items and done:
            self._check_failure()
            return 0, InputStatus.END_OF_INPUT
        more = len(items) >= max_records or done
        return records, InputStatus.MORE_AVAILABLE if more else InputStatus.NOTHING_AVAILABLE

    def _check_failure(self) -> None:
        if isinstance(self._failure, Exception):
            raise self._failure
        if self._failure is not None:
            raise RuntimeError(f"run() ended with {type(self._failure).__name__}") from self._failure

    def _pass_on(self, items: list[tuple[Any, int]]) -> int:
        """Emit records and control elements in their order; how many of them are records."""
        count = 0
        values: list[Any] = []
        stamps: list[int] = []
        timestamped = False

        def flush() -> None:
            if values:
                self.emit(values.copy(), stamps.copy() if timestamped else None)
                values.clear()
                stamps.clear()

        for value, stamp in items:
            if value.__class__ is Watermark:
                flush()
                self.watermarks.emit_watermark(value)
            elif value.__class__ is WatermarkStatus:
                flush()
                self.watermarks.mark_idle()
            else:
                count += 1
                values.append(value)
                stamps.append(stamp)
                timestamped = timestamped or stamp != NO_TIMESTAMP
        flush()
        return count

    def close(self) -> None:
        self._ctx.close()
        self._cancel()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)
        closer = getattr(self._function, "close", None)
        if closer is not None:
            closer()
