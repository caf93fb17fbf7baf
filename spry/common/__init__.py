"""What all parts of Spry share, and what programs need beside streams: rows, types, settings, time.

Names are loaded when they are first used, so that importing this package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spry.common.completable_future import CompletableFuture
    from spry.common.config_options import ConfigOption, ConfigOptions, ConfigurationError
    from spry.common.configuration import Configuration
    from spry.common.execution_config import ExecutionConfig
    from spry.common.execution_mode import RuntimeExecutionMode
    from spry.common.input_dependency_constraint import InputDependencyConstraint
    from spry.common.job_client import JobClient
    from spry.common.job_execution_result import JobExecutionResult
    from spry.common.job_id import JobID
    from spry.common.job_status import JobStatus
    from spry.common.output_tag import OutputTag
    from spry.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
    from spry.common.serialization import (
        ByteArraySchema,
        DeserializationSchema,
        Encoder,
        SerializationSchema,
        SimpleStringSchema,
    )
    from spry.common.serializer import TypeSerializer
    from spry.common.state_choices import SavepointFormatType
    from spry.common.time import Duration, Instant, Time
    from spry.common.type_checks import TypeMismatch
    from spry.common.typeinfo import TypeInformation, Types
    from spry.common.types import Row, RowKind
    from spry.common.watermark_strategy import (
        TimestampAssigner,
        Watermark,
        WatermarkGenerator,
        WatermarkOutput,
        WatermarkStrategy,
    )

__all__ = [
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "ConfigurationError",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "OutputTag",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "RuntimeExecutionMode",
    "SavepointFormatType",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TimestampAssigner",
    "TypeInformation",
    "TypeMismatch",
    "TypeSerializer",
    "Types",
    "Watermark",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]

_MODULES = {
    "completable_future": ("CompletableFuture",),
    "config_options": ("ConfigOption", "ConfigOptions", "ConfigurationError"),
    "configuration": ("Configuration",),
    "execution_config": ("ExecutionConfig",),
    "execution_mode": ("RuntimeExecutionMode",),
    "input_dependency_constraint": ("InputDependencyConstraint",),
    "job_client": ("JobClient",),
    "job_execution_result": ("JobExecutionResult",),
    "job_id": ("JobID",),
    "job_status": ("JobStatus",),
    "output_tag": ("OutputTag",),
    "restart_strategy": ("RestartStrategies", "RestartStrategyConfiguration"),
    "serialization": (
        "ByteArraySchema",
        "DeserializationSchema",
        "Encoder",
        "SerializationSchema",
        "SimpleStringSchema",
    ),
    "serializer": ("TypeSerializer",),
    "state_choices": ("SavepointFormatType",),
    "time": ("Duration", "Instant", "Time"),
    "type_checks": ("TypeMismatch",),
    "typeinfo": ("TypeInformation", "Types"),
    "types": ("Row", "RowKind"),
    "watermark_strategy": (
        "TimestampAssigner",
        "Watermark",
        "WatermarkGenerator",
        "WatermarkOutput",
        "WatermarkStrategy",
    ),
}
_HOMES = {name: f"spry.common.{module}" for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
