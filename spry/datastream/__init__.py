"""The DataStream API: environment, streams, functions, state descriptors. Names and signatures are PyFlink's."""

from spry.common.execution_mode import RuntimeExecutionMode
from spry.common.output_tag import OutputTag
from spry.common.time_domain import TimeDomain
from spry.datastream.data_stream import CloseableIterator, DataStream, DataStreamSink, KeyedStream
from spry.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    BroadcastProcessFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    NullByteKeySelector,
    ParallelSourceFunction,
    Partitioner,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
    TimerService,
    WindowFunction,
)
from spry.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
from spry.datastream.stream_execution_environment import StreamExecutionEnvironment
from spry.datastream.window import Window
from spry.datastream.windowed_stream import AllWindowedStream, WindowedStream

__all__ = [
    "AggregateFunction",
    "AllWindowFunction",
    "AllWindowedStream",
    "BroadcastProcessFunction",
    "CloseableIterator",
    "CoProcessFunction",
    "DataStream",
    "DataStreamSink",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "MemorySize",
    "NullByteKeySelector",
    "OutputTag",
    "ParallelSourceFunction",
    "Partitioner",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "SinkFunction",
    "SlotSharingGroup",
    "SourceFunction",
    "StreamExecutionEnvironment",
    "TimeDomain",
    "TimerService",
    "Window",
    "WindowFunction",
    "WindowedStream",
]
