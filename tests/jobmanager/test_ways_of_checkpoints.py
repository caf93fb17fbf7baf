"""Settings that say how checkpoints are taken change neither a job's result nor what is in a checkpoint."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from spry.common.checkpoint import ListCheckpointed
from spry.datastream import KeyedProcessFunction, MapFunction, SourceFunction, StreamExecutionEnvironment
from spry.datastream.state import ValueStateDescriptor
from tests import journal
from tests.in_process_spark import Crashes, in_process
from tests.jobmanager.test_function_state import COUNT, environment
from tests.jobmanager.test_savepoints import wait_until
from tests.local_job import program

WAYS: dict[str, dict[str, str]] = {
    "aligned": {},
    "unaligned": {"execution.checkpointing.unaligned.enabled": "true"},
    "unaligned after a while": {
        "execution.checkpointing.unaligned.enabled": "true",
        "execution.checkpointing.aligned-checkpoint-timeout": "1 ms",
    },
    "unaligned, forced": {
        "execution.checkpointing.unaligned.enabled": "true",
        "execution.checkpointing.unaligned.forced": "true",
    },
    "not beside the job": {"state.backend.async": "false"},
}


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


@pytest.mark.parametrize("way", WAYS)
def test_the_result_is_the_same(way: str, tmp_path: Path) -> None:
    env = environment(2, **{"execution.checkpointing.dir": str(tmp_path), **WAYS[way]})
    counted = env.from_sequence(0, COUNT - 1).key_by(lambda n: n % 7).process(Count())
    crashes = Crashes(1, 0.004, 5)
    with in_process(crashes):
        found = list(counted.execute_and_collect())
    assert sorted(n for n, _ in found) == list(range(COUNT))
    assert sorted((n % 7, count) for n, count in found) == sorted((n % 7, n // 7 + 1) for n in range(COUNT))
    assert crashes.count > 0


def test_the_content_is_the_same() -> None:
    contents = []
    for options in WAYS.values():
        env, job = program(2, checkpointing=True, max_records=100)
        for key, value in options.items():
            env.get_configuration().set_string(key, value)
        job.collect(env.from_sequence(0, 999).key_by(lambda n: n % 7).process(Count()))
        job.start()
        for _ in range(3):
            job.step()
        state = job.checkpoint().state
        job.close()
        contents.append(([file.inline for file in state.files], [(o.name, o.subtask) for o in state.operators]))
    assert contents[0][0] and all(content == contents[0] for content in contents)


class Ticks(SourceFunction):
    """Counts until it is told to stop, or to 100."""

    running = True

    def run(self, ctx: Any) -> None:
        for n in range(100):
            ctx.collect(n)
        while self.running and "end" not in journal.ENTRIES:
            time.sleep(0.002)

    def cancel(self) -> None:
        self.running = False


class Keeps(MapFunction, ListCheckpointed):
    """Has all that it was given in its list."""

    def __init__(self) -> None:
        self.values: list[int] = []

    def map(self, value: int) -> int:
        self.values.append(value)
        journal.note(value)
        return value

    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[int]:
        return self.values

    def restore_state(self, state: list[int]) -> None:
        journal.note(("restored", list(state)))
        self.values = list(state)


@pytest.mark.parametrize(("before", "after"), [(2, 2), (2, 3), (3, 1)])
def test_list_checkpointed_functions_share_out_their_elements(tmp_path: Path, before: int, after: int) -> None:
    def define(parallelism: int, **options: str) -> StreamExecutionEnvironment:
        env = environment(parallelism, **options)
        source = env.add_source(Ticks()).set_parallelism(1).uid("ticks")
        source.rebalance().map(Keeps()).uid("keeps").add_sink(lambda value: None)
        return env

    journal.reset()
    with in_process():
        client = define(before).execute_async()
        wait_until(lambda: sum(isinstance(entry, int) for entry in journal.ENTRIES) == 100)
        path = client.stop_with_savepoint(False, str(tmp_path)).result(10)
        journal.reset()
        journal.note("end")
        define(after, **{"execution.state-recovery.path": path}).execute()
    shares = [entry[1] for entry in journal.reset() if isinstance(entry, tuple)]
    assert sorted(n for share in shares for n in share) == list(range(100))
    assert len(shares) == after and max(map(len, shares)) - min(map(len, shares)) <= 1
