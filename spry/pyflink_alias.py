"""Programs that import ``pyflink``, as they stand: ``pyflink.*`` becomes another name of ``spry.*``.

>>> from spry import pyflink_alias
>>> pyflink_alias.install()
>>> from pyflink.datastream import DataStream
>>> DataStream.__module__
'spry.datastream.data_stream'
>>> from pyflink.datastream.connectors.kafka import KafkaSource
Traceback (most recent call last):
ModuleNotFoundError: Spry has no 'pyflink.datastream.connectors.kafka': connectors for other systems ...
>>> pyflink_alias.uninstall()

``spry run`` installs it by itself. Modules and classes are the very same ones under both names. What PyFlink has and
Spry lacks fails where it is imported, with an ImportError that says why.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = [
    "CACHE",
    "FILES",
    "INPUT_FORMATS",
    "TWO_INPUTS",
    "install",
    "installed",
    "uninstall",
]

_ROOT = "pyflink"

_SAME = (
    "common",
    "common.completable_future",
    "common.config_options",
    "common.configuration",
    "common.constants",
    "common.execution_config",
    "common.input_dependency_constraint",
    "common.job_client",
    "common.job_execution_result",
    "common.job_id",
    "common.job_status",
    "common.restart_strategy",
    "common.serialization",
    "common.serializer",
    "common.time",
    "common.typeinfo",
    "common.types",
    "common.watermark_strategy",
    "datastream",
    "datastream.checkpoint_config",
    "datastream.checkpoint_storage",
    "datastream.checkpointing_mode",
    "datastream.connectors",
    "datastream.connectors.base",
    "datastream.connectors.file_system",
    "datastream.connectors.number_seq",
    "datastream.data_stream",
    "datastream.execution_mode",
    "datastream.externalized_checkpoint_retention",
    "datastream.functions",
    "datastream.output_tag",
    "datastream.slot_sharing_group",
    "datastream.state",
    "datastream.state_backend",
    "datastream.stream_execution_environment",
    "datastream.time_domain",
    "datastream.window",
    "metrics",
)
_MODULES = {
    "pyflink": "spry",
    "pyflink.version": "spry",
    **{f"pyflink.{path}": f"spry.{path}" for path in _SAME},
    "pyflink.datastream.timerservice": "spry.datastream.functions",
    "pyflink.metrics.metricbase": "spry.metrics",
}
"""PyFlink's module -> where Spry has what is in it."""

# Why something is not there. What is missing of Spry's own objects is explained in the same words.

CACHE = "streams that keep their records are not there yet; run the stream again"
FILES = "file formats other than lines of text are not there yet; read lines, and parse them in a map function"
INPUT_FORMATS = "input formats are Java classes; implement Source in Python (docs/sources-and-sinks.md)"
TWO_INPUTS = "streams of two inputs (connect, joins, broadcast state) are not there yet"

_ASYNC = "asynchronous functions are not there yet; a map function can call a service that open() connects to"
_COMPACTION = "finished files are not merged; let a rolling policy with larger limits make fewer of them"
_CONNECTORS = (
    "connectors for other systems are not there yet; write a Source or a Sink of your own in Python "
    "(docs/sources-and-sinks.md)"
)
_INTERNAL = "it is internal to PyFlink"
_JVM = "it is for Java objects, and there are none behind Spry's"
_TABLE = "the Table API and SQL are not there yet; use the DataStream API"

_SYSTEMS = ("cassandra", "dynamic_kafka", "elasticsearch", "jdbc", "kafka", "kinesis", "pulsar", "rabbitmq")
_MISSING_MODULES = {
    "pyflink.common.io": INPUT_FORMATS,
    "pyflink.common.utils": _JVM,
    "pyflink.datastream.async_data_stream": _ASYNC,
    "pyflink.datastream.async_retry_predicates": _ASYNC,
    "pyflink.datastream.async_retry_strategies": _ASYNC,
    **{f"pyflink.datastream.connectors.{system}": _CONNECTORS for system in _SYSTEMS},
    "pyflink.datastream.connectors.hybrid_source": "it is not there yet; read the sources one by one, and union them",
    "pyflink.datastream.formats": FILES,
    "pyflink.datastream.utils": _JVM,
    "pyflink.fn_execution": _INTERNAL,
    "pyflink.java_gateway": _JVM,
    "pyflink.serializers": _INTERNAL,
    "pyflink.shell": "there is no shell; any Python shell or notebook will do",
    "pyflink.table": _TABLE,
    "pyflink.util": "it is for Java objects and their exceptions; jobs fail with spry.common.errors.JobExecutionError",
}
"""Why modules of PyFlink have none in Spry."""

_MISSING_NAMES = {
    _ASYNC: (
        "AsyncDataStream AsyncFunction AsyncFunctionDescriptor AsyncRetryPredicate AsyncRetryStrategy "
        "ExponentialBackoffDelayRetryStrategy FixedDelayRetryStrategy NoRetryStrategy"
    ),
    _COMPACTION: "FileCompactStrategy FileCompactor",
    FILES: "BulkFormat",
    _INTERNAL: (
        "FunctionWrapper InternalIterableAllWindowFunction InternalIterableProcessAllWindowFunction "
        "InternalIterableProcessWindowFunction InternalIterableWindowFunction InternalProcessAllWindowContext "
        "InternalProcessWindowContext InternalSingleValueAllWindowFunction "
        "InternalSingleValueProcessAllWindowFunction InternalSingleValueProcessWindowFunction "
        "InternalSingleValueWindowFunction InternalWindowFunction Min PassThroughAllWindowFunction "
        "PassThroughWindowFunction ReduceFunctionWrapper WindowOperationDescriptor long_to_int_with_bit_mixing "
        "mod_inverse"
    ),
    _JVM: "JavaFunctionWrapper JavaObjectWrapper StreamTransformer SupportsPreprocessing",
    TWO_INPUTS: ("BroadcastConnectedStream BroadcastStream CoFlatMapFunction CoMapFunction ConnectedStreams"),
    "it wraps a Java class; use WatermarkStrategy.for_generator": "AssignerWithPeriodicWatermarksWrapper",
    CACHE: "CachedDataStream",
    _TABLE: "RowDataBulkWriterFactory",
}
_WHY = {name: why for why, names in _MISSING_NAMES.items() for name in names.split()}


class _Aliased(ModuleType):
    """A module of Spry that has one of PyFlink's names, too: it knows why PyFlink's other names are not in it.

    An ImportError, and not an AttributeError, is what ``from module import name`` passes on as it is.
    """

    def __getattr__(self, name: str) -> Any:
        # This is asked last: what the module has been given, also by a __getattr__ of its own, is found before.
        path = f"{_ROOT}{self.__name__.removeprefix('spry')}.{name}"
        if path in _MODULES:
            return import_module(path)
        why = _WHY.get(name) or _MISSING_MODULES.get(path)
        if why is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise ImportError(f"Spry has no {path!r}: {why}", name=path)


class _Aliases(MetaPathFinder, Loader):
    """Finds ``pyflink.*``, and loads the module that it stands for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != _ROOT:
            return None
        if fullname not in _MODULES:
            why = _MISSING_MODULES.get(fullname, "nor does it know such a module of PyFlink's")
            raise ModuleNotFoundError(f"Spry has no {fullname!r}: {why}", name=fullname)
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        # The import system takes what is in sys.modules in the end.
        sys.modules[module.__name__] = aliased = import_module(_MODULES[module.__name__])
        aliased.__class__ = _Aliased


_FINDER = _Aliases()


def installed() -> bool:
    """Whether ``pyflink`` is another name of Spry in this process."""
    return _FINDER in sys.meta_path


def install() -> None:
    """Make ``pyflink`` another name of Spry in this process, and in the slots of its jobs. Doing so again does nothing.

    A real PyFlink in the environment is not found until :func:`uninstall`. If it has been imported already, that is an
    ImportError.
    """
    if installed():
        return
    if _ROOT in sys.modules:
        raise ImportError(
            "pyflink_alias.install() comes too late: this process has already imported the real pyflink. "
            "Call it before anything imports pyflink, or leave PyFlink out of this process",
            name=_ROOT,
        )
    sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Let ``pyflink`` be what it was before."""
    if not installed():
        return
    sys.meta_path.remove(_FINDER)
    for name in [name for name in sys.modules if name.partition(".")[0] == _ROOT]:
        module: ModuleType = sys.modules.pop(name)
        known_to_us = isinstance(module, _Aliased)
        if known_to_us:
            module.__class__ = ModuleType
