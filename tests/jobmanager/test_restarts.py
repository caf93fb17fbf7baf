"""Whole jobs that fail and go on, in this process."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from spry.common.errors import JobExecutionError, UnpicklableError
from spry.common.job_client import JobClient
from spry.common.job_status import JobStatus
from spry.common.plan import SlotReport
from spry.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from spry.datastream.state import ListStateDescriptor, ValueStateDescriptor
from spry.jobmanager import job_master
from tests import journal
from tests.in_process_spark import Crashes, in_process, run_job
from tests.local_job import new_environment

COUNT = 10_000


def environment(parallelism: int = 2, **options: str) -> StreamExecutionEnvironment:
    env = new_environment(parallelism)
    settings = {
        "spry.progress": "none",
        "spry.epoch.max-records": "20",
        "execution.checkpointing.interval": "10 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000",
        "restart-strategy.fixed-delay.delay": "0 ms",
        **{key.replace("__", ".").replace("_", "-"): value for key, value in options.items()},
    }
    for key, value in settings.items():
        env.get_configuration().set_string(key, value)
    return env


@pytest.fixture(autouse=True)
def empty_journal() -> None:
    journal.reset()


class Fails(MapFunction):
    """Fails at its n-th record, in as many attempts as it is told; notes its attempts."""

    def __init__(self, at: int, times: int) -> None:
        self.at, self.times = at, times
        self.seen = 0

    def open(self, runtime_context: Any) -> None:
        self.context = runtime_context
        self.count = runtime_context.get_long_counter("records")
        journal.note(runtime_context.get_attempt_number())

    def map(self, value: int) -> int:
        self.seen += 1
        self.count.add(1)
        if self.seen == self.at and self.context.get_attempt_number() < self.times:
            raise ValueError(f"{value} is too much")
        return value


def wait_for(client: JobClient, *statuses: JobStatus) -> None:
    deadline = time.monotonic() + 20
    while client.get_job_status().result() not in statuses:
        assert time.monotonic() < deadline, client.get_job_status().result()
        time.sleep(0.002)


STRATEGIES = {
    "fixed-delay": {"fixed-delay.attempts": "2", "fixed-delay.delay": "1 ms"},
    "failure-rate": {
        "failure-rate.max-failures-per-interval": "2",
        "failure-rate.failure-rate-interval": "1 h",
        "failure-rate.delay": "1 ms",
    },
    "exponential-delay": {
        "exponential-delay.initial-backoff": "1 ms",
        "exponential-delay.max-backoff": "2 ms",
        "exponential-delay.attempts-before-reset-backoff": "2",
    },
}


@pytest.mark.parametrize("kind", STRATEGIES)
@pytest.mark.parametrize("failures", [2, 3])
def test_every_strategy_restarts_a_job_as_often_as_it_says(kind: str, failures: int) -> None:
    env = environment(1)
    for key, value in {"type": kind, **STRATEGIES[kind]}.items():
        env.get_configuration().set_string(f"restart-strategy.{key}", value)
    env.from_sequence(1, 100).map(Fails(5, failures)).add_sink(lambda value: None)
    if failures == 3:
        with pytest.raises(JobExecutionError, match="is too much"):
            run_job(env)
    else:
        assert run_job(env).restarts == 2
    assert journal.reset() == [0, 1, 2], "functions learn which attempt it is"


def test_without_checkpoints_nothing_is_restarted() -> None:
    env = new_environment(1)
    env.get_configuration().set_string("spry.progress", "none")
    env.from_sequence(1, 10).map(Fails(5, 1)).add_sink(lambda value: None)
    with pytest.raises(JobExecutionError, match="5 is too much"):
        run_job(env)
    assert journal.reset() == [0]


def test_with_checkpoints_jobs_are_restarted_by_default() -> None:
    env = new_environment(1)
    env.get_configuration().set_string("spry.progress", "none")
    env.enable_checkpointing(50)
    env.from_sequence(1, 10).map(Fails(5, 1)).add_sink(lambda value: None)
    started = time.monotonic()
    assert run_job(env).restarts == 1
    assert time.monotonic() - started > 0.85, "after a second"


def test_without_checkpoints_a_strategy_starts_from_the_beginning() -> None:
    env = environment(1)
    env.get_configuration().set_string("execution.checkpointing.interval", "0 ms")
    env.from_sequence(1, 50).map(Fails(5, 1)).map(lambda v: v).add_sink(journal.note)
    run_job(env)
    noted = journal.reset()
    assert [n for n in noted if n != 0][-50:] == list(range(1, 51))


def test_a_restart_is_seen_from_outside_and_questions_do_not_cut_it_short() -> None:
    env = environment(1)
    env.get_configuration().set_string("restart-strategy.fixed-delay.delay", "700 ms")
    env.from_sequence(1, 100).map(Fails(5, 1)).map(lambda v: time.sleep(0.01) or v).add_sink(lambda value: None)
    with in_process():
        client = env.execute_async("job")
        wait_for(client, JobStatus.RESTARTING)
        started = time.monotonic()
        answer = client.query_state("nothing", 1)
        wait_for(client, JobStatus.RUNNING)
        assert time.monotonic() - started > 0.4
        with pytest.raises(Exception, match="no queryable state 'nothing'"):
            answer.result(10)
        result = client.get_job_execution_result().result(20)
    assert client.get_metrics()["job.restarts"] == 1
    assert result.get_accumulator_result("records") == 100, "of the attempt that got to the end"


def test_a_job_that_waits_for_its_restart_can_be_cancelled() -> None:
    env = environment(1)
    env.get_configuration().set_string("restart-strategy.fixed-delay.delay", "1 h")
    env.from_sequence(1, 100).map(Fails(5, 1)).add_sink(lambda value: None)
    with in_process():
        client = env.execute_async("job")
        wait_for(client, JobStatus.RESTARTING)
        with pytest.raises(Exception, match="RESTARTING: savepoints can be taken of running jobs"):
            client.trigger_savepoint("/tmp")
        client.cancel().result(10)
        assert client.get_job_status().result() is JobStatus.CANCELED


def test_what_cannot_be_sent_to_slots_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    env = environment(1)
    env.from_sequence(1, 10).map(Fails(5, 1)).add_sink(lambda value: None)

    def refuse(self: Any) -> list[SlotReport]:
        raise UnpicklableError("operator 'x' cannot be sent")

    monkeypatch.setattr("tests.in_process_spark._InProcessSpark.deploy", refuse)
    with pytest.raises(UnpicklableError):
        run_job(env)


# Collected records


class Doubles(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


@pytest.mark.parametrize("seed", range(6))
def test_collected_records_come_once_however_often_the_job_restarts(seed: int) -> None:
    env = environment()
    stream = env.from_sequence(1, COUNT).key_by(lambda n: n % 10).process(Doubles())
    crashes = Crashes(seed, 0.008, 30)
    with in_process(crashes):
        collected = sorted(stream.execute_and_collect())
    assert crashes.count > 0
    expected = sorted((n, (n - 1) // 10 + 1 if n % 10 else n // 10) for n in range(1, COUNT + 1))
    assert [value for value, _ in collected] == list(range(1, COUNT + 1))
    assert Counter(count for _, count in collected) == Counter(count for _, count in expected)


def test_with_at_least_once_collected_records_may_come_again() -> None:
    env = environment(2)
    env.get_configuration().set_string("execution.checkpointing.mode", "AT_LEAST_ONCE")
    crashes = Crashes(3, 0.008, 10)
    with in_process(crashes):
        collected = list(env.from_sequence(1, COUNT).rebalance().map(lambda n: n).execute_and_collect())
    assert crashes.count > 0
    assert set(collected) == set(range(1, COUNT + 1)) and len(collected) > COUNT


def test_what_slots_have_left_over_when_they_are_closed_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slot that has not heard of another's end gives what it had collected when it is closed."""
    from tests.in_process_spark import _InProcessSpark

    held: list[SlotReport] = []
    run_epoch, close = _InProcessSpark.run_epoch, _InProcessSpark.close

    def run(self: Any, command: Any, description: str) -> list[SlotReport]:
        reports = run_epoch(self, command, description)
        if command.epoch == 4 and command.attempt == 0:
            held.extend(reports)
            raise job_master.SlotLostError("slot 1 died")
        return reports

    def closed(self: Any, for_good: bool = True) -> list[SlotReport]:
        kept, held[:] = list(held), []
        return [*kept, *close(self, for_good)]

    monkeypatch.setattr(_InProcessSpark, "run_epoch", run)
    monkeypatch.setattr(_InProcessSpark, "close", closed)
    env = environment(1)
    with in_process():
        assert list(env.from_sequence(1, 500).execute_and_collect()) == list(range(1, 501))


def test_a_checkpoint_that_slots_have_not_heard_of_yet_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver fails between the completion of a checkpoint and the epoch that would have said so."""
    failed = []
    discover = job_master.SourceCoordinator.discover
    masters = []
    start = job_master.JobMaster.start
    monkeypatch.setattr(job_master.JobMaster, "start", lambda self: (masters.append(self), start(self))[1])

    def fail(self: Any) -> None:
        if masters[0].checkpoints._announce and len(failed) < 3:
            failed.append(1)
            raise RuntimeError("between epochs")
        discover(self)

    monkeypatch.setattr(job_master.SourceCoordinator, "discover", fail)
    env = environment(1)
    with in_process():
        assert list(env.from_sequence(1, COUNT).execute_and_collect()) == list(range(1, COUNT + 1))
    assert failed


# What cannot be helped by a restart


class Remembers(KeyedProcessFunction):
    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor

    def open(self, runtime_context: Any) -> None:
        is_list = isinstance(self.descriptor, ListStateDescriptor)
        get = runtime_context.get_list_state if is_list else runtime_context.get_state
        self.state = get(self.descriptor)

    def process_element(self, value: int, ctx: Any) -> None:
        if isinstance(self.descriptor, ListStateDescriptor):
            self.state.add(value)
        else:
            self.state.update(value)


def test_state_of_another_kind_is_refused_at_once(tmp_path: Path) -> None:
    def job(descriptor: Any, start: str | None = None) -> StreamExecutionEnvironment:
        env = environment(1)
        env.get_configuration().set_string("execution.checkpointing.dir", str(tmp_path))
        env.get_configuration().set_string(
            "execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION"
        )
        if start is not None:
            env.get_configuration().set_string("execution.state-recovery.path", start)
        source = env.from_sequence(1, 100_000_000 if start is None else 10).uid("source")
        source.key_by(lambda n: n % 3).process(Remembers(descriptor)).uid("remembers").add_sink(lambda value: None)
        return env

    with in_process():
        client = job(ValueStateDescriptor("it")).execute_async("first")
        wait_for_checkpoint(client)
        client.cancel().result(10)
    with pytest.raises(JobExecutionError, match=r"StateMigrationError: .*'it'") as caught:
        run_job(job(ListStateDescriptor("it"), str(next(tmp_path.iterdir()))))
    assert caught.value.failure.final


def wait_for_checkpoint(client: JobClient) -> None:
    deadline = time.monotonic() + 20
    while not client.get_metrics()["job.checkpoints.completed"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_enumerators_are_closed_once_per_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = Counter[int]()
    close = job_master.SourceCoordinator.close

    def counted(self: Any) -> None:
        closed[id(self)] += 1
        keep.append(self)
        close(self)

    keep: list[Any] = []
    monkeypatch.setattr(job_master.SourceCoordinator, "close", counted)
    env = environment(1)
    env.get_configuration().set_string("restart-strategy.fixed-delay.delay", "1 h")
    env.from_sequence(1, 100).map(Fails(5, 1)).add_sink(lambda value: None)
    with in_process():
        client = env.execute_async("job")
        wait_for(client, JobStatus.RESTARTING)
        threading.Event().wait(0.05)
        client.cancel().result(10)
    assert list(closed.values()) == [1]
