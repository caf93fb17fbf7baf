"""What depends on the clock, on counts and on elements, beside slow models: random streams, a clock moved by hand.

Elements are (key, number, timestamp); an int moves the clock (or the watermark) to that time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from spry.datastream.window import (
    ContinuousProcessingTimeTrigger,
    CountEvictor,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DeltaEvictor,
    DeltaTrigger,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SlidingProcessingTimeWindows,
    TimeEvictor,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from spry.runtime.testing import OperatorHarness
from spry.runtime.timers import TimerQueue
from tests.runtime.windows import model
from tests.runtime.windows.model import Stream, as_results
from tests.runtime.windows.programs import Bounds, Numbers, window


class SlowProcessingTimeTrigger(ProcessingTimeTrigger):
    """The default trigger under another name, for which the general operator is chosen."""


elements = st.tuples(st.sampled_from("abc"), st.integers(0, 99), st.integers(-60, 60))
steps = st.lists(st.one_of(elements, elements, st.integers(0, 25)), max_size=50)
streams = st.lists(st.one_of(elements, elements, elements, st.integers(-70, 70)), max_size=50)
keyed = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 99)), max_size=60)
quick = settings(deadline=None, max_examples=60)


Open = dict[tuple[str, int, int], list[int]]
"""(key, start, end) -> numbers"""


def by_the_clock(description: Any, stream: Stream, arrive: Callable[[Open, str, int, int], None]) -> None:
    """The operator beside windows that fire when the clock gets to their last moment.

    ``arrive`` puts an element's (key, number), at a time, into the windows that are open.
    """
    expected: list[Any] = []
    open_windows: Open = {}
    with OperatorHarness(description, now=0) as harness:
        for item in [*stream, 200]:
            if not isinstance(item, int):
                harness.push((item[0], item[1]))
                arrive(open_windows, item[0], item[1], harness.clock.now)
                continue
            harness.advance_processing_time(item)
            for bounds in [bounds for bounds in open_windows if bounds[2] - 1 <= harness.clock.now]:
                expected.append((*bounds, sorted(open_windows.pop(bounds))))
        found = [(key, start, end, sorted(numbers)) for key, start, end, numbers in harness.values()]
        assert as_results(found) == as_results(expected)
        assert harness.next_wake_up() is None


@quick
@given(steps, st.integers(1, 30), st.integers(1, 35), st.integers(0, 30), st.booleans())
def test_tumbling_and_sliding_by_the_clock(stream: Stream, size: int, slide: int, offset: int, tumbling: bool) -> None:
    assigner: Any = SlidingProcessingTimeWindows(size, slide, offset % slide)
    windows = model.sliding(size, slide, offset)
    if tumbling:
        assigner, windows = TumblingProcessingTimeWindows(size, offset % size), model.tumbling(size, offset)

    def arrive(open_windows: Open, key: str, number: int, now: int) -> None:
        for start, end in windows(now):
            open_windows.setdefault((key, start, end), []).append(number)

    for trigger in (None, SlowProcessingTimeTrigger()):
        by_the_clock(window(assigner, Bounds(), trigger=trigger), stream, arrive)


@quick
@given(steps, st.integers(1, 20), st.booleans())
def test_sessions_by_the_clock(stream: Stream, modulus: int, dynamic: bool) -> None:
    def gap(number: int) -> int:
        return 1 + number % modulus if dynamic else modulus

    def arrive(open_windows: Open, key: str, number: int, now: int) -> None:
        start, end, numbers = now, now + gap(number), [number]
        for bounds in [bounds for bounds in open_windows if bounds[0] == key]:  # At most one: others are over.
            start, end = bounds[1], max(end, bounds[2])
            numbers += open_windows.pop(bounds)
        open_windows[(key, start, end)] = numbers

    assigner: Any = ProcessingTimeSessionWindows(modulus)
    if dynamic:
        assigner = DynamicProcessingTimeSessionWindows(lambda element: gap(element[1]))
    by_the_clock(window(assigner, Bounds()), stream, arrive)


@quick
@given(steps, st.integers(1, 30), st.integers(1, 12))
def test_continuous_by_the_clock(stream: Stream, size: int, interval: int) -> None:
    description = window(
        TumblingProcessingTimeWindows(size), Bounds(), trigger=ContinuousProcessingTimeTrigger(interval)
    )
    results: list[Any] = []
    expected: list[Any] = []
    alive: dict[tuple[str, int], tuple[list[int], int]] = {}
    with OperatorHarness(description) as harness:
        for item in [*stream, *[1] * (size + interval)]:
            if not isinstance(item, int):
                harness.push((item[0], item[1]))
                now = harness.clock.now
                start = now - now % size
                numbers, due = alive.get((item[0], start), ([], min(now - now % interval + interval, start + size - 1)))
                alive[(item[0], start)] = ([*numbers, item[1]], due)
                continue
            for _ in range(item):
                harness.advance_processing_time(1)
                now = harness.clock.now
                for (key, start), (numbers, due) in list(alive.items()):
                    last = start + size - 1
                    if due <= now:
                        expected.append((key, start, start + size, tuple(sorted(numbers))))
                        alive[(key, start)] = (numbers, min(due + interval, last) if due < last else now + interval)
                    if last <= now:
                        del alive[(key, start)]
        results = [(key, start, end, tuple(sorted(found))) for key, start, end, found in harness.values()]
        assert harness.next_wake_up() is None
    assert as_results(results) == as_results(expected)


# Triggers and evictors


@quick
@given(keyed, st.integers(0, 60), st.booleans())
def test_delta(stream: list[tuple[str, int]], threshold: int, purge: bool) -> None:
    trigger: Any = DeltaTrigger.of(threshold, lambda old, new: abs(new[1] - old[1]))
    trigger = PurgingTrigger.of(trigger) if purge else trigger
    expected: list[Any] = []
    fired_at: dict[str, int] = {}
    seen: dict[str, list[int]] = {}
    for key, number in stream:
        seen.setdefault(key, []).append(number)
        if key not in fired_at:
            fired_at[key] = number
        elif abs(number - fired_at[key]) > threshold:
            fired_at[key] = number
            expected.append((key, list(seen[key])))
            if purge:
                seen[key].clear()
    with OperatorHarness(window(GlobalWindows(), trigger=trigger)) as harness:
        harness.push(*stream)
        assert harness.values() == expected


@quick
@given(streams, st.integers(1, 30), st.sampled_from([0, 5, 30]))
def test_purging_in_event_time(stream: Stream, size: int, lateness: int) -> None:
    """A window that was purged starts anew: within the lateness each late element is alone in its window."""
    expected: list[Any] = []
    alive: dict[tuple[str, int], list[int]] = {}
    now = -model.FOREVER
    description = window(
        TumblingEventTimeWindows(size),
        Bounds(),
        trigger=PurgingTrigger.of(EventTimeTrigger()),
        allowed_lateness=lateness,
    )
    with OperatorHarness(description) as harness:
        for item in [*stream, 10**6]:
            if isinstance(item, int):
                harness.watermark(item)
                now = max(now, item)
                for (key, start), numbers in list(alive.items()):
                    if start + size - 1 <= now:
                        expected.append((key, start, start + size, numbers))
                        del alive[(key, start)]
                continue
            key, number, stamp = item
            harness.push_timestamped(((key, number), stamp))
            start = stamp - stamp % size
            if start + size - 1 > now:
                alive.setdefault((key, start), []).append(number)
            elif start + size - 1 + lateness > now:
                expected.append((key, start, start + size, [number]))
        assert as_results(harness.values()) == as_results(expected)
        assert harness.event_time_timers() == []


@quick
@given(streams, st.integers(1, 25), st.integers(1, 4))
def test_counts_of_sessions(stream: Stream, gap: int, count: int) -> None:
    """Elements that come before the watermark: a session's count is that of all windows that it was made of."""
    ahead = [item for item in stream if not isinstance(item, int)]
    trigger = PurgingTrigger.of(CountTrigger.of(count))
    with OperatorHarness(window(EventTimeSessionWindows(gap), Bounds(), trigger=trigger)) as harness:
        harness.push_timestamped(*[((key, number), stamp) for key, number, stamp in ahead])
        assert all(len(found) >= count for *_, found in harness.values())
        out = sum(len(found) for *_, found in harness.values())
        running: Any = harness.subtask.chain.operators[0]
        assert out + sum(len(kept) for kept in running._contents.values()) == len(ahead)


@quick
@given(keyed, st.integers(1, 6), st.integers(0, 6), st.booleans())
def test_count_evictor(stream: list[tuple[str, int]], every: int, count: int, after: bool) -> None:
    expected: list[Any] = []
    kept: dict[str, list[int]] = {}
    counts: dict[str, int] = {}
    for key, number in stream:
        kept.setdefault(key, []).append(number)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] % every == 0:
            last = kept[key][max(0, len(kept[key]) - count) :]
            expected.append((key, list(kept[key] if after else last)))
            kept[key] = last
    description = window(GlobalWindows(), trigger=CountTrigger.of(every), evictor=CountEvictor.of(count, after))
    with OperatorHarness(description) as harness:
        harness.push(*stream)
        assert harness.values() == expected


@quick
@given(st.lists(elements, max_size=40), st.integers(1, 40), st.booleans(), st.booleans())
def test_time_and_delta_evictors(stream: list[Any], length: int, after: bool, delta: bool) -> None:
    evictor: Any = TimeEvictor(length, after)
    if delta:
        evictor = DeltaEvictor.of(length, lambda element, last: abs(element[1] - last[1]), after)
    expected: list[Any] = []
    kept: dict[str, list[tuple[int, int]]] = {}
    for key, number, stamp in stream:
        mine = kept.setdefault(key, [])
        mine.append((number, stamp))
        newest = max(at for _, at in mine)
        left = [(n, at) for n, at in mine if (abs(n - number) < length if delta else newest - at < length)]
        expected.append((key, [n for n, _ in (mine if after else left)]))
        kept[key] = left
    with OperatorHarness(window(GlobalWindows(), trigger=CountTrigger.of(1), evictor=evictor)) as harness:
        harness.push_timestamped(*[((key, number), stamp) for key, number, stamp in stream])
        assert harness.values() == expected


# Count windows


@quick
@given(keyed, st.integers(1, 8), st.integers(1, 8), st.booleans(), st.booleans())
def test_count_windows(stream: list[tuple[str, int]], size: int, slide: int, tumbling: bool, incremental: bool) -> None:
    """Window n of a key has its elements from n * slide on, as many as its size; it fires when it is full."""
    assigner: Any = CountTumblingWindowAssigner(size) if tumbling else CountSlidingWindowAssigner(size, slide)
    step = size if tumbling else slide
    with OperatorHarness(window(assigner, None, Numbers() if incremental else None)) as harness:
        harness.push(*stream)
        found = [value if incremental else value[1] for value in harness.values()]
        running: Any = harness.subtask.chain.operators[0]
        waiting = len(running._contents)
    expected, open_windows = [], 0
    for key in "abc":
        mine = [number for own, number in stream if own == key]
        for start in range(0, len(mine), step):
            if len(mine) >= start + size:
                expected.append(mine[start : start + size])
            else:
                open_windows += 1
    assert as_results(found) == as_results(expected)
    assert waiting == open_windows, "full windows keep nothing"


# Timers


operations = st.lists(
    st.tuples(
        st.sampled_from(["register", "register", "register", "delete", "fire", "fire and set"]),
        st.integers(0, 20),
        st.sampled_from(["a", "b", None, 1, (1, "x")]),
    ),
    max_size=80,
)


@quick
@given(operations)
def test_timer_queues(done: list[Any]) -> None:
    """Beside a set of (time, key): the queue fires the same timers, those of earlier times first."""
    queue, plain = TimerQueue(), set()
    for what, time, key in done:
        if what == "register":
            queue.register(time, key)
            plain.add((time, key))
        elif what == "delete":
            queue.delete(time, key)
            plain.discard((time, key))
        else:
            fired = []
            for at, mine in queue.due(time):
                assert (at, mine) in plain
                plain.discard((at, mine))
                fired.append(at)
                if what == "fire and set" and len(fired) < 5:
                    queue.register(at + 1, key)  # May be due at once.
                    plain.add((at + 1, key))
                    for other in ("a", "b"):
                        queue.delete(at, other)
                        plain.discard((at, other))
            assert fired == sorted(fired)
            assert not any(at <= time for at, _ in plain)
        assert len(queue) == len(plain)
        assert queue.next_time() == min((at for at, _ in plain), default=None)
        assert as_results(queue.pending()) == as_results(list(plain))
        assert [at for at, _ in queue.pending()] == sorted(at for at, _ in plain)
