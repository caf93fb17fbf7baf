"""Operator state, timers and windows over random restarts at other parallelisms, beside what they are without."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spry.common.errors import JobExecutionError
from spry.datastream import CheckpointedFunction, KeyedProcessFunction, MapFunction
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor
from spry.datastream.window import (
    CountTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from spry.runtime.checkpoints.restore import share_of
from spry.runtime.testing import HarnessSnapshot, OperatorHarness
from tests.runtime.subtasks import Subtasks
from tests.runtime.windows.programs import LATE, Bounds, Numbers, SlowEventTimeTrigger, window

quick = settings(deadline=None, max_examples=60)
restarts = st.tuples(st.just("restart"), st.integers(1, 4))

# Operator state


def joined(parts: list[list[Any]]) -> list[Any]:
    return [element for part in parts for element in part]


@given(
    parts=st.lists(st.lists(st.integers(), max_size=6), min_size=1, max_size=5),
    parallelism=st.integers(1, 7),
)
def test_a_share_is_even_and_nothing_is_lost(parts: list[list[int]], parallelism: int) -> None:
    given = {index: part for index, part in enumerate(parts) if part}
    shares = [share_of(given, len(parts), subtask, parallelism) for subtask in range(parallelism)]
    assert joined(shares) == joined(parts)
    if parallelism == len(parts):
        assert shares == parts
    else:
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


class Holder(MapFunction, CheckpointedFunction):
    """Adds what comes to each of its states, and gives them."""

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.split = store.get_list_state(ListStateDescriptor("split"))
        self.union = store.get_union_list_state(ListStateDescriptor("union"))
        self.broadcast = store.get_broadcast_state(MapStateDescriptor("broadcast"))
        self.raw = [part.read() for part in context.get_raw_operator_state_inputs()]

    def snapshot_state(self, context: Any) -> None:
        out = context.get_raw_operator_state_output()
        for part in self.raw:
            out.start_new_partition()
            out.write(part)

    def map(self, value: Any) -> Any:
        if value is not None:
            self.split.add(value)
            self.union.add(value)
            self.raw.append(str(value).encode())
        return list(self.split.get()), list(self.union.get()), dict(self.broadcast.items()), self.raw[:]


class Told(Holder):
    """Puts into the broadcast state what all are told."""

    def map(self, value: Any) -> Any:
        if isinstance(value, str):
            self.broadcast.put(value, len(value))
            return super().map(None)
        return super().map(value)


def shown(harness: OperatorHarness) -> Any:
    harness.push(None)
    return harness.values()[-1]


@quick
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(0, 3), st.integers(0, 99)),
            st.tuples(st.just("tell"), st.text("xyz", min_size=1)),
            restarts,
        ),
        max_size=25,
    )
)
def test_operator_state(steps: list[Any]) -> None:
    parallelism = 2
    harnesses = [OperatorHarness(Told(), parallelism=2, subtask=subtask) for subtask in range(2)]
    split: list[list[int]] = [[], []]
    union: list[list[int]] = [[], []]
    told: dict[str, int] = {}
    for step in steps:
        if step[0] == "add":
            subtask = step[1] % parallelism
            harnesses[subtask].push(step[2])
            split[subtask].append(step[2])
            union[subtask].append(step[2])
        elif step[0] == "tell":
            told[step[1]] = len(step[1])
            for harness in harnesses:
                harness.push(step[1])
        else:
            snapshots: list[HarnessSnapshot] = [harness.snapshot() for harness in harnesses]
            for harness in harnesses:
                harness.close()
            before, parallelism = parallelism, step[1]
            harnesses = [
                OperatorHarness(Told(), parallelism=parallelism, subtask=subtask, restore=snapshots)
                for subtask in range(parallelism)
            ]
            parts = dict(enumerate(split))
            split = [list(share_of(parts, before, subtask, parallelism)) for subtask in range(parallelism)]
            union = [joined(union) for _ in range(parallelism)]
            if sum(map(len, union)) > 500:
                break
        for subtask, harness in enumerate(harnesses):
            raw = [str(number).encode() for number in split[subtask]]
            assert shown(harness) == (split[subtask], union[subtask], told, raw)
    for harness in harnesses:
        harness.close()


# Timers


class Timers(KeyedProcessFunction):
    """Sets and deletes timers as elements say."""

    def process_element(self, value: Any, ctx: Any) -> None:
        _, method, time = value
        getattr(ctx.timer_service(), f"{method}_timer")(time)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), ctx.time_domain().name, timestamp


times = st.integers(0, 60)
timers = st.tuples(
    st.sampled_from(["a", "b", 1, ("c", 2), None]),
    st.sampled_from(["register_event_time", "register_processing_time", "delete_event_time", "delete_processing_time"]),
    times,
)


@quick
@given(
    st.lists(
        st.one_of(*[timers] * 5, st.tuples(st.just("watermark"), times), st.tuples(st.just("clock"), times), restarts),
        min_size=15,
        max_size=40,
    )
)
def test_timers(steps: list[Any]) -> None:
    subtasks = Subtasks(Timers, key=lambda step: step[0], parallelism=2)
    pending: dict[str, set[tuple[Any, int]]] = {"event": set(), "processing": set()}
    expected: list[Any] = []
    reached = {"event": -1, "processing": 0}

    def fire(domain: str) -> None:
        due = {(key, time) for key, time in pending[domain] if time <= reached[domain]}
        pending[domain] -= due
        expected.extend((key, f"{domain.upper()}_TIME", time) for key, time in due)

    for step in steps:
        if step[0] == "restart":
            subtasks.restart(step[1])
            if reached["event"] >= 0:
                fire("event")  # Event time is said again.
            fire("processing")
        elif step[0] == "watermark":
            if step[1] > reached["event"]:
                reached["event"] = step[1]
                subtasks.watermark(step[1])
                fire("event")
        elif step[0] == "clock":
            reached["processing"] = max(reached["processing"], step[1])
            subtasks.set_time(reached["processing"])
            fire("processing")
        else:
            key, method, time = step
            if method.endswith("processing_time") and time <= reached["processing"]:
                continue  # When it fires is not for this test.
            subtasks.push(step)
            what, domain = method.split("_")[:2]
            getattr(pending[domain], "add" if what == "register" else "discard")((key, time))
    assert sorted(map(repr, subtasks.finished())) == sorted(map(repr, expected))


# Windows


elements = st.tuples(st.sampled_from("abcd"), st.integers(0, 99), st.integers(-60, 60))
watermarks = st.tuples(st.just("watermark"), st.integers(-70, 70))
streams = st.lists(st.one_of(*[elements] * 6, watermarks, watermarks, restarts), min_size=20, max_size=60)

SLOW = SlowEventTimeTrigger()


def gap(element: Any) -> int:
    return int(1 + element[1] % 9)


def of(assigner: Any, *triggers: Any, **settings: Any) -> list[Any]:
    """The same windows with each of these triggers, which makes other operators of them."""
    return [window(assigner, trigger=trigger, late_tag=LATE, **settings) for trigger in triggers or (None,)]


WINDOWS: dict[str, list[Any]] = {
    "tumbling": of(TumblingEventTimeWindows(10), function=Bounds()),
    "tumbling, late": of(TumblingEventTimeWindows(10, 3), function=Bounds(), allowed_lateness=15),
    "sliding": of(SlidingEventTimeWindows(12, 4), function=Bounds()),
    "sliding, late": of(SlidingEventTimeWindows(12, 5), aggregation=Numbers(), allowed_lateness=7),
    "gaps": of(SlidingEventTimeWindows(4, 10), function=Bounds()),
    "panes": of(SlidingEventTimeWindows(32, 4), aggregation=Numbers()),
    "panes, late": of(SlidingEventTimeWindows(32, 3), aggregation=Numbers(), allowed_lateness=10),
    "sessions": of(EventTimeSessionWindows(5), function=Bounds()),
    "sessions, late": of(EventTimeSessionWindows(5), aggregation=Numbers(), allowed_lateness=12),
    "sessions of any gap": of(DynamicEventTimeSessionWindows(gap), function=Bounds()),
    "general": of(TumblingEventTimeWindows(10), SLOW, function=Bounds(), allowed_lateness=15),
    "general, merging": of(EventTimeSessionWindows(5), SLOW, function=Bounds(), allowed_lateness=12),
    "counting": of(TumblingEventTimeWindows(10), CountTrigger.of(2), function=Bounds()),
    "counting, merging": of(EventTimeSessionWindows(5), CountTrigger.of(3), function=Bounds()),
    "aligned and general": of(TumblingEventTimeWindows(10), None, SLOW, function=Bounds()),
    "aligned and general, late": of(
        SlidingEventTimeWindows(12, 4), None, SLOW, aggregation=Numbers(), allowed_lateness=9
    ),
    "sessions and general": of(EventTimeSessionWindows(5), None, SLOW, function=Bounds()),
    "sessions and general, late": of(
        EventTimeSessionWindows(5), None, SLOW, aggregation=Numbers(), allowed_lateness=12
    ),
}


def windows_of(
    descriptions: list[Any], stream: list[Any], restarting: bool, backends: tuple[str, ...] = ("hashmap",)
) -> tuple[list[Any], list[Any]]:
    """What windows give, and what is too late for them; with restarts they become one operator after the other."""
    configurations = [{"state.backend.type": backend} for backend in backends]
    subtasks = Subtasks(
        lambda: descriptions[0],
        key=lambda element: element[0],
        side_outputs=(LATE,),
        configuration=configurations[0],
    )
    reached = -1000
    for step in [*stream, ("watermark", 1000)]:
        if step[0] == "restart":
            if restarting:
                number = subtasks.checkpoints + 1
                subtasks.restart(
                    step[1],
                    lambda number=number: descriptions[number % len(descriptions)],
                    configurations[number % len(backends)],
                    canonical=len(backends) > 1,
                )
        elif step[0] == "watermark":
            reached = max(reached, step[1])
            subtasks.watermark(reached)
        else:
            subtasks.push(step, step[2])
    return sorted(map(repr, subtasks.finished())), sorted(subtasks.side_output(LATE))


@pytest.mark.parametrize("name", list(WINDOWS))
@settings(deadline=None, max_examples=20)
@given(stream=streams)
def test_windows(name: str, stream: list[Any]) -> None:
    descriptions = WINDOWS[name]
    assert windows_of(descriptions, stream, True) == windows_of(descriptions, stream, False)


@pytest.mark.slow
@pytest.mark.parametrize("backends", [("rocksdb",), ("hashmap", "rocksdb")], ids="-".join)
@pytest.mark.parametrize("name", ["tumbling, late", "sliding", "panes, late", "sessions, late", "counting, merging"])
@settings(deadline=None, max_examples=4)
@given(stream=streams)
def test_windows_on_disk(name: str, backends: tuple[str, ...], stream: list[Any]) -> None:
    descriptions = WINDOWS[name]
    assert windows_of(descriptions, stream, True, backends) == windows_of(descriptions, stream, False)


@quick
@given(
    st.lists(
        st.one_of(*[elements] * 4, st.tuples(st.just("clock"), st.integers(0, 20)), restarts),
        min_size=15,
        max_size=40,
    )
)
def test_windows_by_the_clock(steps: list[Any]) -> None:
    def results(restarting: bool) -> list[str]:
        subtasks = Subtasks(
            lambda: window(TumblingProcessingTimeWindows(10), function=Bounds()), key=lambda element: element[0]
        )
        for step in steps:
            if step[0] == "clock":
                subtasks.set_time(subtasks.now + step[1])
            elif step[0] != "restart":
                subtasks.push(step)
            elif restarting:
                subtasks.restart(step[1])
        subtasks.set_time(subtasks.now + 100)
        return sorted(map(repr, subtasks.finished()))

    assert results(True) == results(False)


def test_the_default_trigger_is_none_of_another_name() -> None:
    assert isinstance(SLOW, EventTimeTrigger)
    assert type(SLOW) is not EventTimeTrigger


class Clears(Bounds):
    def clear(self, context: Any) -> None:
        pass


@pytest.mark.parametrize("before", [0, 1])
def test_windows_of_panes_do_not_become_others_nor_the_other_way_round(before: int) -> None:
    assigner = SlidingEventTimeWindows(32, 4)
    forms = [window(assigner, aggregation=Numbers()), window(assigner, Clears(), Numbers())]
    with OperatorHarness(forms[before], names=["numbers"]) as harness:
        harness.push(("a", 1), timestamp=5)
        snapshot = harness.snapshot()
    with pytest.raises(JobExecutionError, match="operator 'numbers' keeps its windows in another form now"):
        OperatorHarness(forms[1 - before], names=["numbers"], restore=snapshot)
