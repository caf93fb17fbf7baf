"""Streams: what a program is written with. Each call records a transformation; nothing runs before ``execute``."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from spry.common.collect import CollectBuffer
from spry.common.errors import InvalidProgramError
from spry.common.execution_config import ExecutionConfig
from spry.common.job_client import JobClient
from spry.common.keys import KeySelection
from spry.common.not_yet import NotYet, say_why
from spry.common.operators import (
    ChainingStrategy,
    CollectOperator,
    FilterOperator,
    FlatMapOperator,
    GlobalCommitterOperator,
    GlobalSinkOperator,
    MapOperator,
    OperatorDescription,
    PrintOperator,
    ProcessOperator,
    ProjectOperator,
    ReduceOperator,
    SinkFunctionOperator,
    SinkOperator,
    TimestampsAndWatermarksOperator,
)
from spry.common.options import SpryOptions
from spry.common.output_tag import OutputTag
from spry.common.partitioning import (
    Broadcast,
    Custom,
    Forward,
    Global,
    KeyGroups,
    Partitioning,
    Rebalance,
    Rescale,
    Shuffle,
)
from spry.common.sink import GlobalCommittingSink, Sink
from spry.common.state import MapStateDescriptor, StateDescriptor, ValueStateDescriptor
from spry.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation, Types
from spry.common.watermark_strategy import WatermarkStrategy
from spry.common.window_assigners import CountSlidingWindowAssigner, CountTumblingWindowAssigner, WindowAssigner
from spry.datastream.aggregations import FieldAggregations
from spry.datastream.checks import as_key, as_row_type, as_type, check_field, checked_function, sets_timers
from spry.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    NullByteKeySelector,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    SinkFunction,
)
from spry.datastream.queryable_state import KeepForQueries, queryable
from spry.datastream.slot_sharing_group import SlotSharingGroup
from spry.datastream.windowed_stream import AllWindowedStream, WindowedStream
from spry.graph.transformations import (
    OperatorTransformation,
    PartitionTransformation,
    SideOutputTransformation,
    Transformation,
    UnionTransformation,
)
from spry.pyflink_alias import CACHE, TWO_INPUTS

if TYPE_CHECKING:
    from spry.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["CloseableIterator", "DataStream", "DataStreamSink", "KeyedStream", "QueryableStateStream"]


class _Named:
    """What streams and sinks share: the settings of the operator that was added last."""

    _transformation: Transformation

    def _operator(self, setting: str) -> OperatorTransformation:
        if not isinstance(self._transformation, OperatorTransformation):
            raise InvalidProgramError(
                f"{setting} belongs to an operator, but this stream only says how records are passed on "
                f"({type(self._transformation).__name__.removesuffix('Transformation').lower()}): "
                "call it on the operator before or after"
            )
        return self._transformation

    def get_name(self) -> str:
        """The operator's name."""
        return self._operator("get_name").name

    def _set_name(self, name: str) -> None:
        self._operator("name").name = name

    def _set_parallelism(self, parallelism: int) -> None:
        if isinstance(parallelism, bool) or not isinstance(parallelism, int) or parallelism < 1:
            raise ValueError(f"parallelism must be a positive int, not {parallelism!r}")
        target = self._operator("set_parallelism")
        if target.non_parallel and parallelism != 1:
            raise ValueError(f"operator '{target.name}' is not parallel: its parallelism must be 1, not {parallelism}")
        target.parallelism = parallelism

    def _set_max_parallelism(self, max_parallelism: int) -> None:
        if not isinstance(max_parallelism, int) or not 1 <= max_parallelism <= 1 << 15:
            raise ValueError(f"max parallelism must be from 1 to {1 << 15}, not {max_parallelism!r}")
        self._operator("set_max_parallelism").max_parallelism = max_parallelism

    def _set_group(self, group: str | SlotSharingGroup, environment: StreamExecutionEnvironment) -> None:
        if isinstance(group, SlotSharingGroup):
            environment.register_slot_sharing_group(group)
            group = group.name
        self._operator("slot_sharing_group").slot_sharing_group = group


class DataStream(_Named, NotYet):
    """A stream of records."""

    _not_yet: ClassVar[dict[str, str]] = {
        **say_why(TWO_INPUTS, "connect join co_group interval_join"),
        "cache": CACHE,
    }

    def __init__(self, environment: StreamExecutionEnvironment, transformation: Transformation) -> None:
        self._environment = environment
        self._transformation = transformation

    # Settings of the operator

    def name(self, name: str) -> DataStream:
        """Name the operator, for plans, progress and errors."""
        self._set_name(name)
        return self

    def uid(self, uid: str) -> DataStream:
        """A name for the operator's state that survives changes of the program."""
        self._operator("uid").uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> DataStream:
        """Take the uid from an earlier version of the program, as it stands there."""
        self._operator("set_uid_hash").uid_hash = uid_hash
        return self

    def set_parallelism(self, parallelism: int) -> DataStream:
        """How many subtasks the operator has."""
        self._set_parallelism(parallelism)
        return self

    def set_max_parallelism(self, max_parallelism: int) -> DataStream:
        """The number of key groups: how far the operator can ever be rescaled."""
        self._set_max_parallelism(max_parallelism)
        return self

    def force_non_parallel(self) -> DataStream:
        """Give the operator one subtask, for good."""
        target = self._operator("force_non_parallel")
        target.parallelism = target.max_parallelism = 1
        target.non_parallel = True
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> DataStream:
        """Accepted for Flink's sake: blocks are passed on at the end of every epoch at the latest."""
        self._operator("set_buffer_timeout").buffer_timeout = timeout_millis
        return self

    def start_new_chain(self) -> DataStream:
        """Do not fuse the operator with the one before it."""
        self._operator("start_new_chain").chaining = ChainingStrategy.HEAD
        return self

    def disable_chaining(self) -> DataStream:
        """Do not fuse the operator with any other."""
        self._operator("disable_chaining").chaining = ChainingStrategy.NEVER
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> DataStream:
        """Put the operator, and what follows it, in slots of its own."""
        self._set_group(slot_sharing_group, self._environment)
        return self

    def set_description(self, description: str) -> DataStream:
        """A longer description than the name, for plans."""
        self._operator("set_description").text = description
        return self

    # Facts

    def get_type(self) -> TypeInformation:
        """The declared type of the records; pickled bytes if none was declared."""
        declared: TypeInformation | None = self._transformation.type_info
        return declared if declared is not None else Types.PICKLED_BYTE_ARRAY()

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._environment

    def get_execution_config(self) -> ExecutionConfig:
        return self._environment.get_config()

    def get_parallelism(self) -> int:
        """How many subtasks the operator has."""
        return self._operator("get_parallelism").parallelism or self._environment.get_parallelism()

    def get_id(self) -> int:
        """The number that plans show."""
        return self._transformation.id

    # Functions

    def _apply(
        self, name: str, description: OperatorDescription, output_type: TypeInformation | None, declared: bool = True
    ) -> DataStream:
        transformation = OperatorTransformation(
            self._environment._next_id(), output_type, name=name, description=description, input=self._transformation
        )
        transformation.declared = declared and output_type is not None
        self._environment._add(transformation)
        return DataStream(self._environment, transformation)

    @property
    def _key(self) -> KeySelection | None:
        return None

    def map(self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Turn each record into one.

        >>> ds.map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))  # doctest: +SKIP
        """
        checked_function(func, MapFunction, "map")
        return self._apply("Map", MapOperator(func, key=self._key), as_type(output_type, "map"))

    def flat_map(
        self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Turn each record into any number of records."""
        checked_function(func, FlatMapFunction, "flat_map")
        return self._apply("Flat Map", FlatMapOperator(func, key=self._key), as_type(output_type, "flat_map"))

    def filter(self, func: Callable[[Any], bool] | FilterFunction) -> DataStream:
        """Keep the records for which the function is true."""
        checked_function(func, FilterFunction, "filter")
        return self._apply("Filter", FilterOperator(func, key=self._key), self._transformation.type_info, False)

    def process(
        self, func: ProcessFunction | KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply a process function: results, side outputs, and on keyed streams state and timers."""
        if isinstance(func, type) and hasattr(func, "process_element"):
            raise TypeError(f"process takes an instance, not the class {func.__name__}: write {func.__name__}()")
        if not hasattr(func, "process_element"):
            raise TypeError(f"process takes a ProcessFunction, not {func!r}")
        if self._key is None and isinstance(func, KeyedProcessFunction):
            raise InvalidProgramError(
                "a KeyedProcessFunction needs a keyed stream: call key_by(...) before process(...)"
            )
        if self._key is None and (hasattr(func, "on_timer") or sets_timers(func.process_element)):
            raise InvalidProgramError(
                f"{type(func).__name__} has timers, but timers belong to keys and the stream is not keyed: call "
                "key_by(...) before process(...)"
            )
        name = "Process" if self._key is None else "KeyedProcess"
        return self._apply(name, ProcessOperator(func, key=self._key), as_type(output_type, "process"))

    def project(self, *field_indexes: int) -> DataStream:
        """Keep some fields of a tuple or row, in this order."""
        if not field_indexes or not all(isinstance(i, int) and i >= 0 for i in field_indexes):
            raise ValueError(f"project takes field indexes from 0 on, not {field_indexes!r}")
        given = self._transformation.type_info
        output_type: TypeInformation | None = None
        if isinstance(given, TupleTypeInfo | RowTypeInfo):
            fields = given.get_field_types()
            wrong = [i for i in field_indexes if i >= len(fields)]
            if wrong:
                raise ValueError(f"project: there is no field {wrong[0]}; the stream has {len(fields)} fields")
            picked = [fields[i] for i in field_indexes]
            if isinstance(given, RowTypeInfo):
                output_type = Types.ROW_NAMED([given.get_field_names()[i] for i in field_indexes], picked)
            else:
                output_type = Types.TUPLE(picked)
        return self._apply("Projection", ProjectOperator(tuple(field_indexes)), output_type, False)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Give records their event time and the stream its watermarks."""
        if not isinstance(watermark_strategy, WatermarkStrategy):
            raise TypeError(f"a WatermarkStrategy is needed, not {watermark_strategy!r}")
        return self._apply(
            "Timestamps/Watermarks",
            TimestampsAndWatermarksOperator(watermark_strategy),
            self._transformation.type_info,
            False,
        )

    # Connections

    def key_by(
        self,
        key_selector: Callable[[Any], Any] | KeySelector | int | str,
        *more: int | str | TypeInformation | None,
        key_type: TypeInformation | None = None,
    ) -> KeyedStream:
        """Partition the stream by key: a function, a KeySelector, or one or several fields by index or name."""
        fields = [item for item in more if isinstance(item, int | str)]
        types = [item for item in more if isinstance(item, TypeInformation)]
        declared = as_type(types[0] if types else key_type, "key_by")
        return KeyedStream(self, as_key(key_selector, tuple(fields)).of_type(declared), declared)

    def union(self, *streams: DataStream) -> DataStream:
        """The records of this stream and of the others."""
        if not streams:
            return self
        for stream in streams:
            if not isinstance(stream, DataStream):
                raise TypeError(f"union takes streams, not {stream!r}")
            if stream._environment is not self._environment:
                raise InvalidProgramError("streams of different environments cannot be united")
            mine, other = self._transformation.type_info, stream._transformation.type_info
            if mine is not None and other is not None and mine != other:
                raise InvalidProgramError(f"streams of different types cannot be united: {mine} and {other}")
        all_streams = [self, *streams]
        united = UnionTransformation(
            self._environment._next_id(),
            self._transformation.type_info,
            union=[stream._transformation for stream in all_streams],
        )
        return DataStream(self._environment, united)

    def _partition(self, partitioning: Partitioning) -> DataStream:
        transformation = PartitionTransformation(
            self._environment._next_id(),
            self._transformation.type_info,
            input=self._transformation,
            partitioning=partitioning,
        )
        return DataStream(self._environment, transformation)

    def shuffle(self) -> DataStream:
        """Each record goes to a random subtask of what follows."""
        return self._partition(Shuffle())

    def rebalance(self) -> DataStream:
        """Records go to the subtasks of what follows in turn."""
        return self._partition(Rebalance())

    def rescale(self) -> DataStream:
        """Records go in turn to a local group of the subtasks of what follows."""
        return self._partition(Rescale())

    def forward(self) -> DataStream:
        """Each subtask's records go to the subtask with the same index."""
        return self._partition(Forward())

    def broadcast(self, *broadcast_state_descriptors: MapStateDescriptor) -> DataStream:
        """Each record goes to every subtask of what follows."""
        if broadcast_state_descriptors:
            raise InvalidProgramError(f"broadcast with state descriptors: {TWO_INPUTS}")
        return self._partition(Broadcast())

    def global_(self) -> DataStream:
        """All records go to the first subtask of what follows."""
        return self._partition(Global())

    def partition_custom(
        self,
        partitioner: Callable[[Any, int], int] | Partitioner,
        key_selector: Callable[[Any], Any] | KeySelector | int | str,
    ) -> DataStream:
        """Each record goes to the subtask that the partitioner chooses for its key."""
        checked_function(partitioner, Partitioner, "partition_custom")
        key = as_key(key_selector, ())
        if hasattr(partitioner, "partition"):
            return self._partition(Custom(partitioner.partition, key, partitioner))
        return self._partition(Custom(partitioner, key))

    def window_all(self, window_assigner: WindowAssigner[Any, Any]) -> AllWindowedStream:
        """Group the elements of the whole stream in windows. One subtask does so: where there is a key, use it."""
        return AllWindowedStream(self.key_by(NullByteKeySelector()), window_assigner)

    def count_window_all(self, size: int, slide: int = 0) -> AllWindowedStream:
        """Windows of ``size`` elements of the whole stream; with a slide, one begins every ``slide`` elements."""
        return self.window_all(_count_windows(size, slide))

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """The side output with this tag of the operator before."""
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"an OutputTag is needed, not {output_tag!r}")
        self._operator("get_side_output")
        transformation = SideOutputTransformation(
            self._environment._next_id(), output_tag.type_info, input=self._transformation, tag=output_tag.tag_id
        )
        return DataStream(self._environment, transformation)

    # Sinks

    def _sink(self, name: str, description: OperatorDescription) -> DataStreamSink:
        transformation = OperatorTransformation(
            self._environment._next_id(), name=name, description=description, input=self._transformation
        )
        self._environment._add(transformation)
        return DataStreamSink(self._environment, transformation)

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print records on standard output, each with the identifier and the subtask's number."""
        description = PrintOperator(sink_identifier, False, self._transformation.type_info)
        return self._sink("Print to Std. Out", description)

    def print_to_err(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print records on standard error."""
        description = PrintOperator(sink_identifier, True, self._transformation.type_info)
        return self._sink("Print to Std. Err", description)

    def add_sink(self, sink_func: SinkFunction[Any] | Callable[[Any], Any] | Sink[Any]) -> DataStreamSink:
        """Give records to a SinkFunction (or to a plain function of the record, or to a Sink)."""
        if isinstance(sink_func, Sink):
            return self.sink_to(sink_func)
        checked_function(sink_func, SinkFunction, "add_sink")
        return self._sink("Unnamed", SinkFunctionOperator(sink_func))

    def sink_to(self, sink: Sink[Any]) -> DataStreamSink:
        """Give records to a Sink: writers and, if it has transactions, a committer."""
        if not isinstance(sink, Sink):
            raise TypeError(f"sink_to takes a Sink, not {sink!r}; for a SinkFunction use add_sink")
        if isinstance(sink, GlobalCommittingSink):
            writers = self._sink(type(sink).__name__, GlobalSinkOperator(sink))
            committables = DataStream(self._environment, writers._transformation)
            committer = committables._sink("Global Committer", GlobalCommitterOperator(sink))
            committer.set_parallelism(1)._operator("sink_to").non_parallel = True
            return writers
        return self._sink(type(sink).__name__, SinkOperator(sink))

    def execute_and_collect(self, job_execution_name: str | None = None, limit: int | None = None) -> Any:
        """Run the job and bring this stream's records here: an iterator, or a list of at most ``limit`` records.

        The iterator is a context manager; closing it ends the job.
        """
        if limit is not None and (not isinstance(limit, int) or limit < 0):
            raise ValueError(f"limit must be a non-negative int, not {limit!r}")
        collect_id = uuid.uuid4().hex
        buffer = CollectBuffer(self._environment._configuration.get(SpryOptions.COLLECT_BUFFER_RECORDS))
        sink = self._sink("Collect", CollectOperator(collect_id))
        sink._operator("execute_and_collect").parallelism = _parallelism_of(self._transformation)
        client = self._environment._submit(job_execution_name or "DataStream Collect", {collect_id: buffer})
        iterator = CloseableIterator(client, buffer)
        if limit is None:
            return iterator
        with iterator:
            return list(islice(iterator, limit))


def _parallelism_of(transformation: Transformation) -> int | None:
    """The parallelism of the operator whose results the stream has, so that a sink can be chained to it."""
    if isinstance(transformation, OperatorTransformation):
        return transformation.parallelism
    if isinstance(transformation, SideOutputTransformation):
        return _parallelism_of(transformation.input)
    return None


def _count_windows(size: int, slide: int) -> WindowAssigner[Any, Any]:
    return CountTumblingWindowAssigner(size) if slide == 0 else CountSlidingWindowAssigner(size, slide)


class KeyedStream(DataStream, FieldAggregations):
    """A stream that is partitioned by key."""

    _origin: DataStream

    def __init__(self, origin: DataStream, key: KeySelection, key_type: TypeInformation | None) -> None:
        stream: DataStream = origin._origin if isinstance(origin, KeyedStream) else origin
        environment = stream._environment
        transformation = PartitionTransformation(
            environment._next_id(),
            stream._transformation.type_info,
            input=stream._transformation,
            partitioning=KeyGroups(key),
        )
        super().__init__(environment, transformation)
        self._origin = stream
        self._selection = key
        self._key_type = key_type

    @property
    def _key(self) -> KeySelection:
        return self._selection

    def get_key_type(self) -> TypeInformation:
        """The declared type of the key; pickled bytes if none was declared."""
        return self._key_type if self._key_type is not None else Types.PICKLED_BYTE_ARRAY()

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        """Group the elements of each key in windows.

        >>> ds.key_by(0).window(TumblingEventTimeWindows.of(Time.seconds(10))).sum(1)  # doctest: +SKIP
        """
        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Windows of ``size`` elements of a key; with a slide, one begins every ``slide`` elements."""
        return self.window(_count_windows(size, slide))

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataStream:
        """Combine each record with the key's last result, and emit that.

        In batch mode only the final result of each key is emitted.
        """
        checked_function(func, ReduceFunction, "reduce")
        given = self._transformation.type_info
        # A row that is given without names gets those of the stream's type.
        return self._apply("Reduce", ReduceOperator(func, key=self._key), given, as_row_type(given) is not None)

    def _aggregate_field(self, name: str, field: int | str, fold: Callable[[Any, Any], Any]) -> DataStream:
        given = self._transformation.type_info
        check_field(name, field, given)
        return self._apply("Keyed Aggregation", ReduceOperator(fold, key=self._key), given, False)

    def as_queryable_state(
        self, queryable_state_name: str, state_descriptor: StateDescriptor | None = None
    ) -> QueryableStateStream:
        """Keep the latest record of each key in state that clients can read while the job runs, by this name.

        With a ReducingStateDescriptor or an AggregatingStateDescriptor it is what the key's records amount to.
        """
        if state_descriptor is None:
            state_descriptor = ValueStateDescriptor(queryable_state_name, self._transformation.type_info)
        kept = queryable(queryable_state_name, state_descriptor)
        sink = self._sink(
            f"Queryable state: {queryable_state_name}", ProcessOperator(KeepForQueries(kept), key=self._key)
        )
        return QueryableStateStream(sink, kept)

    def _partition(self, partitioning: Partitioning) -> DataStream:
        return self._origin._partition(partitioning)

    def project(self, *field_indexes: int) -> DataStream:
        return self._origin.project(*field_indexes)

    def union(self, *streams: DataStream) -> DataStream:
        plain = [s._origin if isinstance(s, KeyedStream) else s for s in streams]
        return self._origin.union(*plain)


class DataStreamSink(_Named):
    """A sink, for its settings."""

    def __init__(self, environment: StreamExecutionEnvironment, transformation: OperatorTransformation) -> None:
        self._environment = environment
        self._transformation = transformation

    def name(self, name: str) -> DataStreamSink:
        """Name the sink, for plans, progress and errors."""
        self._set_name(name)
        return self

    def uid(self, uid: str) -> DataStreamSink:
        """A name for the sink's state that survives changes of the program."""
        self._operator("uid").uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> DataStreamSink:
        """Take the uid from an earlier version of the program, as it stands there."""
        self._operator("set_uid_hash").uid_hash = uid_hash
        return self

    def set_parallelism(self, parallelism: int) -> DataStreamSink:
        """How many subtasks the sink has."""
        self._set_parallelism(parallelism)
        return self

    def set_max_parallelism(self, max_parallelism: int) -> DataStreamSink:
        """How far the sink can ever be rescaled."""
        self._set_max_parallelism(max_parallelism)
        return self

    def set_description(self, description: str) -> DataStreamSink:
        """A longer description than the name, for plans."""
        self._operator("set_description").text = description
        return self

    def disable_chaining(self) -> DataStreamSink:
        """Do not fuse the sink with the operator before it."""
        self._operator("disable_chaining").chaining = ChainingStrategy.NEVER
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> DataStreamSink:
        """Put the sink in slots of its own."""
        self._set_group(slot_sharing_group, self._environment)
        return self


class QueryableStateStream(DataStreamSink):
    """A keyed stream's state that is open to queries, for its settings."""

    def __init__(self, sink: DataStreamSink, state_descriptor: StateDescriptor) -> None:
        super().__init__(sink._environment, sink._operator("as_queryable_state"))
        self._state_descriptor = state_descriptor

    def get_queryable_state_name(self) -> str:
        """The name by which clients ask for the state."""
        return self._state_descriptor.get_queryable_state_name() or ""

    def get_state_descriptor(self) -> StateDescriptor:
        """The descriptor of the state."""
        return self._state_descriptor


class CloseableIterator(Iterator[Any]):
    """The records of a running job, as they come. Closing it ends the job."""

    def __init__(self, client: JobClient, buffer: CollectBuffer) -> None:
        self._client = client
        self._buffer = buffer
        self._closed = False

    def __next__(self) -> Any:
        if self._closed:
            raise StopIteration
        try:
            return self._buffer.get()
        except KeyboardInterrupt:
            self.close()
            raise

    def next(self) -> Any:
        """The next record."""
        return self.__next__()

    def close(self) -> None:
        """End the job, if it still runs."""
        if not self._closed:
            self._closed = True
            self._buffer.abandon()
            if not self._client.get_job_status().result().is_terminal_state():
                self._client.cancel().result()

    def get_job_client(self) -> JobClient:
        """The handle on the job."""
        return self._client

    def __enter__(self) -> CloseableIterator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self._closed = True
            self._buffer.abandon()
            if not self._client.get_job_status().result().is_terminal_state():
                self._client.cancel()
