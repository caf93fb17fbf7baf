"""Event-time sessions with their default trigger.

A key's sessions are kept in order of time; nearly every element goes into the last one. A session has one entry in
the heap, for the end that it had when the entry was made. If it has grown since, the entry is made anew when its time
comes, instead of deleting and setting a timer with every element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count, repeat
from typing import Any

from spry.common.elements import NO_TIMESTAMP
from spry.common.plan import OperatorPlan
from spry.common.window import TimeWindow
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.codegen import CodeWriter, GeneratedFunction
from spry.runtime.context import SubtaskContext
from spry.runtime.failures import OperatorFailure, explain
from spry.runtime.windows.base import MERGING_WINDOWS, WINDOWS, RunningWindowBase

__all__ = ["RunningSessionWindowOperator"]


class _Session:
    """One session of one key."""

    __slots__ = ("alive", "contents", "end", "fired", "key", "start")

    def __init__(self, key: Any, start: int, end: int, contents: Any) -> None:
        self.key = key
        self.start = start
        self.end = end
        self.contents = contents
        self.fired = False
        """The watermark has passed its end; it stays for late elements."""
        self.alive = True


class RunningSessionWindowOperator(RunningWindowBase):
    """Sessions of a fixed gap, or of a gap that each element says."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self._assigner: Any = self.description.assigner
        self._sessions: dict[Any, list[_Session]] = {}
        self._timers: list[tuple[int, int, _Session]] = []
        """(time, number, session): when to fire a session, or to forget it if it has fired."""
        self._numbers = count()
        self._loop: GeneratedFunction | None = None

    # Checkpoints

    def snapshot_windows(self, context: StateSnapshotContext) -> bool:
        count = sum(map(len, self._sessions.values()))
        context.put_keyed(WINDOWS, self._entries, count, namespaced=True)
        return True

    def _entries(self) -> Iterator[tuple[Any, Any]]:
        for key, sessions in self._sessions.items():
            for session in sessions:
                yield (key, TimeWindow(session.start, session.end)), session.contents

    def restore_windows(self, context: StateInitializationContext, timers_implied: bool) -> None:
        contents = dict(context.keyed(WINDOWS))
        moved = {
            (key, window): (key, state_window)
            for key, state_windows in context.keyed(MERGING_WINDOWS)
            for window, state_window in state_windows.items()
        }
        for place in moved or contents:
            key, window = place
            session = _Session(key, window.start, window.end, contents[moved.get(place, place)])
            session.fired = self.has_fired(window)
            self._keep(session)
            self._schedule(session, session.end - 1 + (self.lateness if session.fired else 0))

    # Elements

    def process_batch(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        if self._loop is None:
            self._loop = self._compile()
        try:
            self._loop.call(values, repeat(NO_TIMESTAMP) if timestamps is None else timestamps)
        except OperatorFailure:
            raise
        except BaseException as error:
            raise explain(error, self._loop, [self]) from None
        self.flush()

    def _compile(self) -> GeneratedFunction:
        """The loop: an element that only makes its key's last session longer is added; all else is ``_place``'s."""
        g = CodeWriter("run", "values, timestamps")
        value, stamp, key = g.fresh("v"), g.fresh("t"), g.fresh("k")
        known, session, end = g.fresh("known"), g.fresh("s"), g.fresh("end")
        with g.block(f"for {value}, {stamp} in zip(values, timestamps):", loop=True), g.site(0, value):
            g.line(f"{key} = {g.call(self.select, value, 'key')}")
            g.line(f"{known} = {g.bind(self._sessions.get, 'find')}({key})")
            with g.block(f"if {known} is not None:"):
                g.line(f"{session} = {known}[-1]")
                with g.block(f"if {stamp} <= {session}.end and not {session}.fired:"):
                    gap = getattr(self._assigner, "gap", None)
                    g.line(f"{end} = {stamp} + {self._gap_code(g, gap, value)}")
                    with g.block(f"if {stamp} >= {session}.start or ({end} >= {session}.start and len({known}) == 1):"):
                        with g.block(f"if {end} > {session}.end:"):
                            g.line(f"{session}.end = {end}")
                        with g.block(f"if {stamp} < {session}.start:"):
                            g.line(f"{session}.start = {stamp}")
                        g.line(self.fold.write_add(g, f"{session}.contents", value))
                        g.line("continue")
            g.line(f"{g.bind(self._place, 'place')}({key}, {value}, {stamp})")
        return g.build()

    def _gap_code(self, g: CodeWriter, gap: int | None, value: str) -> str:
        return str(gap) if gap is not None else f"{g.bind(self._assigner.gap_of, 'gap')}({value})"

    def _place(self, key: Any, value: Any, stamp: int) -> None:
        """Any element: it opens a session, or goes into one, or makes several one."""
        if stamp == NO_TIMESTAMP:
            raise self.missing_timestamp(value)
        start, end = stamp, stamp + self._assigner.gap_of(value)
        known = self._sessions.get(key, [])
        touched = [session for session in known if session.start <= end and session.end >= start]
        if not touched:
            if end - 1 + self.lateness <= self.watermark:
                if stamp + self.lateness <= self.watermark:
                    self.drop_late(value, stamp)
                return
            session, new = _Session(key, start, end, self.fold.first(value)), True
            self._keep(session)
        else:
            session = self._merge(touched, start, end)
            session.contents = self.fold.add(session.contents, value)
            new = session not in touched
        session.fired = session.end - 1 <= self.watermark
        if new:
            self._schedule(session, session.end - 1 + (self.lateness if session.fired else 0))
        if session.fired:
            self.fire(key, TimeWindow(session.start, session.end), self.fold.copy(session.contents))

    def _merge(self, touched: list[_Session], start: int, end: int) -> _Session:
        """The sessions as one that also covers this time. A session that covers it already stays as it is."""
        first = touched[0]
        covers = min(start, first.start), max(end, *(session.end for session in touched))
        if len(touched) == 1 and covers == (first.start, first.end):
            return first
        merged = _Session(first.key, *covers, first.contents)
        for session in touched:
            self._drop(session)
            if session is not first:
                merged.contents = self.fold.merge(merged.contents, session.contents)
        self._keep(merged)
        return merged

    def _keep(self, session: _Session) -> None:
        known = self._sessions.setdefault(session.key, [])
        known.append(session)
        if len(known) > 1:
            known.sort(key=_start)

    def _drop(self, session: _Session) -> None:
        session.alive = False
        known = self._sessions[session.key]
        known.remove(session)
        if not known:
            del self._sessions[session.key]

    def _schedule(self, session: _Session, time: int) -> None:
        heappush(self._timers, (time, next(self._numbers), session))

    # Time

    def on_event_time(self, timestamp: int) -> None:
        timers = self._timers
        while timers and timers[0][0] <= timestamp:
            time, _, session = heappop(timers)
            if not session.alive:
                continue
            if session.fired:
                if time == session.end - 1 + self.lateness:
                    self._over(session)
            elif time < session.end - 1:
                self._schedule(session, session.end - 1)
            elif self.lateness:
                session.fired = True
                self._schedule(session, time + self.lateness)
                self.fire(session.key, TimeWindow(session.start, session.end), self.fold.copy(session.contents))
            else:
                self.fire(session.key, TimeWindow(session.start, session.end), session.contents)
                self._over(session)

    def _over(self, session: _Session) -> None:
        self._drop(session)
        self.forget(session.key, TimeWindow(session.start, session.end))


def _start(session: _Session) -> int:
    return session.start
