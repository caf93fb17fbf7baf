"""The ``state.backend.rocksdb.*`` options as RocksDB's own.

They are handed over as one of the OPTIONS files that RocksDB writes and reads itself: so every option of RocksDB can be
set, also those for which the binding has no method.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rocksdict import Cache, Options, WriteBufferManager

from spry.common.config_options import ConfigOption
from spry.common.configuration import Configuration
from spry.common.options import RocksDBOptions
from spry.common.state_backend import rocksdb_setting
from spry.common.state_choices import CompactionStyle

__all__ = ["RocksDBSettings"]

_COMPACTION_STYLES = {
    CompactionStyle.LEVEL: "kCompactionStyleLevel",
    CompactionStyle.UNIVERSAL: "kCompactionStyleUniversal",
    CompactionStyle.FIFO: "kCompactionStyleFIFO",
    CompactionStyle.NONE: "kCompactionStyleNone",
}


def _boolean(value: bool) -> str:
    return str(value).lower()


_DATABASE, _FAMILY, _BLOCKS = "DBOptions", 'CFOptions "default"', 'TableOptions/BlockBasedTable "default"'

_OPTIONS: tuple[tuple[ConfigOption[Any], str, str, Callable[[Any], str]], ...] = (
    (RocksDBOptions.MAX_BACKGROUND_THREADS, _DATABASE, "max_background_jobs", str),
    (RocksDBOptions.MAX_OPEN_FILES, _DATABASE, "max_open_files", str),
    (RocksDBOptions.LOG_LEVEL, _DATABASE, "info_log_level", lambda level: str(level.name)),
    (RocksDBOptions.COMPACTION_STYLE, _FAMILY, "compaction_style", _COMPACTION_STYLES.__getitem__),
    (RocksDBOptions.USE_DYNAMIC_LEVEL_SIZE, _FAMILY, "level_compaction_dynamic_level_bytes", _boolean),
    (RocksDBOptions.TARGET_FILE_SIZE_BASE, _FAMILY, "target_file_size_base", str),
    (RocksDBOptions.MAX_SIZE_LEVEL_BASE, _FAMILY, "max_bytes_for_level_base", str),
    (RocksDBOptions.WRITE_BUFFER_SIZE, _FAMILY, "write_buffer_size", str),
    (RocksDBOptions.MAX_WRITE_BUFFER_NUMBER, _FAMILY, "max_write_buffer_number", str),
    (RocksDBOptions.MIN_WRITE_BUFFER_NUMBER_TO_MERGE, _FAMILY, "min_write_buffer_number_to_merge", str),
    (RocksDBOptions.BLOCK_SIZE, _BLOCKS, "block_size", str),
)
"""An option, where it is in an OPTIONS file, what it is called there, and how its value is written there."""

_FIXED = {
    _DATABASE: {
        "create_if_missing": "true",
        # The log is for looking into what happens now, and goes with the slot.
        "max_log_file_size": str(25 << 20),
        "keep_log_file_num": "4",
        "stats_dump_period_sec": "0",
    },
    _FAMILY: {},
    _BLOCKS: {},
}
_PARTITIONED = {
    "index_type": "kTwoLevelIndexSearch",
    "partition_filters": "true",
    "cache_index_and_filter_blocks": "true",
    "cache_index_and_filter_blocks_with_high_priority": "true",
    "pin_top_level_index_and_filter": "true",
    "pin_l0_filter_and_index_blocks_in_cache": "true",
}
_shared: dict[int, tuple[Cache, WriteBufferManager]] = {}
"""Memory that all databases of this process share, by its size."""


class RocksDBSettings:
    """What a job's configuration says about RocksDB."""

    def __init__(self, configuration: Mapping[str, str]) -> None:
        given = Configuration.from_dict(configuration)
        self.sections = {name: dict(options) for name, options in _FIXED.items()}
        """The sections of an OPTIONS file."""
        for option, section, name, write in _OPTIONS:
            self.sections[section][name] = write(rocksdb_setting(given, option))
        partitioned = rocksdb_setting(given, RocksDBOptions.USE_PARTITIONED_INDEX_FILTERS)
        if partitioned:
            self.sections[_BLOCKS].update(_PARTITIONED)
        if partitioned or rocksdb_setting(given, RocksDBOptions.USE_BLOOM_FILTER):
            bits = rocksdb_setting(given, RocksDBOptions.BLOOM_FILTER_BITS_PER_KEY)
            self.sections[_BLOCKS]["filter_policy"] = f"bloomfilter:{bits}:false"
        self.block_cache = rocksdb_setting(given, RocksDBOptions.BLOCK_CACHE_SIZE)
        self.shared_memory = given.get_optional(RocksDBOptions.FIX_PER_SLOT_MEMORY_SIZE)

    def options(self) -> tuple[Options, Options]:
        """The options of a database, and those of each of its column families."""
        cache, buffers = Cache(self.block_cache), None
        if self.shared_memory is not None:
            cache, buffers = _share(self.shared_memory)
        lines = ["[Version]", "rocksdb_version=8.0.0", "options_file_version=1.1"]
        for section, options in self.sections.items():
            lines += [f"[{section}]", *(f"{name}={value}" for name, value in options.items())]
        with tempfile.TemporaryDirectory(prefix="spry-rocksdb-") as directory:
            Path(directory, "OPTIONS-000001").write_text("\n".join(lines) + "\n")
            whole, families = Options.load_latest(directory, cache=cache)
        if buffers is not None:
            whole.set_write_buffer_manager(buffers)
        return whole, families["default"]


def _share(size: int) -> tuple[Cache, WriteBufferManager]:
    if size not in _shared:
        cache = Cache(size)
        _shared[size] = cache, WriteBufferManager.new_write_buffer_manager_with_cache(size // 2, False, cache)
    return _shared[size]
