"""What the engine offers to user functions at run time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from spry.common.accumulators import Accumulator, DoubleCounter, Histogram, IntCounter, LongCounter
from spry.common.metrics import MetricGroup
from spry.common.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)

__all__ = ["KeyedStateStore", "RuntimeContext"]


class KeyedStateStore(ABC):
    """Gives access to the states of the current key."""

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]: ...

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]: ...

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]: ...

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]: ...

    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]: ...


class RuntimeContext(KeyedStateStore):
    """Given to ``open``: where this function runs, its state, accumulators, metrics and cached files."""

    @abstractmethod
    def get_job_name(self) -> str: ...

    @abstractmethod
    def get_job_id(self) -> str: ...

    @abstractmethod
    def get_task_name(self) -> str: ...

    @abstractmethod
    def get_operator_unique_id(self) -> str:
        """The operator's uid, which also tells operators of the same name apart."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int: ...

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int: ...

    @abstractmethod
    def get_index_of_this_subtask(self) -> int: ...

    @abstractmethod
    def get_attempt_number(self) -> int: ...

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str: ...

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A global job parameter, or the default."""

    @abstractmethod
    def get_job_parameters(self) -> dict[str, str]:
        """All global job parameters."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup: ...

    def get_metric_group(self) -> MetricGroup:
        return self.get_metrics_group()

    @abstractmethod
    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        """Register an accumulator; the job's result shows it merged over all subtasks."""

    @abstractmethod
    def get_accumulator(self, name: str) -> Accumulator[Any, Any] | None: ...

    def get_int_counter(self, name: str) -> IntCounter:
        counter: IntCounter = self._accumulator(name, IntCounter)
        return counter

    def get_long_counter(self, name: str) -> LongCounter:
        counter: LongCounter = self._accumulator(name, LongCounter)
        return counter

    def get_double_counter(self, name: str) -> DoubleCounter:
        counter: DoubleCounter = self._accumulator(name, DoubleCounter)
        return counter

    def get_histogram(self, name: str) -> Histogram:
        histogram: Histogram = self._accumulator(name, Histogram)
        return histogram

    def _accumulator(self, name: str, kind: Any) -> Any:
        known = self.get_accumulator(name)
        if known is None:
            known = kind()
            self.add_accumulator(name, known)
        elif type(known) is not kind:
            raise TypeError(f"accumulator '{name}' is a {type(known).__name__}, not a {kind.__name__}")
        return known

    @abstractmethod
    def get_distributed_cache(self) -> Any:
        """Files registered with ``register_cached_file``: ``.get_file(name)`` is a local path."""

    @abstractmethod
    def is_object_reuse_enabled(self) -> bool: ...
