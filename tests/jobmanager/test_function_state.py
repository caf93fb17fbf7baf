"""What functions do for checkpoints, in whole jobs in this process: their state, sources, and what they are told."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spry.common.checkpoint import CheckpointedFunction, CheckpointListener, ListCheckpointed
from spry.datastream import KeyedProcessFunction, MapFunction, SinkFunction, SourceFunction, StreamExecutionEnvironment
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from tests import journal
from tests.in_process_spark import Crashes, in_process, run_job
from tests.local_job import new_environment

COUNT = 6000


def environment(parallelism: int = 1, **options: str) -> StreamExecutionEnvironment:
    env = new_environment(parallelism)
    for key, value in {
        "spry.progress": "none",
        "spry.epoch.max-records": "50",
        "execution.checkpointing.interval": "10 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        "restart-strategy.fixed-delay.delay": "0 ms",
        **options,
    }.items():
        env.get_configuration().set_string(key, value)
    return env


@pytest.fixture(autouse=True)
def empty_journal() -> None:
    journal.reset()


# The life of a function


class Lives(MapFunction, CheckpointedFunction, CheckpointListener):
    """Notes what happens to it; dies once."""

    def initialize_state(self, context: Any) -> None:
        journal.note(("initialize", context.is_restored(), context.get_restored_checkpoint_id() is not None))
        self.raw = [stream.read() for stream in context.get_raw_operator_state_inputs()]
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("count"))
        self.count = sum(self.state.get())
        self.broadcast = context.get_operator_state_store().get_broadcast_state(MapStateDescriptor("rules"))

    def open(self, runtime_context: Any) -> None:
        self.attempt = runtime_context.get_attempt_number()
        journal.note(("open", self.count > 0, len(self.raw)))

    def map(self, value: int) -> int:
        self.count += 1
        self.broadcast.put("latest", value)
        if value == COUNT // 2 and self.attempt == 0:
            raise ValueError("once")
        return value

    def snapshot_state(self, context: Any) -> None:
        journal.note(("snapshot", context.get_checkpoint_id()))
        assert abs(context.get_checkpoint_timestamp() - time.time() * 1000) < 60_000
        self.state.update([self.count])
        output = context.get_raw_operator_state_output()
        for part in (b"one", b"two"):
            output.start_new_partition()
            output.write(part)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        journal.note(("complete", checkpoint_id))

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        journal.note(("aborted", checkpoint_id))

    def close(self) -> None:
        journal.note(("close", self.count, self.raw, dict(self.broadcast.items())))


def slowly(value: int) -> int:
    if value % 100 == 0:
        time.sleep(0.002)
    return value


def test_the_life_of_a_checkpointed_function() -> None:
    env = environment()
    env.from_sequence(1, COUNT).map(slowly).map(Lives()).add_sink(lambda value: None)
    master = run_job(env)
    assert master.restarts == 1
    entries = journal.reset()
    assert entries[:2] == [("initialize", False, False), ("open", False, 0)]
    second = entries.index(("initialize", True, True))
    assert entries[second - 1][0] == "close"
    assert entries[second + 1] == ("open", True, 2)
    assert entries[-1] == ("close", COUNT, [b"one", b"two"], {"latest": COUNT})
    for attempt in (entries[:second], entries[second:]):
        taken = [entry[1] for entry in attempt if entry[0] == "snapshot"]
        complete = [entry[1] for entry in attempt if entry[0] == "complete"]
        assert taken == sorted(set(taken)) and complete == sorted(set(complete))
        assert complete and set(complete) <= set(taken)
    assert entries[-2] == ("complete", max(e[1] for e in entries if e[0] == "snapshot")), "the last is told of, too"


def test_functions_hear_of_checkpoints_that_were_given_up() -> None:
    class Refuses(MapFunction, CheckpointedFunction):
        def initialize_state(self, context: Any) -> None:
            self.times = 0

        def map(self, value: int) -> int:
            return value

        def snapshot_state(self, context: Any) -> None:
            self.times += 1
            if self.times % 2:
                raise RuntimeError("not now")

    env = environment(**{"execution.checkpointing.tolerable-failed-checkpoints": "3"})
    env.from_sequence(1, COUNT).map(slowly).map(Lives()).map(Refuses()).add_sink(lambda value: None)
    master = run_job(env)
    assert "not now" in str(master.checkpoints.last_failure)
    entries = journal.reset()
    taken = [entry[1] for entry in entries if entry[0] == "snapshot"]
    aborted = [entry[1] for entry in entries if entry[0] == "aborted"]
    assert aborted and not set(aborted) & {entry[1] for entry in entries if entry[0] == "complete"}
    assert set(aborted) <= set(taken)


class Keyed(KeyedProcessFunction, CheckpointedFunction):
    """Asks for keyed state before it is opened."""

    def initialize_state(self, context: Any) -> None:
        self.count = context.get_keyed_state_store().get_state(ValueStateDescriptor("count"))

    def snapshot_state(self, context: Any) -> None:
        """The state is up to date."""

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


def test_keyed_state_in_initialize_state() -> None:
    env = environment(2)
    stream = env.from_sequence(1, COUNT).map(slowly).key_by(lambda n: n % 5).process(Keyed())
    crashes = Crashes(1, 0.008, 5)
    with in_process(crashes):
        collected = list(stream.execute_and_collect())
    assert crashes.count > 0
    assert Counter(collected) == Counter((key, n) for key in range(5) for n in range(1, COUNT // 5 + 1))


# Sources


class Counts(SourceFunction, ListCheckpointed):
    """Moves its position before or after it emits, under the lock; with a step of several records."""

    def __init__(self, first: bool, step: int = 1, end: int = COUNT) -> None:
        self.first, self.step, self.end, self.next = first, step, end, 0
        self.running = True

    def run(self, ctx: Any) -> None:
        while self.running and self.next < self.end:
            with ctx.get_checkpoint_lock():
                numbers = range(self.next, min(self.end, self.next + self.step))
                if self.first:
                    self.next = numbers.stop
                for number in numbers:
                    ctx.collect(number)
                    if number % 1000 == 0:
                        time.sleep(0.005)
                self.next = numbers.stop
            if numbers.stop % 200 == 0:
                time.sleep(0.001)

    def cancel(self) -> None:
        self.running = False

    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[int]:
        return [self.next]

    def restore_state(self, state: list[int]) -> None:
        [self.next] = state


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("step", [1, 7, 100])
@pytest.mark.parametrize("first", [True, False])
def test_what_a_source_does_under_the_lock_is_one_step(first: bool, step: int, seed: int) -> None:
    env = environment(1)
    stream = env.add_source(Counts(first, step)).rebalance().map(lambda n: n).set_parallelism(2)
    crashes = Crashes(seed, 0.008, 6)
    with in_process(crashes):
        assert sorted(stream.execute_and_collect()) == list(range(COUNT))
    assert crashes.count > 0


class Positions(SourceFunction, CheckpointedFunction, CheckpointListener):
    """Has its position in operator state; notes what it is told."""

    def __init__(self) -> None:
        self.next, self.running = 0, True

    def initialize_state(self, context: Any) -> None:
        self.position = context.get_operator_state_store().get_union_list_state(ListStateDescriptor("position"))
        self.next = max(self.position.get(), default=0)

    def snapshot_state(self, context: Any) -> None:
        self.position.update([self.next])

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        journal.note(("complete", checkpoint_id))

    def run(self, ctx: Any) -> None:
        while self.running and self.next < COUNT:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.next)
                self.next += 1
            if self.next % 100 == 0:
                time.sleep(0.001)

    def cancel(self) -> None:
        self.running = False


@pytest.mark.parametrize("seed", range(2))
def test_positions_in_operator_state(seed: int) -> None:
    env = environment(1)
    crashes = Crashes(seed, 0.008, 6)
    with in_process(crashes):
        assert sorted(env.add_source(Positions()).execute_and_collect()) == list(range(COUNT))
    assert crashes.count > 0
    assert journal.reset()


class Sums(SinkFunction, ListCheckpointed):
    """What it knows at its end is what it has seen, each once."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def invoke(self, value: int, context: Any) -> None:
        self.seen.append(value)

    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[int]:
        return list(self.seen)

    def restore_state(self, state: list[int]) -> None:
        self.seen = state

    def close(self) -> None:
        journal.note(self.seen)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("chaining", [True, False])
def test_a_source_that_has_finished_stays_finished(seed: int, chaining: bool) -> None:
    """One source is at its end long before the other; so are the subtasks behind it."""
    env = environment(2)
    if not chaining:
        env.disable_operator_chaining()
    short = env.from_sequence(-50, -1).map(lambda n: n)
    short.add_sink(Sums())
    long = env.add_source(Counts(False)).set_parallelism(1)
    short.union(long).add_sink(Sums()).set_parallelism(1)
    crashes = Crashes(seed, 0.008, 8)
    run_job(env, crashes)
    assert crashes.count > 0
    *_, both = sorted(journal.reset(), key=len)
    assert sorted(both) == list(range(-50, COUNT))


def test_a_savepoint_without_checkpoints_when_a_source_has_finished(tmp_path: Path) -> None:
    def job(path: str | None = None) -> StreamExecutionEnvironment:
        env = environment(1, **{"execution.checkpointing.interval": "0 ms", "restart-strategy.type": "none"})
        if path is not None:
            env.get_configuration().set_string("execution.state-recovery.path", path)
        env.from_sequence(-50, -1).uid("short").add_sink(Sums()).uid("sums")
        env.add_source(Counts(False, end=10**9 if path is None else 200)).uid("long").add_sink(lambda value: None).uid(
            "rest"
        )
        return env

    with in_process():
        client = job().execute_async("job")
        deadline = time.monotonic() + 20
        while "FINISHED" not in client.get_execution_states().values():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        path = client.stop_with_savepoint(False, str(tmp_path)).result(10)
        assert journal.reset() == [list(range(-50, 0))]
        job(path).execute("again")
    assert journal.reset() == [list(range(-50, 0))]
