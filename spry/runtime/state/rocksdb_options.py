"""The ``state.backend.rocksdb.*`` options as RocksDB's own.

They are handed over as one of the OPTIONS files that RocksDB writes and reads itself: so every option of RocksDB can be
set, also those for which the binding has no method.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocksdict import Cache, Options

from spry.common.config_options import ConfigurationError, parse_memory_size

__all__ = ["PREDEFINED", "RocksDBSettings"]

PREFIX = "state.backend.rocksdb."
CACHE_ENTRIES = "spry.state.rocksdb.cache-entries"

_DISK = {"thread.num": "4", "files.open": "-1"}
_SPINNING = {**_DISK, "compaction.style": "LEVEL", "compaction.level.use-dynamic-size": "true"}

PREDEFINED: dict[str, dict[str, str]] = {
    "DEFAULT": {},
    "SPINNING_DISK_OPTIMIZED": _SPINNING,
    "SPINNING_DISK_OPTIMIZED_HIGH_MEM": {
        **_SPINNING,
        "compaction.level.target-file-size-base": "256mb",
        "compaction.level.max-size-level-base": "1gb",
        "writebuffer.size": "64mb",
        "writebuffer.number-to-merge": "3",
        "writebuffer.count": "4",
        "block.cache-size": "256mb",
        "block.blocksize": "128kb",
        "use-bloom-filter": "true",
    },
    "FLASH_SSD_OPTIMIZED": _DISK,
}
"""What the values of ``predefined-options`` stand for; each option that is set as well overrides its own part."""

_COMPACTION_STYLES = {
    "LEVEL": "kCompactionStyleLevel",
    "UNIVERSAL": "kCompactionStyleUniversal",
    "FIFO": "kCompactionStyleFIFO",
    "NONE": "kCompactionStyleNone",
}
_LOG_LEVELS = ("DEBUG_LEVEL", "INFO_LEVEL", "WARN_LEVEL", "ERROR_LEVEL", "FATAL_LEVEL", "HEADER_LEVEL")


def _bytes(text: str) -> str:
    return str(parse_memory_size(text))


def _whole(text: str) -> str:
    return str(int(text))


def _positive(text: str) -> str:
    if int(text) < 1:
        raise ValueError(text)
    return text


def _number(text: str) -> str:
    return str(float(text))


def _boolean(text: str) -> str:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower()


def _style(text: str) -> str:
    return _COMPACTION_STYLES[text.upper()]


def _log_level(text: str) -> str:
    return _LOG_LEVELS[_LOG_LEVELS.index(text.upper())]


_DATABASE, _FAMILY, _BLOCKS = "DBOptions", 'CFOptions "default"', 'TableOptions/BlockBasedTable "default"'

_OPTIONS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "thread.num": (_DATABASE, "max_background_jobs", _whole),
    "files.open": (_DATABASE, "max_open_files", _whole),
    "log.level": (_DATABASE, "info_log_level", _log_level),
    "log.dir": (_DATABASE, "db_log_dir", str),
    "log.max-file-size": (_DATABASE, "max_log_file_size", _bytes),
    "log.file-num": (_DATABASE, "keep_log_file_num", _whole),
    "compaction.style": (_FAMILY, "compaction_style", _style),
    "compaction.level.use-dynamic-size": (_FAMILY, "level_compaction_dynamic_level_bytes", _boolean),
    "compaction.level.target-file-size-base": (_FAMILY, "target_file_size_base", _bytes),
    "compaction.level.max-size-level-base": (_FAMILY, "max_bytes_for_level_base", _bytes),
    "writebuffer.size": (_FAMILY, "write_buffer_size", _bytes),
    "writebuffer.count": (_FAMILY, "max_write_buffer_number", _whole),
    "writebuffer.number-to-merge": (_FAMILY, "min_write_buffer_number_to_merge", _whole),
    "block.blocksize": (_BLOCKS, "block_size", _bytes),
    "block.metadata-blocksize": (_BLOCKS, "metadata_block_size", _bytes),
}
"""An option -> where it is in an OPTIONS file, what it is called there, and its value there."""

_ALWAYS = {
    _DATABASE: {"create_if_missing": "true", "stats_dump_period_sec": "0", "info_log_level": "HEADER_LEVEL"},
    _FAMILY: {"write_buffer_size": "67108864"},
    _BLOCKS: {"block_size": "4096"},
}

_PARTITIONED = {
    "index_type": "kTwoLevelIndexSearch",
    "partition_filters": "true",
    "cache_index_and_filter_blocks": "true",
    "cache_index_and_filter_blocks_with_high_priority": "true",
    "pin_top_level_index_and_filter": "true",
    "pin_l0_filter_and_index_blocks_in_cache": "true",
}


class _Given:
    """The options that are set."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def read(self, key: str, default: str, convert: Callable[[str], str]) -> str:
        text = self.texts.get(key, default).strip()
        try:
            return convert(text)
        except (ValueError, KeyError):
            raise ConfigurationError(f"{key}: {text!r} cannot be its value") from None


@dataclass(frozen=True)
class RocksDBSettings:
    """What a job's configuration says about RocksDB."""

    sections: dict[str, dict[str, str]]
    """The sections of an OPTIONS file."""
    block_cache: int
    batch_size: int
    cache_entries: int
    """How many values each backend may keep as objects."""

    @staticmethod
    def of(configuration: Mapping[str, str]) -> RocksDBSettings:
        """The settings; :class:`ConfigurationError` if a value is not what it should be."""
        profile = configuration.get(PREFIX + "predefined-options", "DEFAULT").upper()
        if profile not in PREDEFINED:
            raise ConfigurationError(f"{PREFIX}predefined-options: {profile!r} is none of {', '.join(PREDEFINED)}")
        defaults = {PREFIX + key: text for key, text in PREDEFINED[profile].items()}
        given = _Given({**defaults, **configuration})
        sections = {name: dict(options) for name, options in _ALWAYS.items()}
        for key, (section, name, convert) in _OPTIONS.items():
            if PREFIX + key in given.texts:
                sections[section][name] = given.read(PREFIX + key, "", convert)
        partitioned = given.read(PREFIX + "memory.partitioned-index-filters", "false", _boolean) == "true"
        if partitioned:
            sections[_BLOCKS].update(_PARTITIONED)
        if partitioned or given.read(PREFIX + "use-bloom-filter", "false", _boolean) == "true":
            bits = given.read(PREFIX + "bloom-filter.bits-per-key", "10", _number)
            # Partitions are of a filter for a whole file, so they exclude filters by block.
            by_block = (
                "false" if partitioned else given.read(PREFIX + "bloom-filter.block-based-mode", "false", _boolean)
            )
            sections[_BLOCKS]["filter_policy"] = f"bloomfilter:{bits}:{by_block}"
        return RocksDBSettings(
            sections,
            block_cache=int(given.read(PREFIX + "block.cache-size", "8mb", _bytes)),
            batch_size=int(given.read(PREFIX + "write-batch-size", "2mb", _bytes)) or 2 << 20,
            cache_entries=int(given.read(CACHE_ENTRIES, "100000", _positive)),
        )

    def options(self) -> tuple[Options, Options]:
        """The options of a database, and those of each of its column families."""
        lines = ["[Version]", "rocksdb_version=8.0.0", "options_file_version=1.1"]
        for section, options in self.sections.items():
            lines += [f"[{section}]", *(f"{name}={value}" for name, value in options.items())]
        with tempfile.TemporaryDirectory(prefix="spry-rocksdb-") as directory:
            Path(directory, "OPTIONS-000001").write_text("\n".join(lines) + "\n")
            whole, families = Options.load_latest(directory, cache=Cache(self.block_cache))
        return whole, families["default"]
