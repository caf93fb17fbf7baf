"""All options that Spry knows, and how configurations are checked and loaded.

``python -m spry.common.options`` prints the reference of all options as Markdown.
"""

from __future__ import annotations

from enum import Enum

from spry.common.config_options import ConfigOptions
from spry.common.execution_mode import RuntimeExecutionMode
from spry.common.option_registry import (
    OptionGroup,
    all_options,
    find_option,
    load_config_file,
    option_groups,
    reference,
    validate,
)
from spry.common.state_choices import (
    CheckpointingMode,
    CheckpointStorageType,
    CompactionStyle,
    ExternalizedCheckpointRetention,
    PredefinedOptions,
    PriorityQueueStateType,
    RecoveryClaimMode,
    RocksDBLogLevel,
    StateBackendType,
)
from spry.common.time import Duration

__all__ = [
    "CheckpointingOptions",
    "CoreOptions",
    "ExecutionOptions",
    "OptionGroup",
    "PipelineOptions",
    "ProgressMode",
    "PythonOptions",
    "QueryableStateOptions",
    "RestartStrategyOptions",
    "RestartStrategyType",
    "RocksDBOptions",
    "SpryOptions",
    "StateBackendOptions",
    "StateRecoveryOptions",
    "all_options",
    "find_option",
    "load_config_file",
    "option_groups",
    "reference",
    "validate",
]

_key = ConfigOptions.key


class ProgressMode(Enum):
    """How the progress of a job is shown while a program waits for it."""

    AUTO = "auto"
    LIVE = "live"
    LOG = "log"
    NONE = "none"


class RestartStrategyType(Enum):
    """What happens when a job fails."""

    NONE = "none"
    FIXED_DELAY = "fixed-delay"
    FAILURE_RATE = "failure-rate"
    EXPONENTIAL_DELAY = "exponential-delay"


class CoreOptions(OptionGroup):
    """What holds for a whole program."""

    DEFAULT_PARALLELISM = (
        _key("parallelism.default")
        .int_type()
        .no_default_value("the number of cores that Spark offers")
        .with_minimum(1)
        .with_description("How many subtasks an operator has unless the program sets its parallelism.")
    )


class PipelineOptions(OptionGroup):
    """How the pipeline of a job is built."""

    NAME = (
        _key("pipeline.name")
        .string_type()
        .no_default_value("a name made from the program")
        .with_description("The name of the job in logs and user interfaces.")
    )
    MAX_PARALLELISM = (
        _key("pipeline.max-parallelism")
        .int_type()
        .default_value(-1)
        .with_description(
            "The number of key groups, which is the highest parallelism that a job can be rescaled to. "
            "-1 chooses 128, or more if the parallelism needs it."
        )
        .with_minimum(-1)
    )
    OPERATOR_CHAINING = (
        _key("pipeline.operator-chaining.enabled")
        .boolean_type()
        .default_value(True)
        .with_fallback_keys("pipeline.operator-chaining")
        .with_description("Whether operators that exchange no data between subtasks are fused into one loop.")
    )
    OPERATOR_CHAINING_CHAIN_OPERATORS_WITH_DIFFERENT_MAX_PARALLELISM = (
        _key("pipeline.operator-chaining.chain-operators-with-different-max-parallelism")
        .boolean_type()
        .default_value(True)
        .with_description("Whether operators with different maximum parallelism may be fused, too.")
    )
    OBJECT_REUSE = (
        _key("pipeline.object-reuse")
        .boolean_type()
        .default_value(False)
        .with_description(
            "Whether a record may reach several fused operators as one object. It is faster, "
            "and right if functions neither change nor keep the records that they are given."
        )
    )
    AUTO_WATERMARK_INTERVAL = (
        _key("pipeline.auto-watermark-interval")
        .duration_type()
        .default_value(Duration.of_millis(200))
        .with_description("How often watermark generators are asked for a watermark. 0 never asks them.")
    )
    GLOBAL_JOB_PARAMETERS = (
        _key("pipeline.global-job-parameters")
        .map_type()
        .no_default_value("none")
        .with_description("Parameters of the program that all functions can read.")
    )
    CACHED_FILES = (
        _key("pipeline.cached-files")
        .list_type()
        .no_default_value("none")
        .with_description(
            "Files that every worker finds under a name: 'name:data,path:/data.csv;name:model,path:/m.bin'."
        )
    )
    AUTO_GENERATE_UIDS = (
        _key("pipeline.auto-generate-uids")
        .boolean_type()
        .default_value(True)
        .with_description(
            "Kept, but has no effect: operators without a uid get one that is made from their place in the graph."
        )
    )
    GENERIC_TYPES = (
        _key("pipeline.generic-types")
        .boolean_type()
        .default_value(True)
        .with_description("Kept, but has no effect: streams may have no declared type; their values are pickled.")
    )
    JARS = (
        _key("pipeline.jars")
        .list_type(";")
        .no_default_value("none")
        .with_description("Jars that a program brings for Flink, divided by semicolons. Kept, but nothing loads them.")
    )
    CLASSPATHS = (
        _key("pipeline.classpaths")
        .list_type(";")
        .no_default_value("none")
        .with_description("Class paths that a program brings for Flink, divided by semicolons. Kept, as jars are.")
    )


class ExecutionOptions(OptionGroup):
    """How a job is executed."""

    RUNTIME_MODE = (
        _key("execution.runtime-mode")
        .enum_type(RuntimeExecutionMode)
        .default_value(RuntimeExecutionMode.STREAMING)
        .with_description(
            "'streaming' gives results continuously; 'batch' gives final results only and needs bounded "
            "sources; 'automatic' takes batch if all sources are bounded."
        )
    )
    BUFFER_TIMEOUT = (
        _key("execution.buffer-timeout.interval")
        .duration_type()
        .default_value(Duration.of_millis(100))
        .with_fallback_keys("execution.buffer-timeout")
        .with_description("How long records may wait for others that travel with them.")
    )
    BUFFER_TIMEOUT_ENABLED = (
        _key("execution.buffer-timeout.enabled")
        .boolean_type()
        .default_value(True)
        .with_description("Whether execution.buffer-timeout.interval is heeded.")
    )
    ATTACHED = (
        _key("execution.attached")
        .boolean_type()
        .default_value(True)
        .with_description("Whether the program that starts a job waits for its end.")
    )
    LATENCY_TRACKING_INTERVAL = (
        _key("metrics.latency.interval")
        .duration_type()
        .default_value(Duration.of_millis(0))
        .with_description("How often sources send latency markers. 0 sends none.")
    )
    TASK_CANCELLATION_INTERVAL = (
        _key("task.cancellation.interval")
        .duration_type()
        .default_value(Duration.of_seconds(30))
        .with_description("How often a task that is cancelled but does not end is told to end again.")
    )
    TASK_CANCELLATION_TIMEOUT = (
        _key("task.cancellation.timeout")
        .duration_type()
        .default_value(Duration.of_seconds(180))
        .with_description("How long a task that is cancelled may take to end before its process is killed.")
    )


class CheckpointingOptions(OptionGroup):
    """When checkpoints are taken, and where they are kept."""

    CHECKPOINTING_INTERVAL = (
        _key("execution.checkpointing.interval")
        .duration_type()
        .no_default_value("no checkpoints are taken")
        .with_minimum(0)
        .with_description("How often a checkpoint is begun: every 10 ms or less often. 0 takes no checkpoints.")
    )
    CHECKPOINTING_CONSISTENCY_MODE = (
        _key("execution.checkpointing.mode")
        .enum_type(CheckpointingMode)
        .default_value(CheckpointingMode.EXACTLY_ONCE)
        .with_description(
            "What a job that goes on from a checkpoint promises of the effect of each record. State is exact with both."
        )
    )
    CHECKPOINTING_TIMEOUT = (
        _key("execution.checkpointing.timeout")
        .duration_type()
        .default_value(Duration.of_minutes(10))
        .with_minimum(10)
        .with_description("A checkpoint that takes longer is given up.")
    )
    MIN_PAUSE_BETWEEN_CHECKPOINTS = (
        _key("execution.checkpointing.min-pause")
        .duration_type()
        .default_value(Duration.of_millis(0))
        .with_minimum(0)
        .with_description(
            "The least time from the end of a checkpoint to the beginning of the next one. If it is not 0, there is "
            "never more than one at a time."
        )
    )
    MAX_CONCURRENT_CHECKPOINTS = (
        _key("execution.checkpointing.max-concurrent-checkpoints")
        .int_type()
        .default_value(1)
        .with_minimum(1)
        .with_description("How many checkpoints may be on their way at the same time.")
    )
    TOLERABLE_FAILURE_NUMBER = (
        _key("execution.checkpointing.tolerable-failed-checkpoints")
        .int_type()
        .default_value(0)
        .with_minimum(0)
        .with_description("How many checkpoints in a row may fail before the job does.")
    )
    EXTERNALIZED_CHECKPOINT_RETENTION = (
        _key("execution.checkpointing.externalized-checkpoint-retention")
        .enum_type(ExternalizedCheckpointRetention)
        .default_value(ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS)
        .with_description(
            "What becomes of the checkpoints when the job ends: 'delete_on_cancellation' keeps them if it fails, "
            "'retain_on_cancellation' also if it is cancelled, 'no_externalized_checkpoints' keeps none."
        )
    )
    PREFER_CHECKPOINT_FOR_RECOVERY = (
        _key("execution.checkpointing.prefer-checkpoint-for-recovery")
        .boolean_type()
        .default_value(False)
        .with_description(
            "Whether a failed job goes on from its latest checkpoint even if there is a savepoint that is newer."
        )
    )
    ENABLE_UNALIGNED = (
        _key("execution.checkpointing.unaligned.enabled")
        .boolean_type()
        .default_value(False)
        .with_fallback_keys("execution.checkpointing.unaligned")
        .with_description(
            "Accepted: a checkpoint is taken when no record is on its way, so it is the same with and without."
        )
    )
    FORCE_UNALIGNED = (
        _key("execution.checkpointing.unaligned.forced")
        .boolean_type()
        .default_value(False)
        .with_description("Kept, but has no effect: see execution.checkpointing.unaligned.enabled.")
    )
    ALIGNED_CHECKPOINT_TIMEOUT = (
        _key("execution.checkpointing.aligned-checkpoint-timeout")
        .duration_type()
        .default_value(Duration.of_millis(0))
        .with_minimum(0)
        .with_fallback_keys("execution.checkpointing.alignment-timeout")
        .with_description("Kept, but has no effect: checkpoints wait for no records.")
    )
    ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH = (
        _key("execution.checkpointing.checkpoints-after-tasks-finish")
        .boolean_type()
        .default_value(True)
        .with_fallback_keys("execution.checkpointing.checkpoints-after-tasks-finish.enabled")
        .with_description("Whether checkpoints are taken when some of the job's subtasks have finished already.")
    )
    CHECKPOINT_STORAGE = (
        _key("execution.checkpointing.storage")
        .enum_type(CheckpointStorageType)
        .no_default_value("filesystem if there is a directory, else jobmanager")
        .with_fallback_keys("state.checkpoint-storage")
        .with_description(
            "Where checkpoints are kept: in the memory of the job manager, or in files. With a directory it is files "
            "in any case."
        )
    )
    CHECKPOINTS_DIRECTORY = (
        _key("execution.checkpointing.dir")
        .string_type()
        .no_default_value("none")
        .with_fallback_keys("state.checkpoints.dir", "state.backend.fs.checkpointdir")
        .with_description("The directory, or its URI, of the checkpoints. All workers must be able to reach it.")
    )
    SAVEPOINT_DIRECTORY = (
        _key("execution.checkpointing.savepoint-dir")
        .string_type()
        .no_default_value("none")
        .with_fallback_keys("state.savepoints.dir", "savepoints.state.backend.fs.dir")
        .with_description("The directory, or its URI, of savepoints for which none is named.")
    )
    CREATE_CHECKPOINT_SUB_DIR = (
        _key("execution.checkpointing.create-subdir")
        .boolean_type()
        .default_value(True)
        .with_fallback_keys("state.checkpoints.create-subdir")
        .with_description(
            "Whether each job has a directory of its own in that of the checkpoints. If not, no two jobs may share one."
        )
    )
    MAX_RETAINED_CHECKPOINTS = (
        _key("execution.checkpointing.num-retained")
        .int_type()
        .default_value(1)
        .with_minimum(1)
        .with_fallback_keys("state.checkpoints.num-retained")
        .with_description("How many of the latest checkpoints are kept.")
    )
    INCREMENTAL_CHECKPOINTS = (
        _key("execution.checkpointing.incremental")
        .boolean_type()
        .default_value(False)
        .with_fallback_keys("state.backend.incremental")
        .with_description(
            "Whether a checkpoint has only what is new since the one before, if the state backend can do that: rocksdb "
            "can, hashmap cannot."
        )
    )
    SNAPSHOT_COMPRESSION = (
        _key("execution.checkpointing.snapshot-compression")
        .boolean_type()
        .default_value(False)
        .with_description("Whether the files of checkpoints are compressed.")
    )
    FS_SMALL_FILE_THRESHOLD = (
        _key("execution.checkpointing.data-inline-threshold")
        .memory_type()
        .default_value(20 << 10)
        .with_minimum(0)
        .with_fallback_keys("state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold")
        .with_description("State that is not larger than this goes into the checkpoint's metadata, not into a file.")
    )
    FS_WRITE_BUFFER_SIZE = (
        _key("execution.checkpointing.write-buffer-size")
        .int_type()
        .default_value(4096)
        .with_minimum(0)
        .with_fallback_keys("state.storage.fs.write-buffer-size", "state.backend.fs.write-buffer-size")
        .with_description("Kept, but has no effect: files of checkpoints are written in large pieces.")
    )
    LOCAL_BACKUP_DIRS = (
        _key("execution.checkpointing.local-backup.dirs")
        .list_type(",")
        .no_default_value("the workers' temporary directories")
        .with_fallback_keys("taskmanager.state.local.root-dirs")
        .with_description("Where workers keep the copies of their state that local recovery starts from.")
    )


class StateRecoveryOptions(OptionGroup):
    """What a job starts from."""

    SAVEPOINT_PATH = (
        _key("execution.state-recovery.path")
        .string_type()
        .no_default_value("none")
        .with_fallback_keys("execution.savepoint.path")
        .with_description(
            "The savepoint, the retained checkpoint or the directory of a job with checkpoints that a job starts from."
        )
    )
    SAVEPOINT_IGNORE_UNCLAIMED_STATE = (
        _key("execution.state-recovery.ignore-unclaimed-state")
        .boolean_type()
        .default_value(False)
        .with_fallback_keys("execution.savepoint.ignore-unclaimed-state")
        .with_description("Whether a job may start from a savepoint with state that none of its operators takes.")
    )
    RESTORE_MODE = (
        _key("execution.state-recovery.claim-mode")
        .enum_type(RecoveryClaimMode)
        .default_value(RecoveryClaimMode.NO_CLAIM)
        .with_fallback_keys("execution.savepoint-restore-mode")
        .with_description(
            "'claim' gives what the job starts from to the job, which deletes it when it has newer checkpoints; "
            "'no_claim' never touches it."
        )
    )
    LOCAL_RECOVERY = (
        _key("execution.state-recovery.from-local")
        .boolean_type()
        .default_value(False)
        .with_fallback_keys("state.backend.local-recovery", "execution.checkpointing.local-backup.enabled")
        .with_description(
            "Whether workers keep copies of their state, so that a restarted job reads less of the checkpoint."
        )
    )


class StateBackendOptions(OptionGroup):
    """Where state lives while a job runs."""

    STATE_BACKEND = (
        _key("state.backend.type")
        .enum_type(StateBackendType)
        .default_value(StateBackendType.HASHMAP)
        .with_fallback_keys("state.backend")
        .with_description(
            "Where keyed state lives: 'hashmap' as objects in memory, 'rocksdb' on the local disk, so that it may be "
            "larger than memory."
        )
    )
    ASYNC_SNAPSHOTS = (
        _key("state.backend.async")
        .boolean_type()
        .default_value(True)
        .with_description("Whether checkpoints are written while the job goes on.")
    )
    LATENCY_TRACK_ENABLED = (
        _key("state.latency-track.keyed-state-enabled")
        .boolean_type()
        .default_value(False)
        .with_fallback_keys("state.backend.latency-track.keyed-state-enabled")
        .with_description("Whether metrics tell how long accesses to keyed state take.")
    )
    LATENCY_TRACK_SAMPLE_INTERVAL = (
        _key("state.latency-track.sample-interval")
        .int_type()
        .default_value(100)
        .with_minimum(1)
        .with_fallback_keys("state.backend.latency-track.sample-interval")
        .with_description("One of so many accesses is measured.")
    )
    LATENCY_TRACK_HISTORY_SIZE = (
        _key("state.latency-track.history-size")
        .int_type()
        .default_value(128)
        .with_minimum(1)
        .with_fallback_keys("state.backend.latency-track.history-size")
        .with_description("How many of the latest measurements a metric is made of.")
    )
    LATENCY_TRACK_STATE_NAME_AS_VARIABLE = (
        _key("state.latency-track.state-name-as-variable")
        .boolean_type()
        .default_value(True)
        .with_fallback_keys("state.backend.latency-track.state-name-as-variable")
        .with_description("Whether each state has metrics of its own, by its name.")
    )
    CHANGELOG_ENABLED = (
        _key("state.changelog.enabled")
        .boolean_type()
        .default_value(False)
        .with_fallback_keys("state.backend.changelog.enabled")
        .with_description(
            "Kept, but has no effect: there is no changelog of state. For short checkpoints of large state take "
            "rocksdb and execution.checkpointing.incremental."
        )
    )


class RocksDBOptions(OptionGroup):
    """The settings of RocksDB, if `state.backend.type` is `rocksdb`."""

    PREDEFINED_OPTIONS = (
        _key("state.backend.rocksdb.predefined-options")
        .enum_type(PredefinedOptions)
        .default_value(PredefinedOptions.DEFAULT)
        .with_description("Other defaults of the options below, for a kind of machine.")
    )
    LOCAL_DIRECTORIES = (
        _key("state.backend.rocksdb.localdir")
        .list_type(",")
        .no_default_value("the workers' temporary directories")
        .with_description("Directories of the workers, divided by commas, in which RocksDB keeps its files.")
    )
    FIX_PER_SLOT_MEMORY_SIZE = (
        _key("state.backend.rocksdb.memory.fixed-per-slot")
        .memory_type()
        .no_default_value("each state has caches and write buffers of its own")
        .with_minimum(1)
        .with_description("The memory that all states of a slot share for caches and write buffers.")
    )
    USE_MANAGED_MEMORY = (
        _key("state.backend.rocksdb.memory.managed")
        .boolean_type()
        .default_value(False)
        .with_description(
            "Kept, but has no effect: there is no managed memory. state.backend.rocksdb.memory.fixed-per-slot bounds "
            "what a slot takes."
        )
    )
    USE_PARTITIONED_INDEX_FILTERS = (
        _key("state.backend.rocksdb.memory.partitioned-index-filters")
        .boolean_type()
        .default_value(False)
        .with_description("Whether indexes and filters are divided, so that only parts of them need to be in memory.")
    )
    MAX_BACKGROUND_THREADS = (
        _key("state.backend.rocksdb.thread.num")
        .int_type()
        .default_value(2)
        .with_minimum(1)
        .with_description("How many threads of a slot write and merge files in the background.")
    )
    MAX_OPEN_FILES = (
        _key("state.backend.rocksdb.files.open")
        .int_type()
        .default_value(-1)
        .with_minimum(-1)
        .with_description("How many files a slot may have open. -1 sets no limit.")
    )
    LOG_LEVEL = (
        _key("state.backend.rocksdb.log.level")
        .enum_type(RocksDBLogLevel)
        .default_value(RocksDBLogLevel.INFO_LEVEL)
        .with_description("From which level on RocksDB writes to its log.")
    )
    COMPACTION_STYLE = (
        _key("state.backend.rocksdb.compaction.style")
        .enum_type(CompactionStyle)
        .default_value(CompactionStyle.LEVEL)
        .with_description("How files are merged.")
    )
    USE_DYNAMIC_LEVEL_SIZE = (
        _key("state.backend.rocksdb.compaction.level.use-dynamic-size")
        .boolean_type()
        .default_value(False)
        .with_description("Whether the sizes of the levels follow that of the last one.")
    )
    TARGET_FILE_SIZE_BASE = (
        _key("state.backend.rocksdb.compaction.level.target-file-size-base")
        .memory_type()
        .default_value(64 << 20)
        .with_minimum(1)
        .with_description("The size of a file of level 1.")
    )
    MAX_SIZE_LEVEL_BASE = (
        _key("state.backend.rocksdb.compaction.level.max-size-level-base")
        .memory_type()
        .default_value(256 << 20)
        .with_minimum(1)
        .with_description("The size of level 1.")
    )
    WRITE_BUFFER_SIZE = (
        _key("state.backend.rocksdb.writebuffer.size")
        .memory_type()
        .default_value(64 << 20)
        .with_minimum(1)
        .with_description("How much is written to memory, per state, before it becomes a file.")
    )
    MAX_WRITE_BUFFER_NUMBER = (
        _key("state.backend.rocksdb.writebuffer.count")
        .int_type()
        .default_value(2)
        .with_minimum(1)
        .with_description("How many write buffers a state may have.")
    )
    MIN_WRITE_BUFFER_NUMBER_TO_MERGE = (
        _key("state.backend.rocksdb.writebuffer.number-to-merge")
        .int_type()
        .default_value(1)
        .with_minimum(1)
        .with_description("How many full write buffers are merged into one file.")
    )
    BLOCK_SIZE = (
        _key("state.backend.rocksdb.block.blocksize")
        .memory_type()
        .default_value(4 << 10)
        .with_minimum(1)
        .with_description("The size of a block: what is read at once.")
    )
    BLOCK_CACHE_SIZE = (
        _key("state.backend.rocksdb.block.cache-size")
        .memory_type()
        .default_value(8 << 20)
        .with_minimum(0)
        .with_description("How much of a state's blocks is kept in memory.")
    )
    USE_BLOOM_FILTER = (
        _key("state.backend.rocksdb.use-bloom-filter")
        .boolean_type()
        .default_value(False)
        .with_description("Whether files have a filter that tells quickly that a key is not in them.")
    )
    BLOOM_FILTER_BITS_PER_KEY = (
        _key("state.backend.rocksdb.bloom-filter.bits-per-key")
        .double_type()
        .default_value(10.0)
        .with_minimum(1)
        .with_description("The size of that filter.")
    )
    CHECKPOINT_TRANSFER_THREAD_NUM = (
        _key("state.backend.rocksdb.checkpoint.transfer.thread.num")
        .int_type()
        .default_value(4)
        .with_minimum(1)
        .with_description("How many threads of a slot copy files to a checkpoint and from it.")
    )
    TIMER_SERVICE_FACTORY = (
        _key("state.backend.rocksdb.timer-service.factory")
        .enum_type(PriorityQueueStateType)
        .default_value(PriorityQueueStateType.HEAP)
        .with_description("Kept, but has no effect: timers are in memory with every backend.")
    )
    TTL_COMPACTION_FILTER_ENABLED = (
        _key("state.backend.rocksdb.ttl.compaction.filter.enabled")
        .boolean_type()
        .default_value(True)
        .with_description("Kept, but has no effect: each state's StateTtlConfig says how it is cleaned up.")
    )


class QueryableStateOptions(OptionGroup):
    """Reading the state of a running job from outside."""

    ENABLE_QUERYABLE_STATE_PROXY_SERVER = (
        _key("queryable-state.enable")
        .boolean_type()
        .default_value(False)
        .with_description(
            "Kept, but has no effect: queryable state can be asked for, by the same user on the same machine."
        )
    )


class RestartStrategyOptions(OptionGroup):
    """What happens when a job fails."""

    STRATEGY = (
        _key("restart-strategy.type")
        .enum_type(RestartStrategyType)
        .no_default_value("exponential-delay with checkpoints, none without")
        .with_fallback_keys("restart-strategy")
        .with_description("The strategy by which a failed job is restarted.")
    )
    FIXED_DELAY_ATTEMPTS = (
        _key("restart-strategy.fixed-delay.attempts")
        .int_type()
        .default_value(1)
        .with_minimum(0)
        .with_description("How often a job is restarted before it fails for good.")
    )
    FIXED_DELAY_DELAY = (
        _key("restart-strategy.fixed-delay.delay")
        .duration_type()
        .default_value(Duration.of_seconds(1))
        .with_description("How long to wait before a restart.")
    )
    FAILURE_RATE_MAX_FAILURES_PER_INTERVAL = (
        _key("restart-strategy.failure-rate.max-failures-per-interval")
        .int_type()
        .default_value(1)
        .with_minimum(1)
        .with_description("How many failures within the interval a job survives.")
    )
    FAILURE_RATE_FAILURE_RATE_INTERVAL = (
        _key("restart-strategy.failure-rate.failure-rate-interval")
        .duration_type()
        .default_value(Duration.of_minutes(1))
        .with_description("The interval in which failures are counted.")
    )
    FAILURE_RATE_DELAY = (
        _key("restart-strategy.failure-rate.delay")
        .duration_type()
        .default_value(Duration.of_seconds(1))
        .with_description("How long to wait before a restart.")
    )
    EXPONENTIAL_DELAY_INITIAL_BACKOFF = (
        _key("restart-strategy.exponential-delay.initial-backoff")
        .duration_type()
        .default_value(Duration.of_seconds(1))
        .with_minimum(1)
        .with_description("How long to wait before the first restart.")
    )
    EXPONENTIAL_DELAY_MAX_BACKOFF = (
        _key("restart-strategy.exponential-delay.max-backoff")
        .duration_type()
        .default_value(Duration.of_minutes(1))
        .with_minimum(1)
        .with_description("The longest wait before a restart.")
    )
    EXPONENTIAL_DELAY_BACKOFF_MULTIPLIER = (
        _key("restart-strategy.exponential-delay.backoff-multiplier")
        .double_type()
        .default_value(1.5)
        .with_minimum(1)
        .with_description("By what the wait is multiplied after each failure.")
    )
    EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD = (
        _key("restart-strategy.exponential-delay.reset-backoff-threshold")
        .duration_type()
        .default_value(Duration.of_hours(1))
        .with_minimum(1)
        .with_description("After this time without a failure the wait is the initial one again.")
    )
    EXPONENTIAL_DELAY_JITTER_FACTOR = (
        _key("restart-strategy.exponential-delay.jitter-factor")
        .double_type()
        .default_value(0.1)
        .with_minimum(0)
        .with_description("The part of the wait that is random, so that jobs do not restart in step.")
    )
    EXPONENTIAL_DELAY_ATTEMPTS = (
        _key("restart-strategy.exponential-delay.attempts-before-reset-backoff")
        .int_type()
        .no_default_value("no limit")
        .with_minimum(1)
        .with_description("How often a job is restarted before it fails for good.")
    )


class PythonOptions(OptionGroup):
    """What workers need to run the functions of a program."""

    PYTHON_FILES = (
        _key("python.files")
        .list_type(",")
        .no_default_value("none")
        .with_description("Python files, packages and zip files that functions import, divided by commas.")
    )
    PYTHON_ARCHIVES = (
        _key("python.archives")
        .list_type(",")
        .no_default_value("none")
        .with_description(
            "Archives that are unpacked beside the functions, divided by commas; 'file.zip#name' names the directory."
        )
    )
    PYTHON_REQUIREMENTS = (
        _key("python.requirements")
        .string_type()
        .no_default_value("none")
        .with_description(
            "A requirements file to install from on workers; 'requirements.txt#directory' takes the packages "
            "from this directory."
        )
    )
    PYTHON_EXECUTABLE = (
        _key("python.executable")
        .string_type()
        .no_default_value("the interpreter of the program")
        .with_description("The Python interpreter of the workers.")
    )


class SpryOptions(OptionGroup):
    """How Spry uses Spark."""

    SPARK_MASTER = (
        _key("spry.spark.master")
        .string_type()
        .default_value("local[*]")
        .with_description("The Spark master, if the program brings no Spark session of its own.")
    )
    EPOCH_TARGET_DURATION = (
        _key("spry.epoch.target-duration")
        .duration_type()
        .default_value(Duration.of_seconds(1))
        .with_minimum(1)
        .with_description(
            "How long an epoch should take when there is backlog. Longer epochs have a higher throughput, "
            "shorter ones a lower latency."
        )
    )
    EPOCH_MAX_RECORDS = (
        _key("spry.epoch.max-records")
        .long_type()
        .default_value(0)
        .with_minimum(0)
        .with_description("The most records that a source subtask reads in an epoch. 0 sets no limit.")
    )
    EPOCH_MAX_SIZE = (
        _key("spry.epoch.max-size")
        .memory_type()
        .default_value(512 << 20)
        .with_minimum(1)
        .with_description("How much data of an epoch a slot passes on, about, before its sources stop reading.")
    )
    EPOCH_INTERVAL = (
        _key("spry.epoch.interval")
        .duration_type()
        .default_value(Duration.of_millis(100))
        .with_description("The pause between epochs when there is no backlog.")
    )
    EPOCH_IDLE_INTERVAL = (
        _key("spry.epoch.idle-interval")
        .duration_type()
        .default_value(Duration.of_seconds(1))
        .with_description("The longest pause between epochs of a job that finds nothing to do.")
    )
    EPOCH_KEEP_ALIVE = (
        _key("spry.epoch.keep-alive")
        .duration_type()
        .default_value(Duration.of_seconds(20))
        .with_minimum(1)
        .with_description("After this time without one, an epoch runs in any case: Spark ends workers that are idle.")
    )
    PROGRESS = (
        _key("spry.progress")
        .enum_type(ProgressMode)
        .default_value(ProgressMode.AUTO)
        .with_description(
            "How progress is shown: 'live' redraws a display in the terminal, 'log' writes lines now and "
            "then, 'none' is silent, 'auto' is live in a terminal and writes lines otherwise."
        )
    )
    PROGRESS_INTERVAL = (
        _key("spry.progress.interval")
        .duration_type()
        .default_value(Duration.of_seconds(5))
        .with_minimum(1)
        .with_description("How often 'log' progress is written.")
    )
    COLLECT_BUFFER_RECORDS = (
        _key("spry.collect.buffer-records")
        .int_type()
        .default_value(100_000)
        .with_minimum(1)
        .with_description(
            "How many collected records may wait for the program to take them before the job waits for it."
        )
    )
    STATE_ROCKSDB_CACHE_ENTRIES = (
        _key("spry.state.rocksdb.cache-entries")
        .int_type()
        .default_value(100_000)
        .with_minimum(0)
        .with_description("How many entries of a RocksDB state a slot keeps as objects between checkpoints.")
    )
    CHECKPOINT_MAX_STATE_SIZE = (
        _key("spry.checkpoint.max-state-size")
        .memory_type()
        .default_value(5 << 20)
        .with_minimum(1)
        .with_description(
            "The most state that a slot may have in a checkpoint that the job manager keeps in its memory."
        )
    )


if __name__ == "__main__":
    print(reference())
