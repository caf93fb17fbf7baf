"""How the operators of a program behave when they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spry.common.config_options import ConfigOption
from spry.common.configuration import Configuration
from spry.common.options import CheckpointingOptions, CoreOptions, ExecutionOptions, PipelineOptions
from spry.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from spry.common.time import Duration

__all__ = ["ExecutionConfig"]

UPPER_BOUND_MAX_PARALLELISM = 1 << 15


class ExecutionConfig:
    """Settings of a program that concern all of its operators.

    They are a view of a :class:`~spry.common.configuration.Configuration`: what is set here is set there, and
    the other way round. Get it from the environment with ``env.get_config()``.

    Kryo and Avro serializers, registered classes, generic types and closure cleaning are settings of Flink that
    have nothing to act on in Python, where a record is written by its type information or else pickled; they are
    kept and can be read back, so that programs that set them run unchanged.
    """

    PARALLELISM_DEFAULT: int = -1
    """The parallelism of an operator for which none is set."""

    PARALLELISM_UNKNOWN: int = -2

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration
        self._closure_cleaner = True
        self._force_kryo = False
        self._force_avro = False
        self._kryo_serializers: dict[str, str] = {}
        self._kryo_types: dict[str, str | None] = {}
        self._pojo_types: list[str] = []

    @property
    def configuration(self) -> Configuration:
        """The configuration that this is a view of."""
        return self._configuration

    def enable_closure_cleaner(self) -> ExecutionConfig:
        self._closure_cleaner = True
        return self

    def disable_closure_cleaner(self) -> ExecutionConfig:
        self._closure_cleaner = False
        return self

    def is_closure_cleaner_enabled(self) -> bool:
        return self._closure_cleaner

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> ExecutionConfig:
        """What happens when a job fails, as the ``restart-strategy.*`` options say it."""
        if not isinstance(restart_strategy_configuration, RestartStrategyConfiguration):
            raise TypeError(
                "set_restart_strategy takes what RestartStrategies gives, such as "
                f"RestartStrategies.fixed_delay_restart(3, 1000), not {restart_strategy_configuration!r}"
            )
        RestartStrategies.to_configuration(restart_strategy_configuration, self._configuration)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """The restart strategy; that of the cluster's configuration if none is set."""
        chosen = RestartStrategies.from_configuration(self._configuration)
        return chosen if chosen is not None else RestartStrategies.fall_back_restart()

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """How often, in milliseconds, watermark generators are asked for a watermark; 0 never asks them."""
        return self._set_millis(PipelineOptions.AUTO_WATERMARK_INTERVAL, interval, "the watermark interval")

    def get_auto_watermark_interval(self) -> int:
        return self._configuration.get(PipelineOptions.AUTO_WATERMARK_INTERVAL).to_millis()

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """How often, in milliseconds, sources send latency markers; 0 sends none."""
        return self._set_millis(ExecutionOptions.LATENCY_TRACKING_INTERVAL, interval, "the latency tracking interval")

    def get_latency_tracking_interval(self) -> int:
        return self._configuration.get(ExecutionOptions.LATENCY_TRACKING_INTERVAL).to_millis()

    def get_parallelism(self) -> int:
        """The parallelism of operators for which none is set, -1 if the cluster decides it."""
        value = self._configuration.get_optional(CoreOptions.DEFAULT_PARALLELISM)
        return ExecutionConfig.PARALLELISM_DEFAULT if value is None else value

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """The parallelism of operators for which none is set; -1 leaves it to the cluster."""
        if parallelism == ExecutionConfig.PARALLELISM_DEFAULT:
            self._configuration.remove(CoreOptions.DEFAULT_PARALLELISM)
        else:
            if type(parallelism) is not int or parallelism < 1:
                raise ValueError(
                    f"the parallelism must be at least 1, or -1 for that of the cluster, got {parallelism!r}"
                )
            self._configuration.set(CoreOptions.DEFAULT_PARALLELISM, parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """The number of key groups of operators for which none is set, -1 if it follows the parallelism."""
        return self._configuration.get(PipelineOptions.MAX_PARALLELISM)

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """The number of key groups: the highest parallelism that the job can ever be rescaled to."""
        if type(max_parallelism) is not int or not 0 < max_parallelism <= UPPER_BOUND_MAX_PARALLELISM:
            raise ValueError(
                f"the maximum parallelism must be from 1 to {UPPER_BOUND_MAX_PARALLELISM}, got {max_parallelism!r}"
            )
        self._configuration.set(PipelineOptions.MAX_PARALLELISM, max_parallelism)
        return self

    def get_task_cancellation_interval(self) -> int:
        return self._configuration.get(ExecutionOptions.TASK_CANCELLATION_INTERVAL).to_millis()

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        """How often, in milliseconds, a task that is cancelled but does not end is told so again."""
        return self._set_millis(ExecutionOptions.TASK_CANCELLATION_INTERVAL, interval, "the cancellation interval")

    def get_task_cancellation_timeout(self) -> int:
        return self._configuration.get(ExecutionOptions.TASK_CANCELLATION_TIMEOUT).to_millis()

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        """How long, in milliseconds, a task that is cancelled may take to end before it is killed."""
        return self._set_millis(ExecutionOptions.TASK_CANCELLATION_TIMEOUT, timeout, "the cancellation timeout")

    def enable_force_kryo(self) -> ExecutionConfig:
        self._force_kryo = True
        return self

    def disable_force_kryo(self) -> ExecutionConfig:
        self._force_kryo = False
        return self

    def is_force_kryo_enabled(self) -> bool:
        return self._force_kryo

    def enable_generic_types(self) -> ExecutionConfig:
        return self._set(PipelineOptions.GENERIC_TYPES, True)

    def disable_generic_types(self) -> ExecutionConfig:
        return self._set(PipelineOptions.GENERIC_TYPES, False)

    def has_generic_types_disabled(self) -> bool:
        return not self._configuration.get(PipelineOptions.GENERIC_TYPES)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Give operators without a uid one that is made from their place in the graph."""
        return self._set(PipelineOptions.AUTO_GENERATE_UIDS, True)

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Refuse jobs with operators that have no uid."""
        return self._set(PipelineOptions.AUTO_GENERATE_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        return self._configuration.get(PipelineOptions.AUTO_GENERATE_UIDS)

    def enable_force_avro(self) -> ExecutionConfig:
        self._force_avro = True
        return self

    def disable_force_avro(self) -> ExecutionConfig:
        self._force_avro = False
        return self

    def is_force_avro_enabled(self) -> bool:
        return self._force_avro

    def enable_object_reuse(self) -> ExecutionConfig:
        """Let a record reach several fused operators as one object: functions must not change records."""
        return self._set(PipelineOptions.OBJECT_REUSE, True)

    def disable_object_reuse(self) -> ExecutionConfig:
        return self._set(PipelineOptions.OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        return self._configuration.get(PipelineOptions.OBJECT_REUSE)

    def get_global_job_parameters(self) -> dict[str, str]:
        """The parameters that all functions of the program can read."""
        parameters = self._configuration.get_optional(PipelineOptions.GLOBAL_JOB_PARAMETERS)
        return dict(parameters) if parameters else {}

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, Any]) -> ExecutionConfig:
        """Parameters that all functions of the program can read; values become texts."""
        return self._set(PipelineOptions.GLOBAL_JOB_PARAMETERS, dict(global_job_parameters_dict))

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> ExecutionConfig:
        """Note the default serializer of a class; see the class's description for what becomes of it."""
        self._kryo_serializers[type_class_name] = serializer_class_name
        return self

    def register_type_with_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> ExecutionConfig:
        """Note a class and the serializer of exactly this class."""
        self._kryo_types[type_class_name] = serializer_class_name
        return self

    def register_kryo_type(self, type_class_name: str) -> ExecutionConfig:
        """Note a class that is written by the general serializer."""
        self._kryo_types.setdefault(type_class_name, None)
        return self

    def register_pojo_type(self, type_class_name: str) -> ExecutionConfig:
        """Note a class that is written field by field."""
        if type_class_name not in self._pojo_types:
            self._pojo_types.append(type_class_name)
        return self

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        return dict(self._kryo_serializers)

    def get_registered_types_with_kryo_serializer_classes(self) -> dict[str, str]:
        return {name: serializer for name, serializer in self._kryo_types.items() if serializer is not None}

    def get_registered_kryo_types(self) -> list[str]:
        return list(self._kryo_types)

    def get_registered_pojo_types(self) -> list[str]:
        return list(self._pojo_types)

    def is_use_snapshot_compression(self) -> bool:
        return self._configuration.get(CheckpointingOptions.SNAPSHOT_COMPRESSION)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Whether the files of checkpoints are compressed."""
        return self._set(CheckpointingOptions.SNAPSHOT_COMPRESSION, use_snapshot_compression)

    def _set(self, option: ConfigOption[Any], value: Any) -> ExecutionConfig:
        self._configuration.set(option, value)
        return self

    def _set_millis(self, option: ConfigOption[Duration], millis: int, what: str) -> ExecutionConfig:
        if type(millis) is not int or millis < 0:
            raise ValueError(f"{what} is a number of milliseconds that is not negative, got {millis!r}")
        return self._set(option, Duration.of_millis(millis))

    def _flags(self) -> tuple[bool, bool, bool]:
        return self._closure_cleaner, self._force_kryo, self._force_avro

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExecutionConfig):
            return NotImplemented
        return self._configuration == other._configuration and self._flags() == other._flags()

    def __hash__(self) -> int:
        return hash((self._configuration, self._flags()))
