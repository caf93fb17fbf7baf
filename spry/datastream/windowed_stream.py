"""Windowed streams: what comes between ``window(...)`` and the function that is applied to each window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from spry.common.errors import InvalidProgramError
from spry.common.evictors import Evictor
from spry.common.operators import SourceOperator, WindowOperator
from spry.common.optional_methods import has_method
from spry.common.output_tag import OutputTag
from spry.common.time import Duration, Time
from spry.common.triggers import Trigger
from spry.common.typeinfo import TypeInformation
from spry.common.window_assigners import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    GlobalWindows,
    MergingWindowAssigner,
    WindowAssigner,
)
from spry.datastream.aggregations import FieldAggregations
from spry.datastream.checks import as_row_type, as_type, check_field, checked_function
from spry.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from spry.graph.transformations import OperatorTransformation, Transformation

if TYPE_CHECKING:
    from spry.datastream.data_stream import DataStream, KeyedStream
    from spry.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["AllWindowedStream", "WindowedStream"]

_TIMELESS = (GlobalWindows, CountTumblingWindowAssigner, CountSlidingWindowAssigner)
"""Assigners whose windows are not stretches of time."""


class _Windowed(FieldAggregations):
    """What windowed streams of both kinds share."""

    _apply_type: type
    _process_type: type
    _other_types: tuple[type, ...]
    """The window functions of the other kind of stream."""
    _keyed: bool

    def __init__(self, keyed_stream: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        if isinstance(window_assigner, type) or not hasattr(window_assigner, "assign_windows"):
            raise TypeError(
                f"a window assigner is needed, such as TumblingEventTimeWindows.of(Time.seconds(5)), "
                f"not {window_assigner!r}"
            )
        self._stream = keyed_stream
        self._assigner = window_assigner
        self._trigger: Trigger[Any, Any] = window_assigner.get_default_trigger(keyed_stream._environment)
        self._evictor: Evictor[Any, Any] | None = None
        self._lateness = 0
        self._late_tag: OutputTag | None = None
        if window_assigner.is_event_time():
            _check_timestamps(keyed_stream._transformation, window_assigner)

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._stream._environment

    def get_input_type(self) -> TypeInformation:
        """The type of the elements."""
        return self._stream.get_type()

    # Settings

    def trigger(self, trigger: Trigger[Any, Any]) -> Self:
        """Decide when windows fire, in place of the assigner's own trigger."""
        if isinstance(trigger, type) or not hasattr(trigger, "on_element"):
            raise TypeError(f"a trigger is needed, such as CountTrigger.of(3), not {trigger!r}")
        self._trigger = self._checked_trigger(trigger)
        return self

    def _checked_trigger(self, trigger: Trigger[Any, Any]) -> Trigger[Any, Any]:
        if isinstance(self._assigner, MergingWindowAssigner) and not trigger.can_merge():
            raise InvalidProgramError(
                f"{trigger!r} cannot be used with {self._assigner!r}, whose windows merge: "
                "it needs can_merge() -> True and on_merge(window, ctx)"
            )
        return trigger

    def evictor(self, evictor: Evictor[Any, Any]) -> Self:
        """Take elements out of windows before or after the window function. Windows then keep all elements."""
        if isinstance(evictor, type) or not hasattr(evictor, "evict_before"):
            raise TypeError(f"an evictor is needed, such as CountEvictor.of(3), not {evictor!r}")
        self._evictor = evictor
        return self

    def allowed_lateness(self, time_ms: int | Time | Duration) -> Self:
        """Keep windows for so long (ms) after the watermark has passed them; every late element fires them again."""
        millis = time_ms.to_milliseconds() if isinstance(time_ms, Time | Duration) else time_ms
        if isinstance(millis, bool) or not isinstance(millis, int):
            raise TypeError(f"allowed_lateness takes ms, a Time or a Duration, not {time_ms!r}")
        if millis < 0:
            raise ValueError(f"the allowed lateness must not be negative, not {millis} ms")
        if millis and not self._assigner.is_event_time():
            raise InvalidProgramError(
                f"{self._assigner!r} goes by the clock, where nothing is late: use windows in event time, "
                "or leave allowed_lateness out"
            )
        self._lateness = millis
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> Self:
        """Elements that are too late for all of their windows go to this side output of the result."""
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"side_output_late_data takes an OutputTag, not {output_tag!r}")
        if not self._assigner.is_event_time():
            raise InvalidProgramError(
                f"{self._assigner!r} goes by the clock, where nothing is late: use windows in event time, "
                "or leave side_output_late_data out"
            )
        self._late_tag = output_tag
        return self

    # Functions

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Reduce each window's elements to one as they come; a window function may see that with its window.

        The function must be associative, since windows that merge or overlap reduce what has been reduced before.
        """
        checked_function(reduce_function, ReduceFunction, "reduce")
        self._check_window_function(window_function, "reduce")
        given = as_type(output_type, "reduce")
        if given is None and window_function is None:
            return self._result(reduce_function, None, self._stream._transformation.type_info, "Reduce", False)
        return self._result(reduce_function, window_function, given, "Reduce")

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: Any = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Add each window's elements up in an accumulator as they come; a window function may see its result."""
        for method in ("create_accumulator", "add", "get_result"):
            if isinstance(aggregate_function, type) or not callable(getattr(aggregate_function, method, None)):
                raise TypeError(f"aggregate takes an AggregateFunction, not {aggregate_function!r}")
        if isinstance(self._assigner, MergingWindowAssigner) and not has_method(aggregate_function, "merge"):
            raise InvalidProgramError(
                f"{type(aggregate_function).__name__} needs merge(acc_a, acc_b), since windows of "
                f"{self._assigner!r} merge"
            )
        self._check_window_function(window_function, "aggregate")
        as_type(accumulator_type, "aggregate")
        return self._result(aggregate_function, window_function, as_type(output_type, "aggregate"), "Aggregate")

    def apply(self, window_function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a window function, which sees all elements of the window."""
        self._check_kind(window_function, self._apply_type, "apply")
        checked_function(window_function, self._apply_type, "apply")
        return self._result(None, window_function, as_type(output_type, "apply"), "Apply")

    def process(self, process_window_function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a process window function, which also has time, state and side outputs."""
        if isinstance(process_window_function, type) or not callable(getattr(process_window_function, "process", None)):
            raise TypeError(f"process takes a {self._process_type.__name__}, not {process_window_function!r}")
        self._check_kind(process_window_function, self._process_type, "process")
        return self._result(None, process_window_function, as_type(output_type, "process"), "Process")

    # Inside

    def _aggregate_field(self, name: str, field: int | str, fold: Callable[[Any, Any], Any]) -> DataStream:
        given = self._stream._transformation.type_info
        check_field(name, field, given)
        return self._result(fold, None, given, name.title().replace("_", ""), False)

    def _check_kind(self, function: Any, wanted: type, where: str) -> None:
        if isinstance(function, self._other_types):
            keyed = "keyed" if self._keyed else "not keyed"
            raise TypeError(
                f"{where} takes a {wanted.__name__} here, since the stream is {keyed}; "
                f"{type(function).__name__} is of the other kind"
            )

    def _check_window_function(self, function: Any, where: str) -> None:
        if function is None:
            return
        if isinstance(function, type):
            raise TypeError(
                f"{where} takes an instance, not the class {function.__name__}: write {function.__name__}()"
            )
        is_process = callable(getattr(function, "process", None))
        self._check_kind(function, self._process_type if is_process else self._apply_type, where)
        if not is_process:
            checked_function(function, self._apply_type, where)

    def _result(
        self,
        aggregation: Any,
        function: Any,
        output_type: TypeInformation | None,
        what: str,
        declared: bool = True,
    ) -> DataStream:
        description = WindowOperator(
            assigner=self._assigner,
            trigger=self._checked_trigger(self._trigger),
            aggregation=aggregation,
            row_type=as_row_type(self._stream._transformation.type_info),
            function=function,
            evictor=self._evictor,
            allowed_lateness=self._lateness,
            late_tag=self._late_tag.tag_id if self._late_tag is not None else None,
            keyed=self._keyed,
            key=self._stream._key,
        )
        stream = self._stream._apply(type(self._assigner).__name__, description, output_type, declared)
        parts = [repr(self._assigner), repr(self._trigger), *([repr(self._evictor)] if self._evictor else []), what]
        stream.set_description(f"Window({', '.join(parts)})")
        return stream


class WindowedStream(_Windowed):
    """A keyed stream whose elements are grouped in windows."""

    _apply_type = WindowFunction
    _process_type = ProcessWindowFunction
    _other_types = (AllWindowFunction, ProcessAllWindowFunction)
    _keyed = True


class AllWindowedStream(_Windowed):
    """A stream that is not keyed, whose elements are grouped in windows, by one subtask."""

    _apply_type = AllWindowFunction
    _process_type = ProcessAllWindowFunction
    _other_types = (WindowFunction, ProcessWindowFunction)
    _keyed = False

    def _result(self, *args: Any, **kwargs: Any) -> DataStream:
        return super()._result(*args, **kwargs).force_non_parallel()


def _check_timestamps(transformation: Transformation, assigner: Any) -> None:
    """Refuse windows in event time over elements that certainly have no timestamps."""
    waiting, seen = [transformation], set()
    while waiting:
        found = waiting.pop()
        if found.id in seen:
            continue
        seen.add(found.id)
        if isinstance(found, OperatorTransformation):
            description = found.description
            strategy = getattr(description, "strategy", None)
            if strategy is not None and strategy.timestamp_assigner is not None:
                continue
            if isinstance(description, WindowOperator):
                if isinstance(description.assigner, _TIMELESS):
                    raise InvalidProgramError(
                        f"{assigner!r} needs event time, but windows of {description.assigner!r} have no end in time, "
                        "and so their results have no time: call assign_timestamps_and_watermarks(...) on the results"
                    )
                continue  # The results have the time of their windows.
            if isinstance(description, SourceOperator) and not description.source.gives_timestamps():
                raise InvalidProgramError(
                    f"{assigner!r} needs event time, but the elements of '{found.name}' have no timestamps: call "
                    "assign_timestamps_and_watermarks(WatermarkStrategy....with_timestamp_assigner(...)) before "
                    "key_by, or use windows in processing time "
                    f"({type(assigner).__name__.replace('Event', 'Processing')})"
                )
        waiting.extend(found.inputs)
