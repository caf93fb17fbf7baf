"""Sources that hold their checkpoint lock for long, jobs that are drained, and functions whose input has ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spry.common.checkpoint import CheckpointedFunction, CheckpointListener, ListCheckpointed
from spry.common.errors import CheckpointError
from spry.common.job_status import JobStatus
from spry.datastream import SinkFunction, SourceFunction, StreamExecutionEnvironment
from spry.datastream.state import ListStateDescriptor
from tests import journal
from tests.in_process_spark import in_process
from tests.local_job import new_environment


@pytest.fixture(autouse=True)
def jobs_in_this_process() -> Iterator[None]:
    journal.reset()
    with in_process():
        yield


def environment(parallelism: int = 1, **options: str) -> StreamExecutionEnvironment:
    env = new_environment(parallelism)
    for key, value in {"spry.progress": "none", "spry.epoch.target-duration": "20 ms", **options}.items():
        env.get_configuration().set_string(key, value)
    return env


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def released() -> bool:
    return "release" in journal.ENTRIES


class Holds(SourceFunction):
    """Waits for its second record under the lock."""

    def run(self, ctx: Any) -> None:
        with ctx.get_checkpoint_lock():
            ctx.collect("first")
            journal.note("held")
            while not released():
                time.sleep(0.002)
            ctx.collect("second")

    def cancel(self) -> None: ...


class Ticks(SourceFunction):
    running = True

    def run(self, ctx: Any) -> None:
        n = 0
        while self.running and not released():
            ctx.collect(n)
            n += 1
            time.sleep(0.001)

    def cancel(self) -> None:
        self.running = False


class Hears(SinkFunction, CheckpointListener):
    def invoke(self, value: int, context: Any) -> None:
        journal.note(value)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None: ...

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        journal.note(("aborted", checkpoint_id))


def test_a_source_that_waits_under_the_lock_does_not_stop_the_job(tmp_path: Path) -> None:
    env = environment()
    env.add_source(Holds(), "holds").add_sink(journal.note)
    env.add_source(Ticks()).add_sink(Hears())
    client = env.execute_async()
    wait_until(lambda: "held" in journal.ENTRIES and client.get_job_status().result() is JobStatus.RUNNING)
    started = time.monotonic()
    with pytest.raises(CheckpointError, match=r"operator 'Source: holds'.*holds its checkpoint lock"):
        client.trigger_savepoint(str(tmp_path)).result(10)
    assert time.monotonic() - started < 5
    seen = len(journal.ENTRIES)
    wait_until(lambda: len(journal.ENTRIES) > seen + 10)
    assert ("aborted", 1) in journal.ENTRIES
    assert client.get_job_status().result() is JobStatus.RUNNING
    journal.note("release")
    client.get_job_execution_result().result(20)
    assert [entry for entry in journal.ENTRIES if entry in ("first", "second")] == ["first", "second"]


class Steps(SourceFunction, ListCheckpointed):
    """Emits pairs, each in one step, until it is cancelled; what it emits last says so."""

    running = True
    done = 0

    def run(self, ctx: Any) -> None:
        while self.running:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.done)
                time.sleep(0.001)
                ctx.collect(self.done)
                self.done += 1
            time.sleep(0.001)
        with ctx.get_checkpoint_lock():
            ctx.collect("bye")
            self.done += 1

    def cancel(self) -> None:
        self.running = False

    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[int]:
        journal.note(("state", self.done))
        return [self.done]

    def restore_state(self, state: list[int]) -> None: ...


class IgnoresCancel(Steps):
    def cancel(self) -> None: ...


@pytest.mark.parametrize("source", [Steps, IgnoresCancel])
def test_draining_cancels_the_function_and_takes_whole_steps(tmp_path: Path, source: Callable[[], Any]) -> None:
    env = environment()
    env.add_source(source()).add_sink(journal.note)
    client = env.execute_async()
    wait_until(lambda: journal.ENTRIES.count(20) == 2)
    client.stop_with_savepoint(True, str(tmp_path)).result(10)
    values = [entry for entry in journal.ENTRIES if not isinstance(entry, tuple)]
    [(_, done)] = [entry for entry in journal.ENTRIES if isinstance(entry, tuple)]
    if source is Steps:
        assert values.pop() == "bye"
        done -= 1
    assert values == [n for n in range(done) for _ in (0, 1)]


class Buffers(SinkFunction, CheckpointedFunction):
    """Its state is what it was given, which it has no more when it is closed."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("values"))
        self.values: list[int] | None = list(self.state.get())
        if context.is_restored():
            journal.note(("restored", sorted(self.values)))

    def invoke(self, value: int, context: Any) -> None:
        assert self.values is not None
        self.values.append(value)

    def finish(self) -> None:
        journal.note("finished")

    def snapshot_state(self, context: Any) -> None:
        assert self.values is not None, "closed"
        self.state.update(self.values)

    def close(self) -> None:
        self.values = None


def test_a_savepoint_has_the_state_of_functions_whose_input_has_ended(tmp_path: Path) -> None:
    def define(**options: str) -> StreamExecutionEnvironment:
        env = environment(**options)
        env.from_collection([1, 2, 3]).add_sink(Buffers()).uid("buffers")
        env.add_source(Ticks()).uid("ticks").add_sink(journal.note)
        return env

    client = define().execute_async()
    wait_until(lambda: "finished" in journal.ENTRIES and client.get_job_status().result() is JobStatus.RUNNING)
    path = client.trigger_savepoint(str(tmp_path)).result(10)
    client.cancel().result(10)
    journal.note("release")
    define(**{"execution.state-recovery.path": path}).execute()
    assert ("restored", [1, 2, 3]) in journal.ENTRIES
