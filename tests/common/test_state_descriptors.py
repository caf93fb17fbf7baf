"""State descriptors, and how long state lives."""

from __future__ import annotations

import doctest
import pickle
from typing import Any

import pytest

from spry.common import state_ttl
from spry.common.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from spry.common.state_ttl import StateTtlConfig
from spry.common.time import Duration, Time
from spry.common.typeinfo import Types
from spry.datastream import AggregateFunction

Strategies = StateTtlConfig.CleanupStrategies.Strategies


def test_defaults_are_those_of_flink() -> None:
    config = StateTtlConfig.new_builder(Time.seconds(1)).build()
    assert config.is_enabled()
    assert config.get_ttl() == Time.seconds(1)
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    assert config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    cleanup = config.get_cleanup_strategies()
    assert cleanup.is_cleanup_in_background()
    assert not cleanup.in_full_snapshot()
    incremental = cleanup.get_incremental_cleanup_strategy()
    assert incremental is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (5, False)
    compaction = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    assert compaction is not None
    assert compaction.get_query_time_after_num_entries() == 1000
    assert compaction.get_periodic_compaction_time() == Duration.of_days(30)


def test_everything_that_can_be_said() -> None:
    config = (
        StateTtlConfig.new_builder(Duration.of_minutes(1))
        .update_ttl_on_read_and_write()
        .return_expired_if_not_cleaned_up()
        .use_processing_time()
        .cleanup_full_snapshot()
        .cleanup_incrementally(10, True)
        .cleanup_in_rocksdb_compact_filter(100, Duration.of_hours(1))
        .disable_cleanup_in_background()
        .build()
    )
    assert config.get_ttl() == Time.minutes(1)
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
    cleanup = config.get_cleanup_strategies()
    assert cleanup.in_full_snapshot() and not cleanup.is_cleanup_in_background()
    assert cleanup.get_incremental_cleanup_strategy() == cleanup.IncrementalCleanupStrategy(10, True)
    compaction = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    assert compaction == cleanup.RocksdbCompactFilterCleanupStrategy(100, Duration.of_hours(1))


def test_what_is_said_last_counts() -> None:
    builder = StateTtlConfig.new_builder(Time.seconds(1)).set_ttl(Time.seconds(2))
    builder.update_ttl_on_read_and_write().update_ttl_on_create_and_write()
    builder.return_expired_if_not_cleaned_up().never_return_expired()
    assert builder.build() == StateTtlConfig.new_builder(Time.seconds(2)).build()


def test_no_clean_up_in_the_background_but_what_is_said() -> None:
    builder = StateTtlConfig.new_builder(Time.seconds(1)).disable_cleanup_in_background()
    cleanup = builder.build().get_cleanup_strategies()
    assert cleanup.get_incremental_cleanup_strategy() is None
    assert cleanup.get_rocksdb_compact_filter_cleanup_strategy() is None
    cleanup = builder.cleanup_in_rocksdb_compact_filter().build().get_cleanup_strategies()
    assert cleanup.get_incremental_cleanup_strategy() is None
    assert cleanup.get_rocksdb_compact_filter_cleanup_strategy() is not None


def test_a_config_is_a_value() -> None:
    builder = StateTtlConfig.new_builder(Time.seconds(1)).cleanup_full_snapshot()
    config = builder.build()
    assert pickle.loads(pickle.dumps(config)) == config
    assert hash(pickle.loads(pickle.dumps(config))) == hash(config)
    builder.cleanup_incrementally(1, False)
    assert set(config.get_cleanup_strategies().strategies) == {Strategies.FULL_STATE_SCAN_SNAPSHOT}
    assert builder.build() != config
    with pytest.raises(AttributeError):
        config.ttl = Time.seconds(2)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: StateTtlConfig.new_builder(Time.milliseconds(0)).build(), ValueError, "at least 1 ms, not 0 ms"),
        (lambda: StateTtlConfig.new_builder(Duration.of_millis(-5)).build(), ValueError, "at least 1 ms"),
        (lambda: StateTtlConfig.new_builder(5), TypeError, r"such as Time.hours\(1\), not 5"),  # type: ignore[arg-type]
        (lambda: StateTtlConfig.new_builder(Time.hours(1)).cleanup_incrementally(0, True), ValueError, "1 entry"),
        (lambda: ValueStateDescriptor("v").enable_time_to_live(None), TypeError, "state 'v': .* StateTtlConfig"),  # type: ignore[arg-type]
    ],
)
def test_mistakes(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_the_example_of_the_documentation() -> None:
    assert doctest.testmod(state_ttl).failed == 0


class Sum(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return value + accumulator

    def get_result(self, accumulator: Any) -> Any:
        return accumulator


DESCRIPTORS = [
    ValueStateDescriptor("s", Types.INT()),
    ListStateDescriptor("s", Types.INT()),
    MapStateDescriptor("s", Types.STRING(), Types.INT()),
    ReducingStateDescriptor("s", max, Types.INT()),
    AggregatingStateDescriptor("s", Sum(), Types.INT()),
]


@pytest.mark.parametrize("descriptor", DESCRIPTORS, ids=lambda d: type(d).__name__)
def test_every_descriptor_can_expire_or_be_open_to_queries(descriptor: StateDescriptor) -> None:
    config = StateTtlConfig.new_builder(Time.seconds(1)).build()
    given = pickle.loads(pickle.dumps(descriptor))
    assert given.ttl_config == StateTtlConfig.DISABLED and not given.get_ttl_config().is_enabled()
    assert not given.is_queryable() and given.get_queryable_state_name() is None
    given.enable_time_to_live(config)
    assert given.get_ttl_config() is given.ttl_config is config
    with pytest.raises(ValueError, match=r"'s' expires, so it cannot be open to queries"):
        given.set_queryable("q")
    given.enable_time_to_live(StateTtlConfig.DISABLED)
    given.set_queryable("q")
    assert given.is_queryable() and given.get_queryable_state_name() == given.queryable_state_name == "q"
    with pytest.raises(ValueError, match="open to queries, so it cannot expire"):
        given.enable_time_to_live(config)
    with pytest.raises(ValueError, match="open to queries as 'q' already"):
        given.set_queryable("r")
    again = pickle.loads(pickle.dumps(given))
    assert (again.name, again.queryable_state_name) == ("s", "q")


def test_a_name_for_queries_is_not_empty() -> None:
    with pytest.raises(ValueError, match="non-empty name"):
        ValueStateDescriptor("s").set_queryable("")


def test_default_values() -> None:
    assert ValueStateDescriptor("v", Types.INT()).get_default_value() is None
    assert ValueStateDescriptor("v", Types.INT(), 0).get_default_value() == 0
    assert ValueStateDescriptor("v", default_value=[1]).default_value == [1]
