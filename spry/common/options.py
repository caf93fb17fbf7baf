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
from spry.common.time import Duration

__all__ = [
    "CoreOptions",
    "ExecutionOptions",
    "OptionGroup",
    "PipelineOptions",
    "ProgressMode",
    "PythonOptions",
    "RestartStrategyOptions",
    "RestartStrategyType",
    "SpryOptions",
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
            "Whether operators without a uid get one that is made from their place in the graph. "
            "If not, a job whose operators have state but no uid is refused."
        )
    )
    GENERIC_TYPES = (
        _key("pipeline.generic-types")
        .boolean_type()
        .default_value(True)
        .with_description("Whether streams may have no declared type, so that their values are pickled.")
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
    SNAPSHOT_COMPRESSION = (
        _key("execution.checkpointing.snapshot-compression")
        .boolean_type()
        .default_value(False)
        .with_description("Whether the files of checkpoints are compressed.")
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


if __name__ == "__main__":
    print(reference())
