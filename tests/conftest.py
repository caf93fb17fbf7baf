"""Fixtures: one Spark per test process, shared by all tests that need one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spry.common import Configuration
from spry.datastream import StreamExecutionEnvironment


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
