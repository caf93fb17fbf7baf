"""Fixtures: one Spark per test process, shared by all tests that need one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spry.common import Configuration
from spry.common.job_registry import RUN_DIR_VARIABLE
from spry.datastream import StreamExecutionEnvironment


@pytest.fixture(scope="session", autouse=True)
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Jobs of tests are not among the user's."""
    known = os.environ.get(RUN_DIR_VARIABLE)
    os.environ[RUN_DIR_VARIABLE] = str(tmp_path_factory.mktemp("run"))
    yield
    if known is None:
        del os.environ[RUN_DIR_VARIABLE]
    else:
        os.environ[RUN_DIR_VARIABLE] = known


@pytest.fixture(scope="session")
def spark_context() -> Iterator[Any]:
    """A local Spark with two cores, as Spry itself would start it."""
    from spry.cluster.session import get_spark_context

    configuration = Configuration()
    configuration.set_string("spark.master", "local[2]")
    context, _ = get_spark_context(configuration)
    yield context
    context.stop()


@pytest.fixture
def make_env(spark_context: Any) -> Callable[..., StreamExecutionEnvironment]:
    """Makes environments that run on the shared Spark: ``make_env(parallelism, **{"key": "value"})``."""

    def make(parallelism: int = 2, **options: str) -> StreamExecutionEnvironment:
        configuration = Configuration()
        configuration.set_string("spry.progress", "none")
        for key, value in options.items():
            configuration.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        return env

    return make


@pytest.fixture
def env(make_env: Callable[..., StreamExecutionEnvironment]) -> StreamExecutionEnvironment:
    """An environment with parallelism 2 on the shared Spark."""
    return make_env(2)
