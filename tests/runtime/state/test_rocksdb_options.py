"""The options of RocksDB, as RocksDB itself writes them down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spry.common.config_options import ConfigurationError
from spry.runtime.state.rocksdb_options import RocksDBSettings
from tests.runtime.state.backends import Databases


@pytest.fixture
def databases(tmp_path: Path) -> Iterator[Databases]:
    made = Databases(tmp_path)
    yield made
    made.close()


def opened(databases: Databases, **given: Any) -> Any:
    """A database with these options; without their common beginning, ``__`` for a dot."""
    configuration = {"state.backend.rocksdb." + key.replace("__", "."): value for key, value in given.items()}
    backend = databases.create(**configuration)
    backend.table("state")["a"] = 1
    backend.prepare()
    return backend


def written(backend: Any) -> dict[str, dict[str, str]]:
    """The sections of the OPTIONS file that belong to the database and to the state."""
    newest = max(backend.directory.glob("OPTIONS-*"), key=lambda path: path.name)
    sections: dict[str, dict[str, str]] = {}
    for line in newest.read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            sections[line[1:-1]] = section = {}
        elif "=" in line:
            name, _, value = line.partition("=")
            section[name] = value
    return {
        "database": sections["DBOptions"],
        "family": sections['CFOptions "state-state"'],
        "blocks": sections['TableOptions/BlockBasedTable "state-state"'],
    }


@pytest.mark.parametrize(
    ("key", "value", "section", "name", "expected"),
    [
        ("thread.num", "5", "database", "max_background_jobs", "5"),
        ("files.open", "123", "database", "max_open_files", "123"),
        ("log.level", "WARN_LEVEL", "database", "info_log_level", "WARN_LEVEL"),
        ("compaction.style", "UNIVERSAL", "family", "compaction_style", "kCompactionStyleUniversal"),
        ("compaction.level.use-dynamic-size", "true", "family", "level_compaction_dynamic_level_bytes", "true"),
        ("compaction.level.target-file-size-base", "7mb", "family", "target_file_size_base", str(7 << 20)),
        ("compaction.level.max-size-level-base", "77 mb", "family", "max_bytes_for_level_base", str(77 << 20)),
        ("writebuffer.size", "3mb", "family", "write_buffer_size", str(3 << 20)),
        ("writebuffer.count", "6", "family", "max_write_buffer_number", "6"),
        ("block.blocksize", "16kb", "blocks", "block_size", str(16 << 10)),
        ("use-bloom-filter", "true", "blocks", "filter_policy", "bloomfilter:10:false"),
    ],
)
def test_an_option(databases: Databases, key: str, value: str, section: str, name: str, expected: str) -> None:
    assert written(opened(databases))[section][name] != expected
    assert written(opened(databases, **{key: value}))[section][name] == expected


def test_write_buffers_are_merged(databases: Databases) -> None:
    found = written(opened(databases, **{"writebuffer.count": "5", "writebuffer.number-to-merge": "3"}))["family"]
    assert found["min_write_buffer_number_to_merge"] == "3", "RocksDB lets it be smaller than the count only"


def test_defaults(databases: Databases) -> None:
    found = written(opened(databases))
    assert found["database"]["max_background_jobs"] == "2"
    assert found["database"]["info_log_level"] == "INFO_LEVEL"
    assert found["family"]["level_compaction_dynamic_level_bytes"] == "false"
    assert found["family"]["write_buffer_size"] == str(64 << 20)
    assert found["family"]["max_bytes_for_level_base"] == str(256 << 20)
    assert found["blocks"]["filter_policy"] == "nullptr"


def test_the_block_cache(databases: Databases) -> None:
    def capacity(**given: Any) -> int:
        table: Any = opened(databases, **given).table("state")
        size: int = table.rows.family.property_int_value("rocksdb.block-cache-capacity")
        return size

    assert capacity() == 8 << 20
    assert capacity(**{"block.cache-size": "64mb"}) == 64 << 20
    assert capacity(**{"memory.fixed-per-slot": "32mb"}) == 32 << 20


def test_databases_of_a_slot_may_share_memory(databases: Databases) -> None:
    tables: list[Any] = [opened(databases, **{"memory.fixed-per-slot": "33mb"}).table("state") for _ in range(2)]
    usage = [table.rows.family.property_int_value("rocksdb.block-cache-usage") for table in tables]
    assert usage[0] == usage[1] > 0


def test_bits_of_a_bloom_filter(databases: Databases) -> None:
    found = written(opened(databases, **{"use-bloom-filter": "true", "bloom-filter.bits-per-key": "14.5"}))
    assert found["blocks"]["filter_policy"] == "bloomfilter:14.5:false"


def test_partitioned_indexes_and_filters(databases: Databases) -> None:
    found = written(opened(databases, **{"memory.partitioned-index-filters": "true"}))["blocks"]
    assert found["index_type"] == "kTwoLevelIndexSearch"
    assert found["filter_policy"] == "bloomfilter:10:false"
    for name in (
        "partition_filters",
        "cache_index_and_filter_blocks",
        "cache_index_and_filter_blocks_with_high_priority",
        "pin_top_level_index_and_filter",
        "pin_l0_filter_and_index_blocks_in_cache",
    ):
        assert found[name] == "true"


@pytest.mark.parametrize(
    ("profile", "threads", "dynamic", "target", "block"),
    [
        ("DEFAULT", "2", "false", "64", "4"),
        ("SPINNING_DISK_OPTIMIZED", "4", "true", "64", "4"),
        ("SPINNING_DISK_OPTIMIZED_HIGH_MEM", "4", "true", "256", "128"),
        ("FLASH_SSD_OPTIMIZED", "4", "false", "64", "4"),
    ],
)
def test_predefined_options(
    databases: Databases, profile: str, threads: str, dynamic: str, target: str, block: str
) -> None:
    found = written(opened(databases, **{"predefined-options": profile}))
    assert found["database"]["max_background_jobs"] == threads
    assert found["database"]["max_open_files"] == "-1"
    assert found["family"]["level_compaction_dynamic_level_bytes"] == dynamic
    assert int(found["family"]["target_file_size_base"]) >> 20 == int(target)
    assert int(found["blocks"]["block_size"]) >> 10 == int(block)
    if profile.endswith("HIGH_MEM"):
        assert found["family"]["max_bytes_for_level_base"] == str(1 << 30)
        assert found["family"]["max_write_buffer_number"] == "4"
        assert found["family"]["min_write_buffer_number_to_merge"] == "3"
        assert found["blocks"]["filter_policy"].startswith("bloomfilter:10")


def test_an_option_overrides_its_part_of_a_profile(databases: Databases) -> None:
    found = written(opened(databases, **{"predefined-options": "SPINNING_DISK_OPTIMIZED_HIGH_MEM", "thread.num": "1"}))
    assert found["database"]["max_background_jobs"] == "1"
    assert found["blocks"]["block_size"] == str(128 << 10)


def test_a_value_that_an_option_cannot_have() -> None:
    with pytest.raises(ConfigurationError, match=r"state\.backend\.rocksdb\.writebuffer\.size"):
        RocksDBSettings({"state.backend.rocksdb.writebuffer.size": "much"})
