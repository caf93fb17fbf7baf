"""What options of checkpoints and state backends can be set to."""

from __future__ import annotations

from enum import Enum

__all__ = [
    "CheckpointStorageType",
    "CheckpointingMode",
    "CompactionStyle",
    "ExternalizedCheckpointRetention",
    "PredefinedOptions",
    "PriorityQueueStateType",
    "RecoveryClaimMode",
    "RocksDBLogLevel",
    "SavepointFormatType",
    "StateBackendType",
]


class CheckpointingMode(Enum):
    """What a job that goes on from a checkpoint promises of the effect of each record on state."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


class ExternalizedCheckpointRetention(Enum):
    """What becomes of a job's checkpoints when it ends.

    ``DELETE_ON_CANCELLATION`` keeps them if the job fails, ``RETAIN_ON_CANCELLATION`` also if it is cancelled, and
    ``NO_EXTERNALIZED_CHECKPOINTS`` never does.
    """

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


class CheckpointStorageType(Enum):
    """Where checkpoints are kept: in the memory of the job manager, or in files."""

    JOBMANAGER = "jobmanager"
    FILESYSTEM = "filesystem"


class RecoveryClaimMode(Enum):
    """Whose the checkpoint is that a job starts from.

    ``CLAIM`` gives it to the job, which deletes it when it has newer ones; ``NO_CLAIM`` never touches it.
    """

    CLAIM = 0
    NO_CLAIM = 1


class SavepointFormatType(Enum):
    """How a savepoint is written.

    A ``CANONICAL`` one can be read by every state backend, a ``NATIVE`` one is the backend's own and faster.
    """

    CANONICAL = 0
    NATIVE = 1


class StateBackendType(Enum):
    """Where keyed state lives: as objects in memory, or in RocksDB on the local disk."""

    HASHMAP = "hashmap"
    ROCKSDB = "rocksdb"


class PredefinedOptions(Enum):
    """Settings of RocksDB for a kind of machine. What is set by an option of its own goes before."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class CompactionStyle(Enum):
    """How RocksDB merges its files."""

    LEVEL = "level"
    UNIVERSAL = "universal"
    FIFO = "fifo"
    NONE = "none"


class RocksDBLogLevel(Enum):
    """From which level on RocksDB writes to its log."""

    DEBUG_LEVEL = "debug_level"
    INFO_LEVEL = "info_level"
    WARN_LEVEL = "warn_level"
    ERROR_LEVEL = "error_level"
    FATAL_LEVEL = "fatal_level"
    HEADER_LEVEL = "header_level"


class PriorityQueueStateType(Enum):
    """Where timers are kept."""

    HEAP = "heap"
    ROCKSDB = "rocksdb"
