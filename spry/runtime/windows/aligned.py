"""Tumbling and sliding windows with their default trigger: all keys of a window fire at the same time.

So contents are kept window by window: start -> key -> contents. A window that fires is one dict, and needs one entry in
a heap instead of a timer per key. Elements run through one generated loop that looks a window up only when an element
falls into other windows than the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import repeat
from math import gcd
from typing import Any

from spry.common.elements import NO_TIMESTAMP
from spry.common.plan import OperatorPlan
from spry.common.window import TimeWindow, window_start, window_starts
from spry.runtime.blocks import detach
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.codegen import CodeWriter, GeneratedFunction
from spry.runtime.context import SubtaskContext
from spry.runtime.failures import OperatorFailure, explain
from spry.runtime.windows.base import WINDOWS, RunningWindowBase

__all__ = ["RunningAlignedWindowOperator"]

_STAGGER = "stagger"

Table = dict[Any, Any]
"""key -> contents"""


class RunningAlignedWindowOperator(RunningWindowBase):
    """Tumbling and sliding windows, in event time or by the clock."""

    single_table: bool
    """Whether an element goes into one table, or into one per window that it is in."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        assigner: Any = self.description.assigner
        self.size: int = assigner.size
        self.slide: int = getattr(assigner, "slide", self.size)
        self.offset: int = assigner.offset
        self.single_table = self.slide >= self.size
        self._step = gcd(self.size, self.slide)
        """All timestamps within one step are in the same windows."""
        self._staggered = getattr(assigner, "stagger", None)
        self._stagger_set = False
        self._tables: dict[int, Table] = {}
        self._due: list[int] = []
        """The starts of the windows that have not fired, as a heap."""
        self._kept: list[int] = []
        """The starts of those that have fired and still take late elements, as a heap."""
        self._loop: GeneratedFunction | None = None

    # Checkpoints

    def snapshot_windows(self, context: StateSnapshotContext) -> bool:
        count = sum(len(table) for table in self._tables.values())
        context.put_keyed(WINDOWS, self._entries, count, namespaced=True)
        if self._staggered is None and self._stagger_set:
            context.put_union_list_state(_STAGGER, [self.offset])
        return True

    def _entries(self) -> Iterator[tuple[Any, Any]]:
        for start, table in self._tables.items():
            window = TimeWindow(start, start + self.size)
            for key, contents in table.items():
                yield (key, window), contents

    def restore_windows(self, context: StateInitializationContext, timers_implied: bool) -> None:
        for (key, window), contents in context.keyed(WINDOWS):
            table = self._tables.get(window.start)
            if table is None:
                table = self._tables[window.start] = {}
                heappush(self._kept if self.has_fired(window) else self._due, window.start)
            table[key] = contents
        offsets = context.union_list_state(_STAGGER)
        if len(offsets) == self.context.vertex.parallelism:
            self.offset = offsets[self.context.subtask]
            self._staggered, self._stagger_set = None, True

    # Elements

    def process_batch(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        if not self.event_time:
            now = self.clock()
            if self._due and self._due[0] + self.size <= now:
                self.on_processing_time(now - 1)  # A window takes elements in until its last millisecond is over.
            stamps: Any = repeat(now)
        elif timestamps is None:
            stamps = repeat(NO_TIMESTAMP)
        else:
            stamps = timestamps
        if self._loop is None:
            self._set_stagger()
            self._loop = self._compile()
        try:
            self._loop.call(values, stamps)
        except OperatorFailure:
            raise
        except BaseException as error:
            raise explain(error, self._loop, [self]) from None
        self.flush()

    def _set_stagger(self) -> None:
        if self._staggered is not None:
            self.offset = (self.offset + self._staggered.offset(self.clock(), self.size)) % self.size
            self._staggered, self._stagger_set = None, True

    def _compile(self) -> GeneratedFunction:
        """The loop: find the element's windows, find its key's contents in each, add the element."""
        g = CodeWriter("run", "values, timestamps")
        value, stamp, key = g.fresh("v"), g.fresh("t"), g.fresh("k")
        tables = g.fresh("tables")
        g.line(f"low = high = 0; {tables} = None")
        with g.block(f"for {value}, {stamp} in zip(values, timestamps):", loop=True), g.site(0, value):
            with g.block(f"if not low <= {stamp} < high:"):
                g.line(f"low, high, {tables} = {g.bind(self._enter, 'enter')}({value}, {stamp})")
            with g.block(f"if {tables} is None:"):
                g.line(f"{g.bind(self._late, 'late')}({value}, {stamp})")
            with g.block("else:"):
                g.line(f"{key} = {g.call(self.select, value, 'key')}")
                if self.single_table:
                    self._write_add(g, tables, key, value)
                else:
                    # Each window has contents of its own, so several must not share an element that can be changed.
                    table, shared, copy = g.fresh("table"), g.fresh("shared"), g.bind(detach, "detach")
                    g.line(f"{shared} = {copy}({value}) is {value}")
                    with g.block(f"for {table} in {tables}:", loop=True):
                        self._write_add(g, table, key, f"{value} if {shared} else {copy}({value})")
        return g.build()

    def _write_add(self, g: CodeWriter, table: str, key: str, value: str) -> None:
        with g.block(f"if {key} in {table}:"):
            g.line(self.fold.write_add(g, f"{table}[{key}]", value))
        with g.block("else:"):
            g.line(f"{table}[{key}] = {self.fold.write_first(g, value)}")

    def _starts(self, timestamp: int) -> range:
        """The starts of the windows that the timestamp is in, the latest first."""
        return window_starts(timestamp, self.offset, self.size, self.slide)

    def _enter(self, value: Any, stamp: int) -> tuple[int, int, Any]:
        """The stretch of time around the timestamp whose elements are in the same windows, and these windows' tables.

        None for the tables if any of the windows has fired, or there is none (between windows with a long slide).
        """
        if stamp == NO_TIMESTAMP:
            raise self.missing_timestamp(value)
        # Within a slide the set of windows changes where one ends.
        low = window_start(stamp, self.offset, self._step)
        high = low + self._step
        starts = self._starts(stamp)
        if not starts or (self.event_time and starts[-1] + self.size - 1 <= self.watermark):
            return low, high, None
        tables = [self._table(start) for start in starts]
        return low, high, tables[0] if self.single_table else tables

    def _table(self, start: int) -> Table:
        table = self._tables.get(start)
        if table is None:
            table = self._tables[start] = {}
            heappush(self._due, start)
        return table

    def _late(self, value: Any, stamp: int) -> None:
        """An element some of whose windows have fired already."""
        taken = False
        for start in self._starts(stamp):
            end = start + self.size - 1
            if end + self.lateness <= self.watermark:
                continue
            taken = True
            fired = end <= self.watermark
            table = self._tables.get(start)
            if table is None:
                table = self._tables[start] = {}
                heappush(self._kept if fired else self._due, start)
            key = self.select(value)
            own = detach(value)
            table[key] = self.fold.add(table[key], own) if key in table else self.fold.first(own)
            if fired:
                self.fire(key, TimeWindow(start, start + self.size), self.fold.copy(table[key]))
        if not taken and self.event_time and stamp + self.lateness <= self.watermark:
            self.drop_late(value, stamp)

    # Time

    def on_event_time(self, timestamp: int) -> None:
        if self.event_time:
            self._advance(timestamp)

    def on_processing_time(self, now: int) -> None:
        if not self.event_time and self._due:
            self._advance(now)
            self.flush()

    def next_timer(self) -> int | None:
        return self._due[0] + self.size - 1 if self._due and not self.event_time else None

    def _advance(self, now: int) -> None:
        """Fire the windows that end by now, and forget those that are over, in order of time."""
        due, kept, last = self._due, self._kept, self.size - 1
        while due and due[0] + last <= now:
            self._forget_until(due[0] + last)
            start = heappop(due)
            if self.lateness and self.event_time:
                heappush(kept, start)
                self._fire_all(start, self._tables[start], True)
            else:
                table = self._tables.pop(start)
                self._fire_all(start, table, False)
                self._forget_all(start, table)
        self._forget_until(now)

    def _fire_all(self, start: int, table: Table, stays: bool) -> None:
        window = TimeWindow(start, start + self.size)
        fold = self.fold
        if stays:
            table = {key: fold.copy(contents) for key, contents in table.items()}
        if self._call is None:
            values = self._values
            fired = len(values)
            try:
                values.extend(map(self.detach, map(fold.result, table.values())))
            except BaseException as error:
                raise self.failure(error, list(table)[len(values) - fired], window) from None
            self._stamps.extend([window.end - 1] * len(table))
            return
        for key, contents in table.items():
            self.fire(key, window, contents)

    def _forget_until(self, now: int) -> None:
        kept = self._kept
        while kept and self._is_over(kept[0], now):
            start = heappop(kept)
            self._forget_all(start, self._tables.pop(start))

    def _is_over(self, start: int, now: int) -> bool:
        return start + self.size - 1 + self.lateness <= now

    def _forget_all(self, start: int, table: Table) -> None:
        if self._forget is not None:
            window = TimeWindow(start, start + self.size)
            for key in table:
                self.forget(key, window)
