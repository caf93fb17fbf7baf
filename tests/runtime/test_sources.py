"""Sources: readers and enumerators, source functions, watermarks, the end."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest

from spry.common.errors import JobExecutionError
from spry.common.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from spry.common.watermark_strategy import WatermarkStrategy
from spry.datastream import ParallelSourceFunction, ProcessFunction, RuntimeContext, SourceFunction
from tests import journal
from tests.local_job import LocalJob, program


class Stamps(ProcessFunction):
    """Each value with its timestamp and the watermark it met."""

    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


MIN = -(2**63)


class Scripted(SourceFunction):
    """Does what the steps say: ("collect", 1), ("at", 1, 10), ("mark", 5), ("idle",)."""

    bounded = True

    def __init__(self, *steps: tuple[Any, ...]) -> None:
        self.steps = steps

    def run(self, ctx: Any) -> None:
        for kind, *arguments in self.steps:
            {
                "collect": ctx.collect,
                "at": ctx.collect_with_timestamp,
                "mark": ctx.emit_watermark,
                "idle": ctx.mark_as_temporarily_idle,
            }[kind](*arguments)

    def cancel(self) -> None:
        journal.note("cancel")


def run_script(*steps: tuple[Any, ...]) -> list[Any]:
    env, job = program(1)
    result = job.collect(env.add_source(Scripted(*steps)).process(Stamps()))
    job.run()
    return result


def test_source_functions_emit_values_timestamps_and_watermarks() -> None:
    journal.reset()
    assert run_script(("collect", "a"), ("at", "b", 5), ("mark", 3), ("at", "c", 6), ("collect", "d")) == [
        ("a", None, MIN),
        ("b", 5, MIN),
        ("c", 6, 3),
        ("d", None, 3),
    ]
    assert journal.reset() == [], "who ends by itself is not cancelled"


@pytest.mark.parametrize("chaining", [True, False])
def test_watermarks_of_a_source_never_go_back(chaining: bool) -> None:
    env, job = program(1, chaining=chaining)
    steps = [("mark", 10), ("collect", 1), ("mark", 4), ("collect", 2), ("mark", 11), ("collect", 3)]
    result = job.collect(env.add_source(Scripted(*steps)).process(Stamps()))
    job.run()
    assert [watermark for _, _, watermark in result] == [10, 10, 11]


def test_a_watermark_may_be_an_object() -> None:
    from spry.common.watermark_strategy import Watermark

    assert run_script(("mark", Watermark(8)), ("collect", 1)) == [(1, None, 8)]


def test_an_idle_source_holds_nobody_back_until_it_emits() -> None:
    env, job = program(1)
    idle = env.add_source(Scripted(("mark", 1), ("idle",)), "idle")
    other = env.add_source(Scripted(("mark", 100), ("collect", "x")), "other")
    result = job.collect(other.union(idle).rebalance().process(Stamps()))
    job.run()
    assert [value for value, _, _ in result] == ["x"]


def test_watermarks_do_not_count_as_records() -> None:
    env, job = program(1)
    job.collect(env.add_source(Scripted(("at", "a", 5), ("mark", 4), ("at", "b", 6), ("mark", 5), ("idle",))))
    job.run()
    [records] = [vertex.records_in for report in job.reports for vertex in report.vertices]
    assert records == 2


class Endless(SourceFunction):
    """Emits as fast as it can until it is cancelled."""

    def __init__(self) -> None:
        self.running = True

    def open(self, runtime_context: RuntimeContext) -> None:
        journal.note("open")

    def run(self, ctx: Any) -> None:
        n = 0
        while self.running:
            ctx.collect(n)
            n += 1
        journal.note("left")

    def cancel(self) -> None:
        journal.note("cancel")
        self.running = False

    def close(self) -> None:
        journal.note("close")


def settle(job: LocalJob, done: Any, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        job.step()
        assert time.monotonic() < end, "did not come to it in time"


def test_cancelling_ends_the_thread_and_closes_once() -> None:
    journal.reset()
    before = threading.active_count()
    env, job = program(1, max_records=100)
    result = job.collect(env.add_source(Endless()))
    job.start()
    settle(job, lambda: len(result) >= 300)
    job.close()
    job.close()
    assert result == list(range(len(result)))
    entries = journal.reset()
    assert entries[0] == "open"
    assert entries.count("cancel") == entries.count("close") == 1
    end = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.005)
    assert threading.active_count() == before


def test_a_source_function_is_held_back_by_what_is_not_taken() -> None:
    from spry.runtime.operators.source_function import _CAPACITY

    env, job = program(1)
    job.collect(env.add_source(Endless()))
    job.start()
    time.sleep(0.05)
    (slot,) = job.slots
    (subtask,) = slot.subtasks
    running: Any = subtask.source
    assert len(running._ctx._items) <= _CAPACITY
    job.close()


class LooksAtIndex(ParallelSourceFunction):
    bounded = True

    def open(self, runtime_context: RuntimeContext) -> None:
        self.me = runtime_context.get_index_of_this_subtask()

    def run(self, ctx: Any) -> None:
        ctx.collect(self.me)

    def cancel(self) -> None: ...


def test_parallel_source_functions_run_in_every_subtask() -> None:
    env, job = program(3)
    result = job.collect(env.add_source(LooksAtIndex()))
    job.run()
    assert sorted(result) == [0, 1, 2]


class WaitsForEver(SourceFunction):
    """Does not look at anything while it waits."""

    def run(self, ctx: Any) -> None:
        ctx.collect(1)
        threading.Event().wait(30)

    def cancel(self) -> None:
        raise ValueError("cancel fails")


def test_a_cancel_that_fails_is_reported() -> None:
    env, job = program(1)
    result = job.collect(env.add_source(WaitsForEver(), "waits"))
    job.start()
    settle(job, lambda: result == [1])
    with pytest.raises(JobExecutionError, match="cancel fails"):
        job.close()


class Locked(SourceFunction):
    """Emits pairs under the checkpoint lock."""

    bounded = True

    def run(self, ctx: Any) -> None:
        for n in range(200):
            with ctx.get_checkpoint_lock():
                ctx.collect(("first", n))
                time.sleep(0)
                ctx.collect(("second", n))

    def cancel(self) -> None: ...


def test_records_under_the_checkpoint_lock_are_in_one_epoch() -> None:
    env, job = program(1)
    result = job.collect(env.add_source(Locked()))
    job.start()
    while not job.finished:
        job.step()
        assert len(result) % 2 == 0
    job.close()
    assert result == [(which, n) for n in range(200) for which in ("first", "second")]


# Sources with splits


@dataclass(frozen=True)
class Split:
    name: str
    steps: tuple[Any, ...]

    def split_id(self) -> str:
        return self.name


class Enumerator(SplitEnumerator[Split, list[Split]]):
    """Gives one split per request; tells readers about each other."""

    def __init__(self, context: SplitEnumeratorContext[Split], splits: list[Split]) -> None:
        self.context, self.splits = context, list(splits)

    def start(self) -> None:
        journal.note("enumerator start")

    def add_reader(self, subtask: int) -> None:
        journal.note(("reader", subtask))

    def handle_split_request(self, subtask: int, requester_host: str | None) -> None:
        if self.splits:
            self.context.assign_split(self.splits.pop(0), subtask)
        else:
            self.context.signal_no_more_splits(subtask)

    def handle_source_event(self, subtask: int, event: Any) -> None:
        self.context.send_event_to_source_reader(subtask, ("answer to", event))

    def snapshot_state(self, checkpoint_id: int) -> list[Split]:
        return self.splits

    def close(self) -> None:
        journal.note("enumerator close")


class Reader(SourceReader[Split]):
    def __init__(self, context: SourceReaderContext) -> None:
        self.context = context
        self.splits: list[Split] = []
        self.done = False

    def start(self) -> None:
        journal.note("start")
        self.context.send_split_request()
        self.context.send_source_event_to_coordinator(("hello from", self.context.index_of_subtask()))

    def add_splits(self, splits: list[Split]) -> None:
        self.splits += splits

    def notify_no_more_splits(self) -> None:
        self.done = True

    def handle_source_events(self, event: Any) -> None:
        journal.note(event)

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        if self.splits:
            for kind, *arguments in self.splits.pop().steps:
                getattr(output, kind)(*arguments)
            self.context.send_split_request()
            return InputStatus.NOTHING_AVAILABLE
        return InputStatus.END_OF_INPUT if self.done else InputStatus.NOTHING_AVAILABLE

    def snapshot_state(self, checkpoint_id: int) -> list[Split]:
        return self.splits

    def close(self) -> None:
        journal.note("close")


class ScriptedSource(Source[Split, list[Split]]):
    def __init__(self, *scripts: list[tuple[Any, ...]]) -> None:
        self.splits = [Split(str(at), tuple(script)) for at, script in enumerate(scripts)]

    def get_boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: SplitEnumeratorContext[Split]) -> Enumerator:
        return Enumerator(context, self.splits)

    def restore_enumerator(self, context: SplitEnumeratorContext[Split], checkpoint: list[Split]) -> Enumerator:
        return Enumerator(context, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> Reader:
        return Reader(context)


def read(*scripts: list[tuple[Any, ...]], parallelism: int = 1, chaining: bool = True) -> list[Any]:
    env, job = program(parallelism, chaining=chaining)
    source = env.from_source(ScriptedSource(*scripts), WatermarkStrategy.no_watermarks(), "scripted")
    result = job.collect(source.process(Stamps()))
    job.run()
    return result


def test_splits_travel_on_request_and_all_are_read() -> None:
    journal.reset()
    scripts = [[("collect", n)] for n in range(5)]
    assert sorted(value for value, _, _ in read(*scripts, parallelism=2)) == list(range(5))
    entries = journal.reset()
    assert entries.count("start") == entries.count("close") == 2
    assert entries.count("enumerator start") == entries.count("enumerator close") == 1
    assert entries.index("enumerator start") < entries.index(("reader", 0)) < entries.index(("reader", 1))
    assert {("answer to", ("hello from", n)) for n in (0, 1)} <= set(entries)


def test_what_readers_can_emit() -> None:
    script: list[tuple[Any, ...]] = [
        ("collect", "a"),
        ("collect", "b", 5),
        ("collect_batch", ["c", "d"]),
        ("collect_batch", ["e", "f"], [6, 7]),
        ("emit_watermark", 6),
        ("collect_batch", []),
        ("collect", "g"),
    ]
    assert read(script) == [
        ("a", None, MIN),
        ("b", 5, MIN),
        ("c", None, MIN),
        ("d", None, MIN),
        ("e", 6, MIN),
        ("f", 7, MIN),
        ("g", None, 6),
    ]


@pytest.mark.parametrize("chaining", [True, False])
def test_watermarks_of_a_reader_never_go_back(chaining: bool) -> None:
    script = [("emit_watermark", 10), ("collect", 1), ("emit_watermark", 3), ("collect", 2)]
    assert [watermark for _, _, watermark in read(script, chaining=chaining)] == [10, 10]


def test_a_reader_that_was_idle_counts_again_when_it_emits() -> None:
    env, job = program(1, chaining=False)
    strategy = WatermarkStrategy.no_watermarks()
    slow = env.from_source(ScriptedSource([("mark_idle",)], [("collect", "slow", 50)], []), strategy, "slow")
    fast = env.from_source(
        ScriptedSource([("emit_watermark", 10)], [], [("emit_watermark", 20), ("collect", "fast", 25)], []),
        strategy,
        "fast",
    )
    result = job.collect(slow.union(fast).process(Stamps()))
    job.run()
    assert {value: watermark for value, _, watermark in result} == {"slow": 10, "fast": 10}


def test_a_batch_with_the_wrong_number_of_timestamps() -> None:
    with pytest.raises(JobExecutionError, match="2 records but 1 timestamps"):
        read([("collect_batch", [1, 2], [1])])


def test_a_reader_must_return_a_status() -> None:
    class Wrong(Reader):
        def poll_next(self, output: ReaderOutput) -> Any:
            return None

    class WrongSource(ScriptedSource):
        def create_reader(self, context: SourceReaderContext) -> Reader:
            return Wrong(context)

    env, job = program(1)
    job.collect(env.from_source(WrongSource([]), WatermarkStrategy.no_watermarks(), "wrong"))
    with pytest.raises(
        JobExecutionError, match=r"'Source: wrong'.*Wrong.poll_next returned None; it must return an Inp"
    ):
        job.run()


def test_epochs_cut_a_source_at_the_record() -> None:
    env, job = program(1, max_records=7)
    result = job.collect(env.from_collection(range(30)))
    job.start()
    sizes = [0]
    while not job.finished:
        job.step()
        sizes.append(len(result))
    job.close()
    assert sizes == [0, 7, 14, 21, 28, 30]


def test_a_source_without_readers_work_ends_at_once() -> None:
    env, job = program(4)
    result = job.collect(env.from_collection([]))
    other = job.collect(env.from_sequence(1, 2))
    job.run()
    assert (result, sorted(other)) == ([], [1, 2])
