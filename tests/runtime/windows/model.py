"""Windows, obviously right and slow: every rule written out over plain lists, with no regard for speed.

Elements are (key, number, timestamp). A stream is a list of elements and watermarks (ints). Results are
(key, start, end, numbers in order of arrival); late elements are those that no window took.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Element = tuple[str, int, int]
Stream = list[Element | int]
Result = tuple[str, int, int, tuple[int, ...]]
FOREVER = 2**63 - 1


@dataclass
class Outcome:
    """What came out, run by run: the results up to each watermark, and the late elements."""

    results: list[Result] = field(default_factory=list)
    late: list[Element] = field(default_factory=list)


@dataclass
class _Window:
    key: str
    start: int
    end: int
    numbers: list[int] = field(default_factory=list)

    @property
    def last(self) -> int:
        return self.end - 1

    def result(self) -> Result:
        return self.key, self.start, self.end, tuple(self.numbers)


def tumbling(size: int, offset: int = 0) -> Callable[[int], list[tuple[int, int]]]:
    return sliding(size, size, offset)


def sliding(size: int, slide: int, offset: int = 0) -> Callable[[int], list[tuple[int, int]]]:
    """All windows [start, start + size) with start = offset + n * slide that the timestamp is in."""

    def windows(timestamp: int) -> list[tuple[int, int]]:
        found = []
        number = (timestamp - offset - size) // slide - 1
        while offset + number * slide <= timestamp:
            start = offset + number * slide
            if start <= timestamp < start + size:
                found.append((start, start + size))
            number += 1
        return found

    return windows


def time_windows(stream: Stream, windows: Callable[[int], list[tuple[int, int]]], lateness: int = 0) -> Outcome:
    """Windows that fire when the watermark passes them, and again for every late element within the lateness."""
    outcome, alive, now = Outcome(), [], -FOREVER
    for item in [*stream, FOREVER]:
        if isinstance(item, int):
            if item <= now:
                continue
            due = [w for w in alive if now < w.last <= item]
            outcome.results.extend(w.result() for w in due)
            now = item
            alive = [w for w in alive if w.last + lateness > now]
            continue
        key, number, timestamp = item
        taken = False
        for start, end in windows(timestamp):
            if end - 1 + lateness <= now:
                continue
            taken = True
            found = next((w for w in alive if (w.key, w.start, w.end) == (key, start, end)), None)
            if found is None:
                found = _Window(key, start, end)
                alive.append(found)
            found.numbers.append(number)
            if found.last <= now:
                outcome.results.append(found.result())
        if not taken and timestamp + lateness <= now:
            outcome.late.append(item)
    return outcome


def sessions(stream: Stream, gap: Callable[[int], int], lateness: int = 0) -> Outcome:
    """Sessions: an element's own stretch of time, merged with all of its key's that it overlaps or touches."""
    outcome, alive, now = Outcome(), [], -FOREVER
    for item in [*stream, FOREVER]:
        if isinstance(item, int):
            if item <= now:
                continue
            outcome.results.extend(w.result() for w in alive if now < w.last <= item)
            now = item
            alive = [w for w in alive if w.last + lateness > now]
            continue
        key, number, timestamp = item
        merged = _Window(key, timestamp, timestamp + gap(number))
        touching = [w for w in alive if w.key == key and w.start <= merged.end and merged.start <= w.end]
        if not touching and merged.last + lateness <= now:
            outcome.late.append(item)
            continue
        for window in sorted(touching, key=lambda w: w.start):
            merged.start, merged.end = min(merged.start, window.start), max(merged.end, window.end)
            merged.numbers.extend(window.numbers)
            alive.remove(window)
        merged.numbers.append(number)
        alive.append(merged)
        if merged.last <= now:
            outcome.results.append(merged.result())
    return outcome


def counts(stream: Stream, size: int, purge: bool) -> list[tuple[str, tuple[int, ...]]]:
    """One window per key that fires at every ``size`` elements; all elements so far, or those since it fired last."""
    seen: dict[str, list[int]] = {}
    results = []
    for item in stream:
        if isinstance(item, int):
            continue
        numbers = seen.setdefault(item[0], [])
        numbers.append(item[1])
        if purge and len(numbers) == size:
            results.append((item[0], tuple(numbers)))
            numbers.clear()
        elif not purge and len(numbers) % size == 0:
            results.append((item[0], tuple(numbers)))
    return results


def continuous(stream: Stream, size: int, interval: int) -> list[Result]:
    """Tumbling windows that fire at multiples of the interval from their first element on, and at their end."""
    results: list[Result] = []
    alive: list[_Window] = []
    due: dict[int, int] = {}
    now = -FOREVER
    for item in [*stream, FOREVER]:
        if isinstance(item, int):
            if item <= now:
                continue
            now = item
            moments: list[tuple[int, _Window]] = []
            for window in alive:
                moment = due[id(window)]
                while moment <= now and moment < window.last:
                    moments.append((moment, window))
                    moment = min(moment + interval, window.last)
                due[id(window)] = moment
                if window.last <= now:
                    moments.append((window.last, window))
            results.extend(window.result() for _, window in sorted(moments, key=lambda each: each[0]))
            alive = [w for w in alive if w.last > now]
            continue
        key, number, timestamp = item
        start, end = tumbling(size)(timestamp)[0]
        if end - 1 <= now:
            continue
        found = next((w for w in alive if (w.key, w.start) == (key, start)), None)
        if found is None:
            found = _Window(key, start, end)
            alive.append(found)
            due[id(found)] = min(timestamp - timestamp % interval + interval, found.last)
        found.numbers.append(number)
    return results


def as_results(values: list[Any]) -> list[Any]:
    """Sorted, for comparing."""
    return sorted(values, key=repr)
