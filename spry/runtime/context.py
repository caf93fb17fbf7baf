"""The runtime context: what a subtask's functions can learn and use."""

from __future__ import annotations

import os
import random
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import cloudpickle

from spry.common.accumulators import Accumulator
from spry.common.configuration import Configuration
from spry.common.context import KeyedStateStore, RuntimeContext
from spry.common.errors import InvalidProgramError
from spry.common.metrics import MetricGroup, MetricRegistry
from spry.common.options import RocksDBOptions
from spry.common.plan import JobPlan, OperatorPlan, VertexPlan
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
from spry.runtime.clock import Clock, system_clock
from spry.runtime.scratch import remove_scratch, scratch_directory
from spry.runtime.state.backends import create_keyed_backend
from spry.runtime.state.keyed import KeyContext, KeyedStateBackend
from spry.runtime.state.latency import LatencyTracking
from spry.runtime.state.operator_state import OperatorStateBackend

__all__ = ["DistributedCache", "SlotServices", "SubtaskContext"]

T = TypeVar("T")


class SlotServices:
    """What a slot offers to the subtasks in it."""

    def __init__(self, job: JobPlan, resolve_file: Callable[[str], str], clock: Clock = system_clock) -> None:
        self.job = job
        self.resolve_file = resolve_file
        self.clock = clock
        self.lines: list[tuple[bool, str]] = []
        """Lines to print on the driver."""
        self.collected: dict[str, list[Any]] = {}
        """Records to bring to the driver, by collector."""
        self.warnings: list[str] = []
        self.processing_time = 0
        """The processing time, in ms, as of the last look at the clock."""
        self._owned: set[int] = set()
        self._directories: list[Path] = []

    def local_directory(self) -> Path:
        """A new directory for files of this slot; it goes when the slot does."""
        given = Configuration.from_dict(self.job.configuration)
        parents = given.get_optional(RocksDBOptions.LOCAL_DIRECTORIES) or given.get_string("io.tmp.dirs", "").split(",")
        parent = random.choice(parents).strip().removeprefix("file://") or None
        directory = scratch_directory(parent, "state")
        self._directories.append(directory)
        return directory

    def dispose(self) -> None:
        """The slot is over: its local files go."""
        for directory in self._directories:
            remove_scratch(directory)
        self._directories.clear()

    def own(self, thing: T, *functions: Any) -> T:
        """The thing that holds these function objects: itself for whoever asks first, a copy for others.

        A program may use one object in several places; each has its own, with a life and fields of its own.
        """
        holders = {id(getattr(f, "__self__", f)) for f in functions if f is not None and not _is_plain(f)}
        if holders & self._owned:
            copy: T = cloudpickle.loads(cloudpickle.dumps(thing))
            return copy
        self._owned |= holders
        return thing


def _is_plain(function: Any) -> bool:
    """Whether a function has nothing of its own that it could change."""
    return isinstance(function, types.FunctionType) and not function.__closure__


class DistributedCache:
    """Files that were registered with ``register_cached_file``."""

    def __init__(self, services: SlotServices) -> None:
        self._services = services

    def get_file(self, name: str) -> str:
        """The local path of the file or directory registered under this name."""
        files = self._services.job.cached_files
        if name not in files:
            known = ", ".join(sorted(files)) or "none is registered"
            raise KeyError(f"no cached file '{name}' ({known}); register it with env.register_cached_file(path, name)")
        shipped, executable = files[name]
        path = Path(self._services.resolve_file(shipped))
        if executable:
            os.chmod(path, os.stat(path).st_mode | 0o111)
        return str(path)


class SubtaskContext(RuntimeContext):
    """The runtime context of one operator in one subtask."""

    def __init__(self, services: SlotServices, vertex: VertexPlan, operator: OperatorPlan, subtask: int) -> None:
        self.services = services
        key = operator.description.key
        self.key = services.own(key, key.function) if key is not None else None
        self.vertex = vertex
        self.operator = operator
        self.subtask = subtask
        self.batch = services.job.batch
        self.key_context = KeyContext()
        self.keyed_backends: list[KeyedStateBackend] = []
        """The backends of this operator, in the order in which they were made."""
        self.operator_states = OperatorStateBackend(operator.name)
        self.metrics = MetricRegistry()
        self._latency = LatencyTracking.of(services.job.configuration, MetricGroup(self.metrics))
        self.keyed_state = self.create_keyed_backend(self.key_context)
        self.accumulators: dict[str, Accumulator[Any, Any]] = {}

    # Where this is

    def get_job_name(self) -> str:
        return self.services.job.job_name

    def get_job_id(self) -> str:
        return self.services.job.job_id

    def get_task_name(self) -> str:
        return self.operator.name

    def get_operator_unique_id(self) -> str:
        return self.operator.uid

    def get_number_of_parallel_subtasks(self) -> int:
        return self.vertex.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self.vertex.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self.subtask

    def get_attempt_number(self) -> int:
        return self.services.job.attempt

    def get_task_name_with_subtasks(self) -> str:
        return f"{self.operator.name} ({self.subtask + 1}/{self.vertex.parallelism})#{self.services.job.attempt}"

    # What the job says

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self.services.job.job_parameters.get(key, default_value)

    def get_job_parameters(self) -> dict[str, str]:
        return dict(self.services.job.job_parameters)

    def get_distributed_cache(self) -> DistributedCache:
        return DistributedCache(self.services)

    def is_object_reuse_enabled(self) -> bool:
        return self.services.job.object_reuse

    # What is counted

    def get_metrics_group(self) -> MetricGroup:
        return MetricGroup(self.metrics)

    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        if name in self.accumulators:
            raise ValueError(f"operator '{self.operator.name}' already has an accumulator '{name}'")
        self.accumulators[name] = accumulator

    def get_accumulator(self, name: str) -> Accumulator[Any, Any] | None:
        return self.accumulators.get(name)

    # What is remembered

    def create_keyed_backend(self, current: KeyContext, name: str = "", namespaced: bool = False) -> KeyedStateBackend:
        """A place for keyed state of this operator. Those after the first have a name."""
        backend = create_keyed_backend(self.services, current, self.vertex.max_parallelism, name, namespaced)
        backend.operator = self.operator.name
        backend.latency = self._latency
        backend.expires = not self.batch
        self.keyed_backends.append(backend)
        return backend

    def _keyed(self, name: str) -> KeyedStateBackend:
        if self.operator.description.key is None:
            raise InvalidProgramError(
                f"operator '{self.operator.name}' asks for the keyed state '{name}' but its input is not keyed: "
                "put key_by(...) before it"
            )
        return self.keyed_state

    def get_keyed_state_store(self) -> KeyedStateStore:
        """Keyed state, for functions that ask before ``open``."""
        return self

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        return self._keyed(state_descriptor.name).value_state(state_descriptor)

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return self._keyed(state_descriptor.name).list_state(state_descriptor)

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        return self._keyed(state_descriptor.name).map_state(state_descriptor)

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        return self._keyed(state_descriptor.name).reducing_state(state_descriptor)

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        return self._keyed(state_descriptor.name).aggregating_state(state_descriptor)
