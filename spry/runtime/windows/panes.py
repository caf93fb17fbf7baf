"""Long windows with a short slide: elements go into panes, and windows are made of panes.

An hour's window every second would put each element into 3600 windows. Instead, an element goes into one pane, the
stretch of time (a second) within which elements are in the same windows. A window is the panes in it, merged. From one
window to the next a pane comes and a pane goes; each key's panes wait in a queue that gives the merge of all that are
in it at a constant number of merges per pane.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from spry.common.elements import MIN_TIMESTAMP, NO_TIMESTAMP
from spry.common.plan import OperatorPlan
from spry.common.window import TimeWindow, window_start
from spry.runtime.blocks import detach
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.context import SubtaskContext
from spry.runtime.windows.aligned import RunningAlignedWindowOperator, Table
from spry.runtime.windows.base import PANES, WINDOWS
from spry.runtime.windows.fold import Fold

__all__ = ["PaneQueue", "RunningPaneWindowOperator"]


class PaneQueue:
    """A key's panes in the current window, oldest first, and their merge.

    Two stacks: of the *older* panes each entry holds the merge of its pane with all older-stack panes after it; of the
    *newer* ones there is one running merge. When the older ones are used up, the newer ones become the older.
    """

    __slots__ = ("_fold", "_merged", "_newer", "_older", "oldest")

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self.oldest = 0
        """The first pane in the queue, if there is one."""
        self._older: list[tuple[int, Any]] = []
        self._newer: list[tuple[int, Any]] = []
        self._merged: Any = None

    def __bool__(self) -> bool:
        return bool(self._older or self._newer)

    def push(self, pane: int, contents: Any) -> None:
        """A pane that is later than all in the queue. Its contents stay as they are."""
        fold = self._fold
        own = fold.copy(contents)
        if not self:
            self.oldest = pane
        self._merged = fold.merge(self._merged, own) if self._newer else own
        self._newer.append((pane, contents))

    def expire(self, before: int) -> None:
        """Panes before this time leave."""
        older, fold = self._older, self._fold
        while older and older[-1][0] < before:
            older.pop()
        if older:
            self.oldest = older[-1][0]
            return
        if not self._newer or self._newer[0][0] >= before:
            self.oldest = self._newer[0][0] if self._newer else 0
            return
        merged: Any = None
        for pane, contents in reversed(self._newer):
            if pane < before:
                break
            own = fold.copy(contents)
            merged = fold.merge(own, fold.copy(merged)) if older else own
            older.append((pane, merged))
        self._newer, self._merged = [], None
        self.oldest = older[-1][0] if older else 0

    def merged(self) -> Any:
        """The contents of all panes in the queue."""
        fold = self._fold
        if not self._older:
            return fold.copy(self._merged)
        oldest = fold.copy(self._older[-1][1])
        return fold.merge(oldest, fold.copy(self._merged)) if self._newer else oldest


class RunningPaneWindowOperator(RunningAlignedWindowOperator):
    """Sliding event-time windows that overlap a lot, with an aggregation whose results can be merged."""

    other_form = WINDOWS

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self.single_table = True  # A pane's.
        self._queues: dict[Any, PaneQueue] = {}
        self._outdated: set[Any] = set()
        """Keys that got a late element in a pane that is in their queue."""
        self._fired_until = MIN_TIMESTAMP
        """The end of the last window that fired."""
        self._reached = MIN_TIMESTAMP
        """The watermark up to which windows have fired."""

    # Checkpoints

    def snapshot_windows(self, context: StateSnapshotContext) -> bool:
        count = sum(len(table) for table in self._tables.values())
        entries = self._tables.items
        context.put_keyed(
            PANES, lambda: (((key, pane), held) for pane, t in entries() for key, held in t.items()), count, True
        )
        return True

    def restore_windows(self, context: StateInitializationContext, timers_implied: bool) -> None:
        if self.watermark > MIN_TIMESTAMP:
            self._reached = self.watermark
            self._fired_until = self._first_end_after(self._reached + 1) - self.slide
        for (key, pane), contents in context.keyed(PANES):
            self._pane(pane)[key] = contents
            if pane < self._fired_until:
                self._outdated.add(key)  # Its queue is made of its panes when the next window fires.

    def _first_end_after(self, timestamp: int) -> int:
        return window_start(timestamp, self.offset + self.size, self.slide) + self.slide

    # Elements. ``_tables`` are the panes, ``_due`` those that are in no queue, ``_kept`` all of them.

    def _enter(self, value: Any, stamp: int) -> tuple[int, int, Any]:
        if stamp == NO_TIMESTAMP:
            raise self.missing_timestamp(value)
        pane = window_start(stamp, self.offset, self._step)
        late = self._first_end_after(stamp) - 1 <= self.watermark
        return pane, pane + self._step, None if late else self._pane(pane)

    def _pane(self, pane: int) -> Table:
        table = self._tables.get(pane)
        if table is None:
            table = self._tables[pane] = {}
            heappush(self._kept, pane)
            if pane >= self._fired_until:
                heappush(self._due, pane)
        return table

    def _late(self, value: Any, stamp: int) -> None:
        starts = self._starts(stamp)
        open_until = self.watermark - self.lateness
        if starts[0] + self.size - 1 <= open_until:
            if stamp + self.lateness <= self.watermark:
                self.drop_late(value, stamp)
            return
        pane = window_start(stamp, self.offset, self._step)
        table, key, own = self._pane(pane), self.select(value), detach(value)
        table[key] = self.fold.add(table[key], own) if key in table else self.fold.first(own)
        if pane < self._fired_until:
            self._outdated.add(key)
        for start in starts:
            end = start + self.size
            if open_until < end - 1 <= self.watermark:
                self.fire(key, TimeWindow(start, end), self._queue(key, start, end).merged())

    def _queue(self, key: Any, start: int, end: int) -> PaneQueue:
        """A queue with the key's panes of a window, from scratch."""
        queue = PaneQueue(self.fold)
        for pane in range(start, end, self._step):
            table = self._tables.get(pane)
            if table is not None and key in table:
                queue.push(pane, table[key])
        return queue

    # Time

    def _advance(self, now: int) -> None:
        while (end := self._next_end()) is not None and end - 1 <= now:
            self._fire_window(end)
        self._reached = now
        self._forget_until(now)

    def _next_end(self) -> int | None:
        """The end of the next window that has something in it."""
        if self._queues or self._outdated:
            end = self._fired_until + self.slide
        elif self._due:
            end = self._first_end_after(self._due[0])
        else:
            return None
        return max(end, self._first_end_after(self._reached + 1))

    def _fire_window(self, end: int) -> None:
        start, queues, fold = end - self.size, self._queues, self.fold
        window, key = TimeWindow(start, end), None
        try:
            while self._due and self._due[0] < end:
                pane = heappop(self._due)
                for key, contents in self._tables[pane].items():
                    queue = queues.get(key)
                    if queue is None:
                        queue = queues[key] = PaneQueue(fold)
                    queue.push(pane, contents)
            for key in self._outdated:
                queue = self._queue(key, start, end)
                if queue:
                    queues[key] = queue
                else:
                    queues.pop(key, None)
            self._outdated.clear()
            self._fired_until = end
            table: Table = {}
            for key, queue in list(queues.items()):
                if queue.oldest < start:
                    queue.expire(start)
                    if not queue:
                        del queues[key]
                        continue
                table[key] = queue.merged()
        except BaseException as error:
            raise self.failure(error, key, window) from None
        self._fire_all(start, table, False)

    def _is_over(self, start: int, now: int) -> bool:
        return window_start(start, self.offset, self.slide) + self.size - 1 + self.lateness <= now

    def end_of_key(self) -> None:
        super().end_of_key()
        self._fired_until = self._reached = MIN_TIMESTAMP
