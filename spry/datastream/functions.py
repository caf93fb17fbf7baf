"""The functions that users write: base classes and their contexts.

Wherever one of these is taken, a plain function does too, but only classes have ``open`` and ``close``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeAlias, TypeVar

from spry.common.accumulators import Accumulator
from spry.common.checkpoint import (
    CheckpointedFunction,
    CheckpointListener,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    ListCheckpointed,
    OperatorStateStore,
)
from spry.common.context import KeyedStateStore, RuntimeContext
from spry.common.optional_methods import optional
from spry.common.output_tag import OutputTag
from spry.common.sink import WriterContext
from spry.common.state import BroadcastState, MapStateDescriptor, ReadOnlyBroadcastState
from spry.common.time_domain import TimeDomain

__all__ = [
    "Accumulator",
    "AggregateFunction",
    "AllWindowFunction",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CheckpointListener",
    "CheckpointedFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStateStore",
    "ListCheckpointed",
    "MapFunction",
    "NullByteKeySelector",
    "OperatorStateStore",
    "ParallelSourceFunction",
    "Partitioner",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "SinkFunction",
    "SourceContext",
    "SourceFunction",
    "TimerService",
    "WindowFunction",
]

IN = TypeVar("IN")
OUT = TypeVar("OUT")
ACC = TypeVar("ACC")


class Function(ABC):  # noqa: B024 (open and close are optional)
    """Base of all user functions, with the life that each subtask gives its copy."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Called once per subtask before the first record: connect, load, get state here."""

    def close(self) -> None:
        """Called once per subtask at the end, also after a failure."""


class MapFunction(Function):
    """One value in, one out.

    >>> class Double(MapFunction):
    ...     def map(self, value):
    ...         return 2 * value
    """

    @abstractmethod
    def map(self, value: Any) -> Any: ...


class FlatMapFunction(Function):
    """One value in, any number out: yield them, or return an iterable."""

    @abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any] | None: ...


class FilterFunction(Function):
    """Keeps the values for which it is true."""

    @abstractmethod
    def filter(self, value: Any) -> bool: ...


class ReduceFunction(Function):
    """Makes one value of two of the same type."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any: ...


class AggregateFunction(Function):
    """Adds values up in an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> Any:
        """A new, empty accumulator."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """The accumulator with the value in it; may be the same object, changed."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """What the accumulator amounts to."""

    @optional
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Two accumulators as one. Needed for windows that merge."""
        raise TypeError(f"{type(self).__name__} has no merge(acc_a, acc_b), which windows that merge need")


class KeySelector(Function):
    """Takes the key from a value."""

    @abstractmethod
    def get_key(self, value: Any) -> Any: ...


class NullByteKeySelector(KeySelector):
    """Gives every value the same key."""

    def get_key(self, value: Any) -> Any:
        return 0


class Partitioner(Function):
    """Chooses the target subtask for a key."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """An index from 0 to ``num_partitions - 1``."""


class TimerService(ABC):
    """Time and timers. Timers belong to the current key; setting one twice is setting it once."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """The machine's clock, in ms."""

    @abstractmethod
    def current_watermark(self) -> int:
        """The operator's event time, in ms."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None: ...

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None: ...

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None: ...

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None: ...


class ProcessFunction(Function):
    """The most general function of one value: any number of results, side outputs, time.

    ``yield value`` emits a result, ``yield tag, value`` emits to the side output of an :class:`OutputTag`.
    """

    class Context(ABC):
        """What is known about the value."""

        @abstractmethod
        def timer_service(self) -> TimerService: ...

        @abstractmethod
        def timestamp(self) -> int | None:
            """The value's event time in ms, None if it has none."""

        @abstractmethod
        def output(self, tag: OutputTag, value: Any) -> None:
            """Emit to a side output."""

    @abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every value."""


class KeyedProcessFunction(Function):
    """A process function on a keyed stream: it also has state and timers."""

    class Context(ProcessFunction.Context):
        """What is known about the value."""

        @abstractmethod
        def get_current_key(self) -> Any: ...

    class OnTimerContext(Context):
        """What is known about the timer."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Whether the timer was set in event time or in processing time."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every value."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Called when a timer fires; the current key is the one it was set for."""
        return None


class CoProcessFunction(Function):
    """A process function of two inputs: each has a method of its own, and both share what the object holds."""

    Context: TypeAlias = ProcessFunction.Context

    @abstractmethod
    def process_element1(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every value of the first input."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every value of the second input."""


class KeyedCoProcessFunction(Function):
    """A process function of two keyed inputs: both share the state and the timers of the key."""

    Context: TypeAlias = KeyedProcessFunction.Context
    OnTimerContext: TypeAlias = KeyedProcessFunction.OnTimerContext

    @abstractmethod
    def process_element1(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every value of the first input."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every value of the second input."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Called when a timer fires; the current key is the one it was set for."""
        return None


class ProcessJoinFunction(Function):
    """Sees each pair of values that an interval join brings together."""

    class Context(ABC):
        """What is known about the pair."""

        @abstractmethod
        def get_left_timestamp(self) -> int: ...

        @abstractmethod
        def get_right_timestamp(self) -> int: ...

        @abstractmethod
        def get_timestamp(self) -> int:
            """The later of the two, which is the result's."""

        @abstractmethod
        def output(self, tag: OutputTag, value: Any) -> None:
            """Emit to a side output."""

    @abstractmethod
    def process_element(self, left: Any, right: Any, ctx: ProcessJoinFunction.Context) -> Iterable[Any] | None:
        """Called for every pair."""


class BaseBroadcastProcessFunction(Function):
    """What process functions with a broadcast input share."""

    class BaseContext(ABC):
        """What is known about the value."""

        @abstractmethod
        def timestamp(self) -> int | None: ...

        @abstractmethod
        def current_processing_time(self) -> int: ...

        @abstractmethod
        def current_watermark(self) -> int: ...

        @abstractmethod
        def output(self, tag: OutputTag, value: Any) -> None:
            """Emit to a side output."""

    class Context(BaseContext):
        """On the broadcast side, where the state may be changed."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]: ...

    class ReadOnlyContext(BaseContext):
        """On the other side, where it may only be read."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]: ...


class BroadcastProcessFunction(BaseBroadcastProcessFunction):
    """A process function of a stream and a broadcast stream, such as rules."""

    @abstractmethod
    def process_element(self, value: Any, ctx: BaseBroadcastProcessFunction.ReadOnlyContext) -> Iterable[Any] | None:
        """Called for every value of the stream."""

    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: BaseBroadcastProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every broadcast value, in every subtask."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction):
    """A process function of a keyed stream and a broadcast stream: it also has keyed state and timers."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext):
        """On the keyed side."""

        @abstractmethod
        def timer_service(self) -> TimerService: ...

        @abstractmethod
        def get_current_key(self) -> Any: ...

    class OnTimerContext(ReadOnlyContext):
        """What is known about the timer."""

        @abstractmethod
        def time_domain(self) -> TimeDomain: ...

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext) -> Iterable[Any] | None:
        """Called for every value of the keyed stream."""

    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: BaseBroadcastProcessFunction.Context) -> Iterable[Any] | None:
        """Called for every broadcast value, in every subtask."""

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Called when a timer fires; the current key is the one it was set for."""
        return None


class WindowFunction(Function):
    """Sees all elements of a key's window, once the window fires."""

    @abstractmethod
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any] | None: ...


class AllWindowFunction(Function):
    """Sees all elements of a window of a stream that is not keyed."""

    @abstractmethod
    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any] | None: ...


class ProcessWindowFunction(Function):
    """Sees all elements of a key's window, with time, state and side outputs."""

    class Context(ABC):
        """What is known about the window that fires."""

        @abstractmethod
        def window(self) -> Any:
            """The window."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The machine's clock, in ms."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Event time, in ms."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """State of this window of this key. Clear it in ``clear``; windows that merge have none."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """State of the key, shared by its windows."""

        @abstractmethod
        def output(self, tag: OutputTag, value: Any) -> None:
            """Emit to a side output."""

    @abstractmethod
    def process(
        self, key: Any, context: ProcessWindowFunction.Context, elements: Iterable[Any]
    ) -> Iterable[Any] | None:
        """Called whenever the window fires, with its elements, or with the one result of an aggregation before."""

    @optional
    def clear(self, context: ProcessWindowFunction.Context) -> None:
        """Called when the window is over for good: clear its ``window_state``."""


class ProcessAllWindowFunction(Function):
    """Sees all elements of a window of a stream that is not keyed, with time, state and side outputs."""

    Context: TypeAlias = ProcessWindowFunction.Context

    @abstractmethod
    def process(self, context: ProcessWindowFunction.Context, elements: Iterable[Any]) -> Iterable[Any] | None:
        """Called whenever the window fires, with its elements, or with the one result of an aggregation before."""

    @optional
    def clear(self, context: ProcessWindowFunction.Context) -> None:
        """Called when the window is over for good: clear its ``window_state``."""


class SourceContext(ABC):
    """Where a :class:`SourceFunction` emits."""

    @abstractmethod
    def collect(self, value: Any) -> None: ...

    @abstractmethod
    def collect_with_timestamp(self, value: Any, timestamp: int) -> None: ...

    @abstractmethod
    def emit_watermark(self, mark: Any) -> None: ...

    @abstractmethod
    def mark_as_temporarily_idle(self) -> None: ...

    @abstractmethod
    def get_checkpoint_lock(self) -> Any:
        """Emit and update positions under this lock, so that both are in the same checkpoint."""


class SourceFunction(Function):
    """A source as a loop of one's own, in one subtask.

    >>> class Ticks(SourceFunction):
    ...     def __init__(self):
    ...         self.running = True
    ...     def run(self, ctx):
    ...         tick = 0
    ...         while self.running and tick < 3:
    ...             ctx.collect(tick)
    ...             tick += 1
    ...     def cancel(self):
    ...         self.running = False
    """

    bounded = False
    """Set it to True in a class whose ``run`` ends by itself, so that batch mode accepts it."""

    @abstractmethod
    def run(self, ctx: SourceContext) -> None:
        """Emit until done or cancelled. Runs in a thread of its own."""

    @abstractmethod
    def cancel(self) -> None:
        """Make ``run`` return soon. Called from another thread."""


class ParallelSourceFunction(SourceFunction):
    """A source function that runs in every subtask of the source."""


class SinkFunction(Function, Generic[IN]):
    """A sink: called for every value."""

    Context: TypeAlias = WriterContext

    @abstractmethod
    def invoke(self, value: IN, context: WriterContext) -> None: ...

    def finish(self) -> None:
        """The input has ended: write out what is buffered."""
