"""The environment of a program: where streams begin, and where the program is handed over for execution."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from spry.common.checkpoint_config import CheckpointConfig
from spry.common.collect import CollectBuffer
from spry.common.configuration import Configuration
from spry.common.errors import InvalidProgramError
from spry.common.execution_config import ExecutionConfig
from spry.common.execution_mode import RuntimeExecutionMode
from spry.common.job_client import JobClient
from spry.common.job_execution_result import JobExecutionResult
from spry.common.not_yet import NotYet
from spry.common.operators import OperatorDescription, SourceFunctionOperator, SourceOperator
from spry.common.options import (
    CheckpointingOptions,
    CoreOptions,
    ExecutionOptions,
    PipelineOptions,
    PythonOptions,
    SpryOptions,
    StateBackendOptions,
    validate,
)
from spry.common.restart_strategy import RestartStrategyConfiguration
from spry.common.source import Source
from spry.common.state_backend import StateBackend
from spry.common.state_choices import CheckpointingMode
from spry.common.time import Duration
from spry.common.typeinfo import TypeInformation, Types
from spry.common.watermark_strategy import GeneratorKind, WatermarkStrategy
from spry.connectors.collection import CollectionSource
from spry.connectors.file_system import TextLineSource
from spry.connectors.number_seq import NumberSequenceSource
from spry.connectors.socket import SocketTextSource
from spry.datastream.checks import as_type
from spry.datastream.data_stream import DataStream
from spry.datastream.functions import ParallelSourceFunction
from spry.datastream.slot_sharing_group import SlotSharingGroup
from spry.graph.execution_graph import ExecutionGraph, build_execution_graph
from spry.graph.job_graph import build_job_graph
from spry.graph.stream_graph import StreamGraph, StreamGraphSettings, generate_stream_graph
from spry.graph.submission import JobSubmission, load_executor
from spry.graph.transformations import OperatorTransformation, Transformation
from spry.pyflink_alias import INPUT_FORMATS

__all__ = ["StreamExecutionEnvironment"]

_DEFAULT_JOB_NAME = "Spry Streaming Job"


class StreamExecutionEnvironment(NotYet):
    """Where a program begins.

    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> stream = env.from_collection([1, 2, 3]).map(lambda n: n * n)
    >>> sorted(stream.execute_and_collect())  # doctest: +SKIP
    [1, 4, 9]
    """

    _not_yet: ClassVar[dict[str, str]] = {"create_input": INPUT_FORMATS}
    _overrides: Configuration | None = None
    """What ``spry run -D`` and the configuration file say; it wins over the program's own configuration."""
    _on_submit: Callable[[StreamExecutionEnvironment, str], Any] | None = None
    """Takes jobs instead of the executor, for ``spry info``."""
    _default_local_parallelism: int | None = None

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration(configuration)
        if StreamExecutionEnvironment._overrides is not None:
            self._configuration.add_all(StreamExecutionEnvironment._overrides)
        validate(self._configuration)
        self._config = ExecutionConfig(self._configuration)
        self._checkpoint_config = CheckpointConfig(self._configuration)
        self._transformations: list[Transformation] = []
        self._last_id = 0
        self._cached_files: dict[str, tuple[str, bool]] = {}
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        """A new environment. It runs on the active Spark session, or on a local one that it starts."""
        return StreamExecutionEnvironment(configuration)

    # Settings

    def get_config(self) -> ExecutionConfig:
        """Settings as an ExecutionConfig; changes take effect."""
        return self._config

    def get_configuration(self) -> Configuration:
        """Settings by key; changes take effect."""
        return self._configuration

    def configure(self, configuration: Configuration) -> None:
        """Take over all settings of a configuration."""
        merged = Configuration(self._configuration)
        merged.add_all(configuration)
        validate(merged)
        self._configuration.add_all(configuration)

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """How many subtasks operators have that do not say so themselves."""
        if isinstance(parallelism, bool) or not isinstance(parallelism, int) or parallelism < 1:
            raise ValueError(f"parallelism must be a positive int, not {parallelism!r}")
        self._configuration.set(CoreOptions.DEFAULT_PARALLELISM, parallelism)
        return self

    def get_parallelism(self) -> int:
        """The parallelism of operators that do not say so themselves."""
        chosen = self._configuration.get(CoreOptions.DEFAULT_PARALLELISM)
        if chosen:
            return chosen
        return self._default_local_parallelism or self._cores()

    def _cores(self) -> int:
        """As many as Spark has, as far as that can be told without starting it."""
        import sys

        pyspark = sys.modules.get("pyspark")
        active = pyspark.SparkContext._active_spark_context if pyspark is not None else None
        if active is not None:
            try:
                return max(1, int(active.defaultParallelism))
            except Exception:
                return 1  # Spark is gone: starting the job says so.
        master = self._configuration.get_string("spark.master", self._configuration.get(SpryOptions.SPARK_MASTER))
        inside = master[len("local[") : -1].split(",")[0] if master.startswith("local[") else ""
        return int(inside) if inside.isdigit() else os.cpu_count() or 1

    def get_default_local_parallelism(self) -> int:
        """The parallelism where nothing else is said."""
        return self._default_local_parallelism or self._cores()

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """The parallelism where nothing else is said, for all environments of this process."""
        if parallelism < 1:
            raise ValueError(f"parallelism must be a positive int, not {parallelism!r}")
        StreamExecutionEnvironment._default_local_parallelism = parallelism

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """The number of key groups: how far jobs can ever be rescaled."""
        if not isinstance(max_parallelism, int) or not 1 <= max_parallelism <= 1 << 15:
            raise ValueError(f"max parallelism must be from 1 to {1 << 15}, not {max_parallelism!r}")
        self._configuration.set(PipelineOptions.MAX_PARALLELISM, max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """The number of key groups, -1 if it is left to Spry."""
        return self._configuration.get(PipelineOptions.MAX_PARALLELISM)

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """STREAMING, BATCH, or AUTOMATIC: batch if all sources are bounded."""
        self._configuration.set(ExecutionOptions.RUNTIME_MODE, execution_mode)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> StreamExecutionEnvironment:
        """How long records may wait for others to travel with: the pause between epochs of a stream without backlog.

        0 makes the pause as short as can be, -1 leaves it to ``spry.epoch.interval``.
        """
        if timeout_millis < -1:
            raise ValueError(f"the buffer timeout must be -1 (off), 0 or positive, not {timeout_millis}")
        if timeout_millis == -1:
            self._configuration.set(ExecutionOptions.BUFFER_TIMEOUT_ENABLED, False)
        else:
            self._configuration.set(ExecutionOptions.BUFFER_TIMEOUT_ENABLED, True)
            self._configuration.set(ExecutionOptions.BUFFER_TIMEOUT, Duration.of_millis(timeout_millis))
        return self

    def get_buffer_timeout(self) -> int:
        """The buffer timeout in ms, -1 if it is off."""
        if not self._configuration.get(ExecutionOptions.BUFFER_TIMEOUT_ENABLED):
            return -1
        return self._configuration.get(ExecutionOptions.BUFFER_TIMEOUT).to_millis()

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> None:
        """As :meth:`ExecutionConfig.set_restart_strategy`."""
        self._config.set_restart_strategy(restart_strategy_configuration)

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """As :meth:`ExecutionConfig.get_restart_strategy`."""
        return self._config.get_restart_strategy()

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Fuse no operators."""
        self._configuration.set(PipelineOptions.OPERATOR_CHAINING, False)
        return self

    def is_chaining_enabled(self) -> bool:
        return self._configuration.get(PipelineOptions.OPERATOR_CHAINING)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        return self._configuration.get(PipelineOptions.OPERATOR_CHAINING_CHAIN_OPERATORS_WITH_DIFFERENT_MAX_PARALLELISM)

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> StreamExecutionEnvironment:
        """Make a group, and the resources that it asks for, known by its name."""
        known = self._slot_sharing_groups.get(slot_sharing_group.name)
        if known is not None and known != slot_sharing_group and slot_sharing_group.cpu_cores is not None:
            raise InvalidProgramError(
                f"slot sharing group '{slot_sharing_group.name}' is registered with other resources already"
            )
        self._slot_sharing_groups.setdefault(slot_sharing_group.name, slot_sharing_group)
        return self

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """As :meth:`ExecutionConfig.add_default_kryo_serializer`."""
        self._config.add_default_kryo_serializer(type_class_name, serializer_class_name)

    def register_type_with_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """As :meth:`ExecutionConfig.register_type_with_kryo_serializer`."""
        self._config.register_type_with_kryo_serializer(type_class_name, serializer_class_name)

    def register_type(self, type_class_name: str) -> None:
        """As :meth:`ExecutionConfig.register_pojo_type`."""
        self._config.register_pojo_type(type_class_name)

    # Checkpoints and state

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> StreamExecutionEnvironment:
        """Take a checkpoint every so many milliseconds, from which the job goes on after a failure."""
        self._checkpoint_config.set_checkpoint_interval(interval)
        if mode is not None:
            self._checkpoint_config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Settings of checkpoints; changes take effect."""
        return self._checkpoint_config

    def get_checkpoint_interval(self) -> int:
        """As :meth:`CheckpointConfig.get_checkpoint_interval`."""
        return self._checkpoint_config.get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """As :meth:`CheckpointConfig.get_checkpointing_mode`."""
        return self._checkpoint_config.get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """The same as :meth:`get_checkpointing_mode`."""
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """As :meth:`CheckpointConfig.is_unaligned_checkpoints_enabled`."""
        return self._checkpoint_config.is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """As :meth:`CheckpointConfig.is_force_unaligned_checkpoints`."""
        return self._checkpoint_config.is_force_unaligned_checkpoints()

    def set_default_savepoint_directory(self, directory: str) -> StreamExecutionEnvironment:
        """The directory of savepoints for which none is named."""
        self._configuration.set(CheckpointingOptions.SAVEPOINT_DIRECTORY, directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        return self._configuration.get_optional(CheckpointingOptions.SAVEPOINT_DIRECTORY)

    def set_state_backend(self, state_backend: StateBackend) -> StreamExecutionEnvironment:
        """Where keyed state lives: a HashMapStateBackend or an EmbeddedRocksDBStateBackend."""
        if not isinstance(state_backend, StateBackend):
            raise TypeError(
                f"set_state_backend takes HashMapStateBackend() or EmbeddedRocksDBStateBackend(), not {state_backend!r}"
            )
        state_backend.apply_to(self._configuration)
        return self

    def get_state_backend(self) -> StateBackend | None:
        """The state backend that is set, ``None`` if none is."""
        return StateBackend.of(self._configuration)

    def enable_changelog_state_backend(self, enabled: bool) -> StreamExecutionEnvironment:
        """Accepted for Flink's sake: there is no changelog of state, and checkpoints are right without."""
        self._configuration.set(StateBackendOptions.CHANGELOG_ENABLED, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """What was said of it, ``None`` if nothing was."""
        return self._configuration.get_optional(StateBackendOptions.CHANGELOG_ENABLED)

    # What workers need

    def add_jars(self, *jars_path: str) -> None:
        """Note jars. Programs bring them for Flink's connectors; Spry's are Python and need none."""
        self._append(PipelineOptions.JARS, *jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """Note class paths; see :meth:`add_jars`."""
        self._append(PipelineOptions.CLASSPATHS, *classpaths)

    def add_python_file(self, file_path: str) -> None:
        """A Python file, package directory or zip file that functions import."""
        self._append(PythonOptions.PYTHON_FILES, file_path)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """An archive that is unpacked in the workers' working directory, under its name or ``target_dir``."""
        self._append(PythonOptions.PYTHON_ARCHIVES, f"{archive_path}#{target_dir}" if target_dir else archive_path)

    def _append(self, option: Any, *values: str) -> None:
        known = self._configuration.get(option) or []
        self._configuration.set(option, [*known, *values])

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """A requirements file to install on the workers, from a directory of packages if one is given."""
        value = requirements_file_path + (f"#{requirements_cache_dir}" if requirements_cache_dir else "")
        self._configuration.set(PythonOptions.PYTHON_REQUIREMENTS, value)

    def set_python_executable(self, python_exec: str) -> None:
        """The interpreter of the workers. Takes effect if Spry starts Spark."""
        self._configuration.set(PythonOptions.PYTHON_EXECUTABLE, python_exec)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Bring a file or directory to every worker; functions find it by name in their runtime context."""
        if "://" not in file_path and not os.path.exists(file_path):
            raise FileNotFoundError(f"cached file '{name}': there is no file '{file_path}'")
        if name in self._cached_files:
            raise ValueError(f"a cached file '{name}' is registered already")
        self._cached_files[name] = (file_path, executable)

    # Sources

    def _source(
        self,
        name: str,
        description: OperatorDescription,
        type_info: TypeInformation | None,
        parallelism: int | None = None,
        declared: bool = True,
    ) -> DataStream:
        transformation = OperatorTransformation(self._next_id(), type_info, name=name, description=description)
        transformation.declared = declared and type_info is not None
        if parallelism is not None:
            transformation.parallelism = parallelism
            transformation.non_parallel = parallelism == 1
        return DataStream(self, transformation)

    def from_collection(
        self, collection: Iterable[Any], type_info: TypeInformation | list[TypeInformation] | None = None
    ) -> DataStream:
        """The elements of a collection, in order, from one subtask."""
        if isinstance(collection, str | bytes):
            raise TypeError(
                f"from_collection takes a collection, not {collection!r}; for one element write a list of it"
            )
        declared = as_type(type_info, "from_collection")
        source = CollectionSource(list(collection))
        return self._source("Collection Source", SourceOperator(source), declared, 1)

    def from_elements(self, *elements: Any, type_info: TypeInformation | None = None) -> DataStream:
        """The given elements, in order, from one subtask."""
        return self.from_collection(elements, type_info)

    def from_sequence(self, start: int, end: int) -> DataStream:
        """The whole numbers from start to end, both included."""
        source = NumberSequenceSource(start, end)
        return self._source("Sequence Source", SourceOperator(source), Types.LONG(), declared=False)

    def from_source(
        self,
        source: Source[Any, Any],
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """A source with splits; the strategy gives timestamps and watermarks."""
        if not isinstance(source, Source):
            raise TypeError(f"from_source takes a Source, not {source!r}; for a SourceFunction use add_source")
        if not isinstance(watermark_strategy, WatermarkStrategy):
            raise TypeError(f"from_source needs a WatermarkStrategy, not {watermark_strategy!r}")
        declared = as_type(type_info, "from_source")
        produced = getattr(source, "get_produced_type", lambda: None)()
        strategy = watermark_strategy
        plain = strategy.kind is GeneratorKind.NONE and strategy.timestamp_assigner is None
        return self._source(
            source_name,
            SourceOperator(source, None if plain else strategy),
            declared if declared is not None else produced,
            source.default_parallelism(),
            declared is not None,
        )

    def add_source(
        self, source_func: Any, source_name: str = "Custom Source", type_info: TypeInformation | None = None
    ) -> DataStream:
        """A SourceFunction: one subtask, unless it is a ParallelSourceFunction."""
        if isinstance(source_func, type) or not callable(getattr(source_func, "run", None)):
            raise TypeError(f"add_source takes a SourceFunction (with run and cancel), not {source_func!r}")
        parallelism = None if isinstance(source_func, ParallelSourceFunction) else 1
        return self._source(
            source_name,
            SourceFunctionOperator(source_func),
            as_type(type_info, "add_source"),
            parallelism,
        )

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream:
        """The lines of a file, of all files in a directory, or of all that a glob matches; gz is unpacked."""
        source = TextLineSource([file_path], charset_name)
        return self._source(file_path, SourceOperator(source), Types.STRING(), declared=False)

    def socket_text_stream(self, hostname: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> DataStream:
        """Text from a socket, cut at the delimiter, in one subtask."""
        source = SocketTextSource(hostname, port, delimiter, max_retry)
        return self._source("Socket Stream", SourceOperator(source), Types.STRING(), 1, declared=False)

    # Execution

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _add(self, transformation: Transformation) -> None:
        self._transformations.append(transformation)

    def get_stream_graph(self, job_name: str | None = None, clear_transformations: bool = True) -> StreamGraph:
        """The stream graph of the program so far."""
        if not self._transformations:
            raise InvalidProgramError("nothing to execute: no operator has been defined on any stream yet")
        max_parallelism = self._configuration.get(PipelineOptions.MAX_PARALLELISM)
        name = job_name or self._configuration.get(PipelineOptions.NAME) or _DEFAULT_JOB_NAME
        settings = StreamGraphSettings(
            job_name=name,
            parallelism=self.get_parallelism(),
            max_parallelism=max_parallelism if max_parallelism > 0 else None,
            chaining=self.is_chaining_enabled(),
            chain_different_max_parallelism=self.is_chaining_of_operators_with_different_max_parallelism_enabled(),
            batch=False,
            generates_uids=self._config.has_auto_generated_uids_enabled(),
        )
        graph = generate_stream_graph(self._transformations, settings)
        graph = _in_mode(graph, self._configuration.get(ExecutionOptions.RUNTIME_MODE))
        if clear_transformations:
            self._transformations.clear()
        return graph

    def get_execution_graph(self) -> ExecutionGraph:
        """The execution graph of the program so far: subtasks, slots, levels."""
        return build_execution_graph(build_job_graph(self.get_stream_graph(clear_transformations=False)))

    def get_execution_plan(self) -> str:
        """The plan of the program so far, as JSON."""
        return self.get_stream_graph(clear_transformations=False).to_json()

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the program and wait for its end."""
        client = self._submit(job_name, {})
        result = client.get_job_execution_result()
        if not self._configuration.get(ExecutionOptions.ATTACHED):
            return JobExecutionResult(client.get_job_id(), 0, {})
        try:
            # A timeout keeps the main thread open to Ctrl-C.
            while True:
                try:
                    return result.result(0.5)
                except TimeoutError:
                    if result.done():
                        raise
        except KeyboardInterrupt:
            if not client.get_job_status().result().is_terminal_state():
                client.cancel().result(10)
            raise

    def execute_async(self, job_name: str | None = None) -> JobClient:
        """Start the program and go on; the client tells how it is doing."""
        return self._submit(job_name, {})

    def _submit(self, job_name: str | None, collectors: dict[str, CollectBuffer]) -> JobClient:
        if StreamExecutionEnvironment._on_submit is not None:
            name = job_name or self._configuration.get(PipelineOptions.NAME) or _DEFAULT_JOB_NAME
            client: JobClient = StreamExecutionEnvironment._on_submit(self, name)
            return client
        validate(self._configuration)
        self._checkpoint_config.validate()
        configuration = Configuration(self._configuration)
        if configuration.contains(ExecutionOptions.BUFFER_TIMEOUT) and not configuration.contains(
            SpryOptions.EPOCH_INTERVAL
        ):
            timeout = self.get_buffer_timeout()
            if timeout >= 0:
                configuration.set(SpryOptions.EPOCH_INTERVAL, Duration.of_millis(timeout))
        submission = JobSubmission(
            graph=self.get_stream_graph(job_name),
            configuration=configuration,
            job_parameters=self._config.get_global_job_parameters(),
            cached_files=self._all_cached_files(),
            python_files=tuple(_paths(configuration, PythonOptions.PYTHON_FILES)),
            python_archives=tuple(_archive(text) for text in _paths(configuration, PythonOptions.PYTHON_ARCHIVES)),
            python_requirements=_requirements(configuration.get(PythonOptions.PYTHON_REQUIREMENTS)),
            collectors=collectors,
        )
        return load_executor().execute_async(submission)

    def _all_cached_files(self) -> dict[str, tuple[str, bool]]:
        files = dict(self._cached_files)
        for text in self._configuration.get(PipelineOptions.CACHED_FILES) or []:
            entry = dict(part.split(":", 1) for part in text.split(","))
            if "name" not in entry or "path" not in entry:
                raise ValueError(f"pipeline.cached-files: '{text}' needs 'name:...,path:...'")
            files[entry["name"]] = (entry["path"], entry.get("executable", "false").lower() == "true")
        return files

    def close(self) -> None:
        """Forget what was defined and not executed."""
        self._transformations.clear()


def _in_mode(graph: StreamGraph, mode: RuntimeExecutionMode) -> StreamGraph:
    """Decide on batch or streaming; batch needs sources that end."""
    from dataclasses import replace

    unbounded = [node.name for node in graph.sources if not node.bounded]
    if mode is RuntimeExecutionMode.BATCH and unbounded:
        raise InvalidProgramError(
            f"batch mode needs bounded sources, but '{unbounded[0]}' is not: use STREAMING or AUTOMATIC "
            "(a SourceFunction that ends by itself says so with `bounded = True`)"
        )
    batch = mode is RuntimeExecutionMode.BATCH or (mode is RuntimeExecutionMode.AUTOMATIC and not unbounded)
    graph.settings = replace(graph.settings, batch=batch)
    return graph


def _paths(configuration: Configuration, option: Any) -> list[str]:
    paths: list[str] | None = configuration.get(option)
    return paths or []


def _archive(text: str) -> tuple[str, str | None]:
    path, _, target = text.partition("#")
    return path, target or None


def _requirements(text: str | None) -> tuple[str, str | None] | None:
    if not text:
        return None
    path, _, cache = text.partition("#")
    return path, cache or None
