"""Processes killed while a job runs: nothing is lost, nothing comes twice. ``storm.py`` has the long version."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from spry.common.configuration import Configuration
from spry.datastream import StreamExecutionEnvironment
from tests.faults.pipeline import expected_lines
from tests.faults.processes import slot_processes
from tests.faults.storm import Round, kill_drivers, kill_in_process, options


@pytest.fixture
def round_(request: pytest.FixtureRequest) -> Iterator[Round]:
    made = Round(request.param[0], request.param[1])
    yield made
    made.remove()


def environment(**more: str) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options(**more)))


def test_the_model_knows_every_kind_of_line() -> None:
    kinds = {line.split()[0] for line in expected_lines(3000)}
    assert kinds == {"timer", "tumbling", "sliding", "session"}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("round_", [(1, 40_000), (2, 40_000)], indirect=True)
def test_slots_are_killed(spark_context: Any, round_: Round) -> None:
    """Epochs are small, so that the job lasts for all kills."""
    env = environment(**{"spry.epoch.max-records": "150"})
    kill_in_process(round_, env, lambda: slot_processes(os.getpid()), 6, (0.1, 1.0))
    assert round_.kills == 6
    round_.check()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("round_", [(3, 40_000)], indirect=True)
def test_drivers_are_killed_and_their_jobs_submitted_again(round_: Round) -> None:
    kill_drivers(round_, 2, options(**{"spark.master": "local[2]"}))
    assert round_.kills >= 1
    round_.check()


@pytest.mark.cluster
@pytest.mark.slow
def test_executors_are_killed() -> None:
    """In a process of its own: it has a Spark of its own, on a cluster."""
    command = [sys.executable, "-m", "tests.faults.storm", "--kind", "executor", "--kills", "2", "--seed", "9"]
    storm = subprocess.run([*command, "--records", "40000"], check=False, capture_output=True, text=True, timeout=300)
    assert storm.returncode == 0, storm.stderr[-3000:]
    assert "every run gave what it gives without faults" in storm.stdout
