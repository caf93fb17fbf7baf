"""Going on from a checkpoint with operators that are chained otherwise than they were."""

from __future__ import annotations

import time
from typing import Any

import pytest

from spry.common.elements import MAX_WATERMARK
from spry.datastream import SourceFunction
from tests.local_job import LocalJob, program


class Marks(SourceFunction):
    """Event time comes to 40; then it ends, or waits."""

    def __init__(self, ends: bool) -> None:
        self.ends, self.running = ends, True

    def run(self, ctx: Any) -> None:
        ctx.collect(1)
        ctx.emit_watermark(40)
        while self.running and not self.ends:
            time.sleep(0.001)

    def cancel(self) -> None:
        self.running = False


def behind(job: LocalJob) -> list[Any]:
    return [subtask for slot in job.slots for subtask in slot.subtasks if subtask.source is None]


def start(new_head: bool, ends: bool, **more: Any) -> LocalJob:
    env, job = program(2, checkpointing=True, **more)
    stream = env.add_source(Marks(ends)).uid("marks").set_parallelism(1).rebalance()
    if new_head:
        stream = stream.map(lambda value: value)
    job.collect(stream.map(lambda value: value).uid("known"))
    job.start()
    return job


@pytest.mark.parametrize("ends", [False, True])
def test_a_new_head_does_not_make_event_time_start_again(ends: bool) -> None:
    job = start(False, ends)
    expected = MAX_WATERMARK if ends else 40
    deadline = time.monotonic() + 10
    while [subtask.gate.watermark for subtask in behind(job)] != [expected] * 2:
        job.step()
        assert time.monotonic() < deadline
    saved = job.checkpoint()
    job.close()
    job = start(True, ends, restore=saved)
    assert [subtask.vertex.operators[1].uid for subtask in behind(job)] == ["known"] * 2
    assert [subtask.gate.watermark for subtask in behind(job)] == [expected] * 2
    job.step()
    assert job.finished is ends
    job.close()


def test_a_new_source_is_read_though_those_behind_it_had_finished() -> None:
    env, job = program(1, checkpointing=True)
    job.collect(env.from_collection([1, 2]).uid("old").map(lambda value: value).uid("known"))
    job.start()
    while not job.finished:
        job.step()
    saved = job.checkpoint()
    job.close()
    env, job = program(1, restore=saved)
    result = job.collect(env.from_collection([3, 4]).uid("new").map(lambda value: value).uid("known"))
    job.run()
    assert result == [3, 4]
