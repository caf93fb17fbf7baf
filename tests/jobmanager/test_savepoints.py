"""Whole jobs that are saved, stopped, and gone on from, in this process; and questions that running jobs answer."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spry.common.checkpoint import CheckpointedFunction, ListCheckpointed
from spry.common.errors import CheckpointError, ExecutionError, JobExecutionError
from spry.common.job_client import JobClient
from spry.common.job_status import JobStatus
from spry.datastream import (
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    QueryableStateClient,
    SourceFunction,
    StreamExecutionEnvironment,
)
from spry.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from tests import journal
from tests.in_process_spark import Crashes, in_process
from tests.local_job import new_environment

COUNT = 4000


def environment(parallelism: int = 1, options: dict[str, str] | None = None, **more: Any) -> StreamExecutionEnvironment:
    env = new_environment(parallelism, **more)
    for key, value in {"spry.progress": "none", "spry.epoch.max-records": "50", **(options or {})}.items():
        env.get_configuration().set_string(key, value)
    return env


def start_from(path: str, ignore: bool = False) -> dict[str, str]:
    return {
        "execution.state-recovery.path": path,
        "execution.state-recovery.ignore-unclaimed-state": str(ignore).lower(),
    }


@pytest.fixture(autouse=True)
def jobs_in_this_process() -> Iterator[None]:
    journal.reset()
    with in_process():
        yield


class Numbers(SourceFunction, ListCheckpointed):
    """Counts up to an end; waits at the middle until it is let go on."""

    paused = True

    def __init__(self, end: int = COUNT) -> None:
        self.end, self.next, self.running = end, 0, True

    def run(self, ctx: Any) -> None:
        while self.running and self.next < self.end:
            if self.next == self.end // 2 and type(self).paused and not journal.ENTRIES.count("go"):
                time.sleep(0.001)
                continue
            with ctx.get_checkpoint_lock():
                ctx.collect_with_timestamp(self.next, self.next)
                self.next += 1

    def cancel(self) -> None:
        self.running = False

    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[int]:
        return [self.next]

    def restore_state(self, state: list[int]) -> None:
        self.next = max(state, default=0)


class Count(KeyedProcessFunction):
    def __init__(self, name: str = "count", query: str | None = None) -> None:
        self.name, self.query = name, query

    def open(self, runtime_context: Any) -> None:
        descriptor = ValueStateDescriptor(self.name)
        if self.query:
            descriptor.set_queryable(self.query)
        self.count = runtime_context.get_state(descriptor)

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


def counting(env: StreamExecutionEnvironment, **more: Any) -> DataStream:
    source = env.add_source(Numbers()).set_parallelism(1).uid("numbers")
    return source.key_by(lambda n: n % 7).process(Count(**more)).uid("count")


def noted() -> list[Any]:
    return [entry for entry in journal.ENTRIES if entry != "go"]


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def half_done(env: StreamExecutionEnvironment) -> JobClient:
    client = env.execute_async("counting")
    wait_until(lambda: len(noted()) >= COUNT // 2)
    return client


def go_on() -> None:
    journal.note("go")


EXPECTED = sorted((n, n // 7 + 1) for n in range(COUNT))


# Saving and stopping


@pytest.mark.parametrize("chaining", [True, False])
@pytest.mark.parametrize("native", [True, False])
def test_a_savepoint_of_a_job_that_goes_on(tmp_path: Path, native: bool, chaining: bool) -> None:
    from spry.common.state_choices import SavepointFormatType

    env = environment(1)
    counting(env).add_sink(journal.note)
    client = half_done(env)
    kind = SavepointFormatType.NATIVE if native else SavepointFormatType.CANONICAL
    path = client.trigger_savepoint(str(tmp_path), kind).result(10)
    assert client.get_job_status().result() is JobStatus.RUNNING
    go_on()
    client.get_job_execution_result().result(20)
    assert sorted(noted()) == EXPECTED
    shutil.move(path, tmp_path / "moved")

    journal.reset()
    go_on()
    env = environment(1, start_from(str(tmp_path / "moved")), chaining=chaining)
    counting(env).add_sink(journal.note)
    env.execute()
    assert sorted(noted()) == EXPECTED[COUNT // 2 :]


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("checkpoints", [True, False])
def test_stop_and_go_on(tmp_path: Path, checkpoints: bool, parallelism: int) -> None:
    options = {"execution.checkpointing.interval": "10 ms"} if checkpoints else {}
    env = environment(parallelism, {**options, "execution.checkpointing.savepoint-dir": str(tmp_path)})
    counting(env).add_sink(journal.note)
    client = half_done(env)
    path = client.stop_with_savepoint(False).result(10)
    assert client.get_job_status().result() is JobStatus.FINISHED
    client.get_job_execution_result().result(0)
    assert sorted(noted()) == EXPECTED[: COUNT // 2]
    go_on()
    env = environment(3 - parallelism, {**options, **start_from(path)})
    counting(env).add_sink(journal.note)
    env.execute()
    assert sorted(noted()) == EXPECTED


class AtTheEnd(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: int, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(10**9)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int]]:
        yield ctx.get_current_key(), self.count.value()


@pytest.mark.parametrize("drain", [True, False])
def test_draining_lets_timers_fire(tmp_path: Path, drain: bool) -> None:
    env = environment(2)
    source = env.add_source(Numbers()).set_parallelism(1).uid("numbers")
    source.map(lambda n: journal.note(n) or n).key_by(lambda n: n % 2).process(AtTheEnd()).add_sink(
        lambda value: journal.note(("fired", value))
    )
    client = half_done(env)
    client.stop_with_savepoint(drain, str(tmp_path)).result(10)
    fired = [entry[1] for entry in noted() if isinstance(entry, tuple)]
    assert sorted(fired) == ([(0, COUNT // 4), (1, COUNT // 4)] if drain else [])
    assert client.get_job_status().result() is JobStatus.FINISHED


def test_a_stop_that_fails_leaves_the_job_running(tmp_path: Path) -> None:
    env = environment(1)
    counting(env).add_sink(journal.note)
    client = half_done(env)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="savepoint 1 failed"):
        client.stop_with_savepoint(False, str(tmp_path / "file")).result(10)
    assert client.get_job_status().result() is JobStatus.RUNNING
    with pytest.raises(CheckpointError, match="savepoint 2 failed"):
        client.trigger_savepoint(str(tmp_path / "file")).result(10)
    go_on()
    client.get_job_execution_result().result(20)
    assert sorted(noted()) == EXPECTED


def test_a_drain_that_fails_goes_back_to_the_last_checkpoint(tmp_path: Path) -> None:
    env = environment(1, {"execution.checkpointing.interval": "10 ms"})
    env.get_configuration().set_string("restart-strategy.type", "fixed-delay")
    env.get_configuration().set_string("restart-strategy.fixed-delay.delay", "1 ms")
    counting(env).add_sink(lambda value: journal.note(value))
    client = half_done(env)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"savepoint \d+ failed"):
        client.stop_with_savepoint(True, str(tmp_path / "file")).result(10)
    go_on()
    client.get_job_execution_result().result(20)
    assert client.get_metrics()["job.restarts"] == 1
    assert set(noted()) == set(EXPECTED)


def test_savepoints_at_the_wrong_time(tmp_path: Path) -> None:
    env = environment(1)
    counting(env).add_sink(journal.note)
    client = half_done(env)
    with pytest.raises(CheckpointError, match="no directory for the savepoint"):
        client.trigger_savepoint()
    stopped = client.stop_with_savepoint(False, str(tmp_path))
    late = []
    with contextlib.suppress(CheckpointError):
        late.append(client.trigger_savepoint(str(tmp_path)))
    assert Path(stopped.result(10)).exists()
    for one in late:
        with contextlib.suppress(CheckpointError):
            one.result(10)
    with pytest.raises(CheckpointError, match="'counting' is FINISHED"):
        client.trigger_savepoint(str(tmp_path))
    with pytest.raises(CheckpointError, match="'counting' is FINISHED"):
        client.stop_with_savepoint(False, str(tmp_path))


def test_savepoints_while_a_job_ends_do_not_keep_it(tmp_path: Path) -> None:
    env = environment(1, {"execution.checkpointing.interval": "10 ms"})
    counting(env).add_sink(journal.note)
    client = half_done(env)
    go_on()
    asked = []
    with contextlib.suppress(ExecutionError):
        while not client.get_job_status().result().is_terminal_state():
            asked.append(client.trigger_savepoint(str(tmp_path)))
            time.sleep(0.005)
    client.get_job_execution_result().result(20)
    for one in asked:
        with contextlib.suppress(CheckpointError):
            assert Path(one.result(1)).exists()
    assert sorted(noted()) == EXPECTED


def test_there_are_no_savepoints_in_batch_mode(tmp_path: Path) -> None:
    env = environment(1, batch=True)
    env.from_sequence(1, 10).map(lambda n: time.sleep(0.05) or n).add_sink(journal.note)
    client = env.execute_async()
    wait_until(lambda: client.get_job_status().result() is not JobStatus.CREATED)
    with pytest.raises(CheckpointError, match="batch mode, in which there are no savepoints"):
        client.trigger_savepoint(str(tmp_path))
    client.get_job_execution_result().result(20)


# What a savepoint is gone on from with


@pytest.fixture
def savepoint(tmp_path: Path) -> str:
    env = environment(2)
    counting(env).set_max_parallelism(16).add_sink(journal.note)
    path = half_done(env).stop_with_savepoint(False, str(tmp_path)).result(10)
    journal.reset()
    go_on()
    return path


def test_state_that_nobody_takes_is_listed(savepoint: str) -> None:
    env = environment(2, start_from(savepoint))
    env.add_source(Numbers()).set_parallelism(1).uid("numbers").key_by(lambda n: n % 7).process(Count()).name(
        "counting"
    ).uid("count-2").add_sink(journal.note)
    with pytest.raises(CheckpointError) as caught:
        env.execute()
    text = str(caught.value)
    assert f"{savepoint} has state that no operator of the job takes:\n  operator 'KeyedProcess' (uid 'count')" in text
    assert "'counting' (uid 'count-2')" in text and "spry run -s PATH -n" in text and "uid 'numbers'" not in text


def test_it_may_be_left_out_on_purpose(savepoint: str) -> None:
    env = environment(2, start_from(savepoint, ignore=True))
    env.add_source(Numbers()).set_parallelism(1).uid("numbers").key_by(lambda n: n % 7).process(Count()).uid(
        "count-2"
    ).add_sink(journal.note)
    env.execute()
    assert sorted(value for value, _ in noted()) == list(range(COUNT // 2, COUNT))
    assert min(count for _, count in noted()) == 1, "from nothing"


def test_the_number_of_key_groups_is_taken_over(savepoint: str) -> None:
    env = environment(5, start_from(savepoint))
    counting(env).add_sink(journal.note)
    env.execute()
    assert sorted(noted()) == EXPECTED[COUNT // 2 :]


@pytest.mark.parametrize(
    ("parallelism", "own", "message"),
    [
        (2, 32, r"operator 'KeyedProcess' has max parallelism 32, but had 16 .*set_max_parallelism\(16\)"),
        (17, None, "operator 'KeyedProcess' has parallelism 17, but its state in .* divided into 16 key groups"),
    ],
)
def test_it_cannot_be_changed(savepoint: str, parallelism: int, own: int | None, message: str) -> None:
    env = environment(parallelism, start_from(savepoint))
    stream = counting(env)
    if own is not None:
        stream.set_max_parallelism(own)
    stream.add_sink(journal.note)
    with pytest.raises(CheckpointError, match=message):
        env.execute()


def test_operators_may_be_added_and_chained_otherwise(savepoint: str) -> None:
    env = environment(2, start_from(savepoint), chaining=False)
    source = env.add_source(Numbers()).set_parallelism(1).uid("numbers").map(lambda n: n).set_parallelism(1)
    counted = source.key_by(lambda n: n % 7).process(Count()).uid("count")
    counted.key_by(lambda pair: pair[0] % 3).process(Count("new")).uid("new").map(lambda pair: pair[0]).add_sink(
        journal.note
    )
    env.execute()
    assert sorted(noted()) == EXPECTED[COUNT // 2 :]


# A savepoint that is damaged


def test_a_missing_file_is_named(savepoint: str) -> None:
    [file, *_] = sorted(path for path in Path(savepoint).iterdir() if path.name != "_metadata")
    data = file.read_bytes()
    for contents in (None, data[:-20], data[:30] + b"????" + data[34:]):
        file.unlink() if contents is None else file.write_bytes(contents)
        env = environment(2, start_from(savepoint))
        counting(env).add_sink(journal.note)
        with pytest.raises(JobExecutionError, match=str(file)):
            env.execute()


@pytest.mark.parametrize("what", ["metadata", "state"])
def test_of_a_damaged_checkpoint_the_one_before_is_tried(tmp_path: Path, what: str, capsys: Any) -> None:
    options = {
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": str(tmp_path),
        "execution.checkpointing.num-retained": "3",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "execution.checkpointing.data-inline-threshold": "0",
    }
    env = environment(1, options)
    counting(env).add_sink(journal.note)
    client = half_done(env)
    wait_until(lambda: client.get_metrics()["job.checkpoints.completed"] > 6)
    client.cancel().result(10)
    [job] = tmp_path.iterdir()
    newest = max(job.glob("chk-*"), key=lambda path: int(path.name[4:]))
    victims = [newest / "_metadata"] if what == "metadata" else list(newest.glob("slot-*"))
    for victim in victims:
        victim.write_bytes(victim.read_bytes()[:-10])
    journal.reset()
    go_on()
    env = environment(1, {**options, **start_from(str(job)), "spry.progress": "log", "restart-strategy.type": "none"})
    counting(env).add_sink(journal.note)
    env.execute()
    assert sorted(noted())[-1] == EXPECTED[-1]
    assert set(noted()) <= set(EXPECTED)
    said = capsys.readouterr().err
    assert str(victims[0]) in said and f"{job}/chk-{int(newest.name[4:]) - 1}" in said


# Questions


def test_questions(tmp_path: Path) -> None:
    env = environment(2, {"queryable-state.enable": "true"})
    counting(env, query="counts").add_sink(journal.note)
    client = half_done(env)
    assert client.query_state("counts", 3).result(10) == len([n for n in range(COUNT // 2) if n % 7 == 3])
    assert client.query_state("counts", 99).result(10) is None
    with pytest.raises(ExecutionError, match="no queryable state 'count'"):
        client.query_state("count", 3).result(10)
    with pytest.raises(ExecutionError, match=r"list.*cannot be hashed"):
        client.query_state("counts", [3]).result(10)
    with pytest.raises(TypeError, match="pickle"):
        client.query_state("counts", (n for n in range(3)))

    outside = QueryableStateClient()
    assert outside.get_kv_state(client.get_job_id(), "counts", 3).result(10) == 286
    assert outside.get_kv_state("counting", "counts", 99).result(10) is None
    with pytest.raises(ExecutionError, match="no queryable state 'nothing'"):
        outside.get_kv_state("counting", "nothing", 3).result(10)
    go_on()
    client.get_job_execution_result().result(20)
    assert sorted(noted()) == EXPECTED, "no question has harmed the job"
    with pytest.raises(ExecutionError, match="'counting' has ended"):
        client.query_state("counts", 3)
    with pytest.raises(ExecutionError, match="no running job 'counting'"):
        outside.get_kv_state("counting", "counts", 3)


def test_questions_to_streams_that_are_kept(tmp_path: Path) -> None:
    env = environment(2, {"queryable-state.enable": "true"})
    source = env.add_source(Numbers()).set_parallelism(1).map(lambda n: journal.note(n) or n).set_parallelism(1)
    keyed = source.key_by(lambda n: n % 7)
    keyed.as_queryable_state("latest")
    keyed.as_queryable_state("sum", ReducingStateDescriptor("sum", lambda a, b: a + b))
    client = half_done(env)
    mine = [n for n in range(COUNT // 2) if n % 7 == 5]
    wait_until(lambda: client.query_state("latest", 5).result(10) == mine[-1])
    assert client.query_state("sum", 5).result(10) == sum(mine)
    client.cancel().result(10)


def test_a_question_during_a_restart_is_answered_after_it() -> None:
    class Breaks(MapFunction):
        def open(self, runtime_context: Any) -> None:
            self.attempt = runtime_context.get_attempt_number()

        def map(self, value: int) -> int:
            if "break" in journal.ENTRIES and self.attempt == 0:
                raise ValueError("broken")
            return value

    env = environment(
        1,
        {
            "execution.checkpointing.interval": "10 ms",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.delay": "300 ms",
            "queryable-state.enable": "true",
        },
    )
    source = env.add_source(Numbers()).map(Breaks())
    source.key_by(lambda n: n % 7).process(Count(query="counts")).add_sink(journal.note)
    client = half_done(env)
    wait_until(lambda: client.get_metrics()["job.checkpoints.completed"] > 2)
    journal.note("break")
    go_on()
    wait_until(lambda: client.get_job_status().result() is JobStatus.RESTARTING)
    answer = client.query_state("counts", 3)
    assert answer.result(10) >= 285
    client.get_job_execution_result().result(20)


# States of every kind, at another parallelism


class All(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))
        self.by = runtime_context.get_map_state(MapStateDescriptor("by"))
        self.total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", lambda a, b: a + b))

    def process_element(self, value: int, ctx: Any) -> None:
        self.seen.add(value)
        self.by[value % 2] = (self.by[value % 2] or 0) + 1 if value % 2 in self.by else 1
        self.total.add(value)
        ctx.timer_service().register_event_time_timer(10**9)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield "end", ctx.get_current_key(), len(list(self.seen.get())), sorted(self.by.items()), self.total.get()


class Buffers(MapFunction, CheckpointedFunction):
    """Keeps a list of its own, and one that all see."""

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.own = store.get_list_state(ListStateDescriptor("own"))
        self.all = store.get_union_list_state(ListStateDescriptor("all"))
        self.held = list(self.own.get())
        journal.note(("initialized", len(self.held), sorted(self.all.get())))

    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value: int) -> int:
        self.held.append(value)
        return value

    def snapshot_state(self, context: Any) -> None:
        self.own.update(self.held)
        self.all.update([self.subtask])

    def close(self) -> None:
        journal.note(("held", list(self.held)))


def everything(env: StreamExecutionEnvironment) -> None:
    source = env.add_source(Numbers()).set_parallelism(1).uid("numbers")
    noted_source = source.map(lambda n: journal.note(n) or n).set_parallelism(1)
    noted_source.rebalance().map(Buffers()).uid("buffers").key_by(lambda n: n % 11).process(All()).uid("all").add_sink(
        journal.note
    )


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (3, 2)])
def test_rescaling(tmp_path: Path, before: int, after: int) -> None:
    env = environment(before)
    everything(env)
    client = env.execute_async("everything")
    wait_until(lambda: len([n for n in noted() if isinstance(n, int)]) >= COUNT // 2)
    path = client.stop_with_savepoint(False, str(tmp_path)).result(10)
    journal.reset()
    go_on()
    env = environment(after, start_from(path))
    everything(env)
    env.execute()
    entries = [entry for entry in noted() if isinstance(entry, tuple)]
    started = [entry for entry in entries if entry[0] == "initialized"]
    assert len(started) == after
    assert sum(count for _, count, _ in started) == COUNT // 2
    assert max(c for _, c, _ in started) - min(c for _, c, _ in started) <= 1, "evenly"
    assert all(union == list(range(before)) for _, _, union in started)
    assert Counter(n for kind, *rest in entries if kind == "held" for n in rest[0]) == Counter(range(COUNT))
    ends = {key: rest for kind, key, *rest in (e for e in entries if e[0] == "end")}
    for key in range(11):
        mine = [n for n in range(COUNT) if n % 11 == key]
        even = sum(n % 2 == 0 for n in mine)
        assert ends[key] == [len(mine), [(0, even), (1, len(mine) - even)], sum(mine)]


# Slots that die while all this goes on


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mode", ["EXACTLY_ONCE", "AT_LEAST_ONCE", "unaligned"])
def test_every_mode_gives_state_that_is_exact(seed: int, mode: str) -> None:
    """Barriers are the ends of epochs: no record overtakes one, whatever the mode."""
    options = {
        "execution.checkpointing.interval": "10 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        "restart-strategy.fixed-delay.delay": "0 ms",
    }
    if mode == "unaligned":
        options["execution.checkpointing.unaligned.enabled"] = "true"
    else:
        options["execution.checkpointing.mode"] = mode
    crashes = Crashes(seed, 0.008, 15)
    go_on()
    env = environment(2, options)
    everything(env)
    with in_process(crashes):
        env.execute()
    assert crashes.count > 0
    ends = {entry[1]: entry[2:] for entry in noted() if isinstance(entry, tuple) and entry[0] == "end"}
    for key in range(11):
        mine = [n for n in range(COUNT) if n % 11 == key]
        assert ends[key][0] == len(mine) and ends[key][2] == sum(mine)


# RocksDB


@pytest.mark.parametrize("url", ["", "file://"])
def test_incremental_checkpoints_keep_what_they_need_and_nothing_else(tmp_path: Path, url: str) -> None:
    from spry.runtime.checkpoints.metadata import load_metadata

    options = {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": f"{url}{tmp_path}/c",
        "execution.checkpointing.num-retained": "2",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        "restart-strategy.fixed-delay.delay": "0 ms",
    }
    env = environment(2, options)
    counting(env).add_sink(journal.note)
    with in_process(Crashes(1, 0.008, 5)):
        client = half_done(env)
        done = client.get_metrics()["job.checkpoints.completed"]
        wait_until(lambda: client.get_metrics()["job.checkpoints.completed"] > done + 3)
        client.cancel().result(10)
    [job] = (tmp_path / "c").iterdir()
    kept = [load_metadata(str(path)) for path in job.glob("chk-*")]
    assert len(kept) == 2
    for checkpoint in kept:
        files = [file for handle in checkpoint.files if handle.database for file in handle.database["files"]]
        assert files
        for _, path, size in files:
            assert (Path(str(checkpoint.directory)) / path).stat().st_size == size
    needed = {path.rpartition("/")[2] for checkpoint in kept for path in checkpoint.shared_files()}
    there = {path.name for path in (job / "shared").iterdir()}
    assert needed <= there and len(there) <= len(needed) + 30, "but for those of checkpoints that were given up"

    journal.reset()
    go_on()
    env = environment(3, {**options, **start_from(str(job))})
    counting(env).add_sink(journal.note)
    env.execute()
    assert sorted(noted()) == EXPECTED[COUNT // 2 :]
    assert {path.name for path in (tmp_path / "c").iterdir()} == {job.name}, "the second job has tidied up"
    assert {path.name for path in (job / "shared").iterdir()} == there, "what it does not own it leaves alone"
