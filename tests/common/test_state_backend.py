from __future__ import annotations

from typing import Any

import pytest

from spry.common.configuration import Configuration
from spry.common.options import RocksDBOptions, StateBackendOptions
from spry.common.state_backend import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    StateBackend,
    rocksdb_setting,
)
from spry.common.state_choices import CompactionStyle, PredefinedOptions, StateBackendType


def test_the_backend_is_hashmap_unless_something_else_is_said() -> None:
    assert Configuration().get(StateBackendOptions.STATE_BACKEND) is StateBackendType.HASHMAP
    assert StateBackend.of(Configuration()) is None
    configuration = Configuration()
    HashMapStateBackend().apply_to(configuration)
    assert configuration.to_dict() == {"state.backend.type": "hashmap"}
    assert isinstance(StateBackend.of(configuration), HashMapStateBackend)


def test_rocksdb() -> None:
    backend = EmbeddedRocksDBStateBackend()
    assert not backend.is_incremental_checkpoints_enabled()
    assert backend.get_db_storage_paths() == []
    assert backend.get_predefined_options() is PredefinedOptions.DEFAULT
    assert backend.get_number_of_transfer_threads() == 4
    assert backend.get_options() is None
    configuration = Configuration()
    backend.apply_to(configuration)
    assert configuration.to_dict() == {"state.backend.type": "rocksdb"}


def test_what_is_said_of_rocksdb_before_and_after_it_is_handed_over() -> None:
    backend = EmbeddedRocksDBStateBackend(True)
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    configuration = Configuration()
    backend.apply_to(configuration)
    backend.set_db_storage_paths("/fast", "file:///other")
    backend.set_number_of_transfer_threads(2)
    assert configuration.to_dict() == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "state.backend.rocksdb.predefined-options": "FLASH_SSD_OPTIMIZED",
        "state.backend.rocksdb.localdir": "/fast;file:///other",
        "state.backend.rocksdb.checkpoint.transfer.thread.num": "2",
    }
    again = StateBackend.of(configuration)
    assert isinstance(again, EmbeddedRocksDBStateBackend)
    assert again.is_incremental_checkpoints_enabled()
    assert again.get_db_storage_paths() == ["/fast", "file:///other"]
    assert again.get_predefined_options() is PredefinedOptions.FLASH_SSD_OPTIMIZED
    assert again.get_number_of_transfer_threads() == 2
    assert "transfer.thread.num=2" in repr(again)
    again.set_db_storage_paths()
    assert again.get_db_storage_paths() == []


def test_predefined_options_are_other_defaults() -> None:
    configuration = Configuration()
    assert rocksdb_setting(configuration, RocksDBOptions.BLOCK_CACHE_SIZE) == 8 << 20
    assert rocksdb_setting(configuration, RocksDBOptions.MAX_BACKGROUND_THREADS) == 2
    configuration.set(RocksDBOptions.PREDEFINED_OPTIONS, PredefinedOptions.SPINNING_DISK_OPTIMIZED_HIGH_MEM)
    assert rocksdb_setting(configuration, RocksDBOptions.BLOCK_CACHE_SIZE) == 256 << 20
    assert rocksdb_setting(configuration, RocksDBOptions.MAX_BACKGROUND_THREADS) == 4
    assert rocksdb_setting(configuration, RocksDBOptions.COMPACTION_STYLE) is CompactionStyle.LEVEL
    assert rocksdb_setting(configuration, RocksDBOptions.WRITE_BUFFER_SIZE) == 64 << 20
    assert rocksdb_setting(configuration, RocksDBOptions.USE_BLOOM_FILTER)
    configuration.set(RocksDBOptions.BLOCK_CACHE_SIZE, "16 mb")
    configuration.set(RocksDBOptions.USE_BLOOM_FILTER, False)
    assert rocksdb_setting(configuration, RocksDBOptions.BLOCK_CACHE_SIZE) == 16 << 20
    assert not rocksdb_setting(configuration, RocksDBOptions.USE_BLOOM_FILTER)


def test_predefined_values_are_valid() -> None:
    for profile in PredefinedOptions:
        configuration = Configuration().set(RocksDBOptions.PREDEFINED_OPTIONS, profile)
        for option in RocksDBOptions.options():
            value: Any = rocksdb_setting(configuration, option)
            assert value is None or option.parse(value) == value


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: EmbeddedRocksDBStateBackend().set_db_storage_paths("relative"), ValueError, "absolute paths"),
        (lambda: EmbeddedRocksDBStateBackend().set_number_of_transfer_threads(0), ValueError, "at least 1"),
        (lambda: EmbeddedRocksDBStateBackend().set_options("a.Factory"), TypeError, r"state.backend.rocksdb.block"),
        (CustomStateBackend, TypeError, "take HashMapStateBackend"),
    ],
)
def test_mistakes(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
