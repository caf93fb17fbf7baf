"""Where keyed state lives while a job runs."""

from __future__ import annotations

import os
from typing import Any, ClassVar, TypeVar

from spry.common.config_options import ConfigOption
from spry.common.configuration import Configuration
from spry.common.options import CheckpointingOptions, RocksDBOptions, StateBackendOptions
from spry.common.setting_objects import SettingObject
from spry.common.state_choices import PredefinedOptions, StateBackendType

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "StateBackend",
    "rocksdb_setting",
]

T = TypeVar("T")


class StateBackend(SettingObject):
    """Where keyed state lives while a job runs. ``env.set_state_backend(...)`` takes one."""

    _options: ClassVar[tuple[ConfigOption[Any], ...]] = (StateBackendOptions.STATE_BACKEND,)

    @staticmethod
    def of(configuration: Configuration) -> StateBackend | None:
        """The state backend that a configuration says, ``None`` if it says nothing of it."""
        kind = configuration.get_optional(StateBackendOptions.STATE_BACKEND)
        if kind is None:
            return None
        backend = EmbeddedRocksDBStateBackend() if kind is StateBackendType.ROCKSDB else HashMapStateBackend()
        backend._configuration = configuration
        return backend


class HashMapStateBackend(StateBackend):
    """Keeps state as objects in memory: the quickest, as long as state fits there."""

    def __init__(self) -> None:
        super().__init__()
        self._configuration.set(StateBackendOptions.STATE_BACKEND, StateBackendType.HASHMAP)


class EmbeddedRocksDBStateBackend(StateBackend):
    """Keeps state in RocksDB on the workers' disks, so that it may be larger than memory.

    ``state.backend.rocksdb.*`` are RocksDB's settings.

    :param enable_incremental_checkpointing: Whether a checkpoint has only what is new since the one before.
    """

    _options = (
        StateBackendOptions.STATE_BACKEND,
        CheckpointingOptions.INCREMENTAL_CHECKPOINTS,
        RocksDBOptions.LOCAL_DIRECTORIES,
        RocksDBOptions.PREDEFINED_OPTIONS,
        RocksDBOptions.CHECKPOINT_TRANSFER_THREAD_NUM,
    )

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        super().__init__()
        self._configuration.set(StateBackendOptions.STATE_BACKEND, StateBackendType.ROCKSDB)
        if enable_incremental_checkpointing is not None:
            self._configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, enable_incremental_checkpointing)

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Whether a checkpoint has only what is new since the one before."""
        return self._configuration.get(CheckpointingOptions.INCREMENTAL_CHECKPOINTS)

    def set_db_storage_paths(self, *paths: str) -> None:
        """Directories of the workers in which RocksDB keeps its files; none leaves it to them."""
        relative = [path for path in paths if not os.path.isabs(path.removeprefix("file://"))]
        if relative:
            raise ValueError(f"RocksDB's directories must be absolute paths of the workers, got {relative[0]!r}")
        if paths:
            self._configuration.set(RocksDBOptions.LOCAL_DIRECTORIES, list(paths))
        else:
            self._configuration.remove(RocksDBOptions.LOCAL_DIRECTORIES)

    def get_db_storage_paths(self) -> list[str]:
        """The directories in which RocksDB keeps its files; none if it is left to the workers."""
        return self._configuration.get_optional(RocksDBOptions.LOCAL_DIRECTORIES) or []

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Take the settings for a kind of machine, where options say nothing else."""
        self._configuration.set(RocksDBOptions.PREDEFINED_OPTIONS, options)

    def get_predefined_options(self) -> PredefinedOptions:
        return self._configuration.get(RocksDBOptions.PREDEFINED_OPTIONS)

    def set_options(self, options_factory_class_name: str) -> None:
        """In PyFlink this names a Java class; here RocksDB is set by options."""
        raise TypeError(
            f"'{options_factory_class_name}' would be a Java class, and there are none here: set RocksDB's options "
            "instead, such as 'state.backend.rocksdb.block.cache-size' or 'state.backend.rocksdb.writebuffer.size'"
        )

    def get_options(self) -> str | None:
        """None: there are no factories of options."""
        return None

    def get_number_of_transfer_threads(self) -> int:
        """How many threads of a slot copy files to a checkpoint and from it."""
        return self._configuration.get(RocksDBOptions.CHECKPOINT_TRANSFER_THREAD_NUM)

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        self._configuration.set(RocksDBOptions.CHECKPOINT_TRANSFER_THREAD_NUM, number_of_transfering_threads)


class CustomStateBackend(StateBackend):
    """In PyFlink this wraps a state backend that is written in Java; here there are no Java objects."""

    def __init__(self, j_custom_state_backend: Any = None) -> None:
        raise TypeError(
            "a CustomStateBackend wraps a Java object, and there are none here: take HashMapStateBackend() or "
            "EmbeddedRocksDBStateBackend()"
        )


_SPINNING_DISK: dict[ConfigOption[Any], Any] = {
    RocksDBOptions.MAX_BACKGROUND_THREADS: 4,
    RocksDBOptions.USE_DYNAMIC_LEVEL_SIZE: True,
}
_PREDEFINED: dict[PredefinedOptions, dict[ConfigOption[Any], Any]] = {
    PredefinedOptions.DEFAULT: {},
    PredefinedOptions.SPINNING_DISK_OPTIMIZED: _SPINNING_DISK,
    PredefinedOptions.SPINNING_DISK_OPTIMIZED_HIGH_MEM: {
        **_SPINNING_DISK,
        RocksDBOptions.TARGET_FILE_SIZE_BASE: 256 << 20,
        RocksDBOptions.MAX_SIZE_LEVEL_BASE: 1 << 30,
        RocksDBOptions.MAX_WRITE_BUFFER_NUMBER: 4,
        RocksDBOptions.MIN_WRITE_BUFFER_NUMBER_TO_MERGE: 3,
        RocksDBOptions.BLOCK_CACHE_SIZE: 256 << 20,
        RocksDBOptions.BLOCK_SIZE: 128 << 10,
        RocksDBOptions.USE_BLOOM_FILTER: True,
    },
    PredefinedOptions.FLASH_SSD_OPTIMIZED: {RocksDBOptions.MAX_BACKGROUND_THREADS: 4},
}


def rocksdb_setting(configuration: Configuration, option: ConfigOption[T]) -> T:
    """The value of one of RocksDB's options: what is set, else that of the predefined options, else the default."""
    predefined = _PREDEFINED[configuration.get(RocksDBOptions.PREDEFINED_OPTIONS)]
    if configuration.contains(option) or option not in predefined:
        return configuration.get(option)
    value: T = predefined[option]
    return value
