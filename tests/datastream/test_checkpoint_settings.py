"""What the environment takes of checkpoints and state backends, and state that is open to queries."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common import Configuration, Time, Types
from spry.common.config_options import ConfigurationError
from spry.datastream import (
    AggregateFunction,
    CheckpointingMode,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    StreamExecutionEnvironment,
)
from spry.datastream.queryable_state import KeepForQueries, queryable
from spry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from spry.runtime.testing import OperatorHarness
from tests.local_job import new_environment, program


def test_enabling_checkpoints() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_checkpoint_interval() == -1
    assert env.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
    assert env.enable_checkpointing(1000) is env
    assert env.get_checkpoint_interval() == env.get_checkpoint_config().get_checkpoint_interval() == 1000
    env.enable_checkpointing(2000, CheckpointingMode.AT_LEAST_ONCE)
    assert env.get_checkpointing_mode() is env.get_checkpointing_consistency_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert env.get_configuration().to_dict() == {
        "execution.checkpointing.interval": "2000 ms",
        "execution.checkpointing.mode": "AT_LEAST_ONCE",
    }


def test_its_checkpoint_config_is_a_view_of_its_configuration() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration().set_string("execution.checkpointing.interval", "10 s")
    )
    assert env.get_checkpoint_interval() == 10_000
    env.get_checkpoint_config().enable_unaligned_checkpoints().set_force_unaligned_checkpoints()
    assert env.is_unaligned_checkpoints_enabled() and env.is_force_unaligned_checkpoints()
    assert env.get_configuration().get_string("execution.checkpointing.unaligned.enabled", "") == "true"


def test_settings_that_do_not_fit_together_are_refused_before_the_job_starts() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(1000).get_checkpoint_config().enable_unaligned_checkpoints()
    env.get_checkpoint_config().set_max_concurrent_checkpoints(2)
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match="one at a time"):
        env.execute()


def test_the_directory_of_savepoints() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_default_savepoint_directory() is None
    assert env.set_default_savepoint_directory("file:///savepoints") is env
    assert env.get_default_savepoint_directory() == "file:///savepoints"


def test_state_backends() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_state_backend() is None
    backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    assert env.set_state_backend(backend) is env
    backend.set_number_of_transfer_threads(2)
    found = env.get_state_backend()
    assert isinstance(found, EmbeddedRocksDBStateBackend)
    assert found.is_incremental_checkpoints_enabled() and found.get_number_of_transfer_threads() == 2
    env.set_state_backend(HashMapStateBackend())
    assert isinstance(env.get_state_backend(), HashMapStateBackend)
    with pytest.raises(TypeError, match=r"takes HashMapStateBackend\(\) or"):
        env.set_state_backend("rocksdb")  # type: ignore[arg-type]


def test_the_changelog_of_state_is_accepted() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.is_changelog_state_backend_enabled() is None
    assert env.enable_changelog_state_backend(True) is env
    assert env.is_changelog_state_backend_enabled() is True


# State that is open to queries


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]


def longest(one: Any, other: Any) -> Any:
    return max(one, other, key=lambda record: record[1])


@pytest.mark.parametrize(
    ("descriptor", "expected"),
    [
        (ValueStateDescriptor("kept"), ("a", 3)),
        (ReducingStateDescriptor("kept", longest), ("a", 5)),
        (AggregatingStateDescriptor("kept", Mean()), (8, 2)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_kept_for_queries(descriptor: Any, expected: Any) -> None:
    kept = queryable("q", descriptor)
    assert kept.get_queryable_state_name() == "q"
    assert not descriptor.is_queryable(), "the program's own descriptor is left alone"
    harness = OperatorHarness(KeepForQueries(kept), key=lambda record: record[0])
    harness.push(("a", 5), ("b", 2), ("a", 3))
    assert harness.state("kept", "a") == expected
    assert harness.values() == []


def test_a_stream_is_kept_for_queries() -> None:
    env, job = program(2)
    records = env.from_collection([("a", 5), ("b", 2), ("a", 3)]).key_by(lambda record: record[0])
    kept = records.as_queryable_state("latest")
    assert kept.name("kept").uid("kept-uid") is kept
    assert kept.get_queryable_state_name() == "latest"
    assert kept.get_state_descriptor().name == "latest"
    named = ValueStateDescriptor("named")
    named.set_queryable("of-its-own")
    assert records.as_queryable_state("other", named).get_queryable_state_name() == "of-its-own"
    nodes = {node.name: node for node in env.get_stream_graph(clear_transformations=False).nodes}
    assert nodes["kept"].uid == "kept-uid"
    assert "Queryable state: other" in nodes
    job.run()


def expiring() -> ValueStateDescriptor:
    descriptor = ValueStateDescriptor("expiring")
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
    return descriptor


@pytest.mark.parametrize(
    ("descriptor", "error", "message"),
    [
        (ListStateDescriptor("list"), TypeError, "would grow without end"),
        (MapStateDescriptor("map", Types.STRING(), Types.INT()), TypeError, "would grow without end"),
        ("latest", TypeError, "takes a ValueStateDescriptor"),
        (expiring(), ValueError, "'expiring' expires, so it cannot be open to queries"),
    ],
)
def test_what_cannot_be_kept_for_queries(descriptor: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        new_environment().from_collection([1]).key_by(lambda n: n).as_queryable_state("q", descriptor)
