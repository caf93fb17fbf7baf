"""What functions do when a checkpoint is taken, and what they are given to go on from one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import IO, Any

from spry.common.context import KeyedStateStore
from spry.common.state import BroadcastState, ListState, ListStateDescriptor, MapStateDescriptor

__all__ = [
    "CheckpointListener",
    "CheckpointedFunction",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "ListCheckpointed",
    "OperatorStateStore",
    "RawStateOutput",
    "is_checkpointed_function",
    "is_list_checkpointed",
]


class OperatorStateStore(ABC):
    """State of a whole subtask, independent of keys."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list whose elements are spread evenly over the subtasks when a job is restored."""

    @abstractmethod
    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list of which every subtask gets all elements of all subtasks when a job is restored."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """A map that is the same in all subtasks."""

    @abstractmethod
    def get_registered_state_names(self) -> set[str]:
        """The names of the lists, those of a checkpoint that nothing has asked for yet among them."""

    @abstractmethod
    def get_registered_broadcast_state_names(self) -> set[str]:
        """The names of the broadcast states."""


class FunctionSnapshotContext(ABC):
    """Which checkpoint it is that is being taken."""

    @abstractmethod
    def get_checkpoint_id(self) -> int: ...

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """When the checkpoint was begun, in ms."""

    @abstractmethod
    def get_raw_operator_state_output(self) -> RawStateOutput:
        """Where bytes of the function's own making go."""


class RawStateOutput(ABC):
    """A stream of bytes, cut into partitions that are spread over the subtasks when a job is restored."""

    @abstractmethod
    def start_new_partition(self) -> None:
        """What is written from now on is another partition."""

    @abstractmethod
    def write(self, data: bytes) -> int: ...


class FunctionInitializationContext(ABC):
    """What a function starts from: nothing, or a checkpoint."""

    @abstractmethod
    def is_restored(self) -> bool:
        """Whether the job goes on from a checkpoint."""

    @abstractmethod
    def get_restored_checkpoint_id(self) -> int | None:
        """The id of that checkpoint, None if there is none."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore: ...

    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore: ...

    @abstractmethod
    def get_raw_operator_state_inputs(self) -> Iterable[IO[bytes]]:
        """The partitions of raw bytes that are this subtask's now."""


class CheckpointedFunction(ABC):
    """A function that has operator state, or something to do at every checkpoint."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Called for every checkpoint, between two records: bring the states up to date."""

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Called once, before ``open``: get the states, and take out of them what a checkpoint left there."""


class ListCheckpointed(ABC):
    """A function whose state is a list, spread evenly over the subtasks when a job is restored."""

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[Any]:
        """The state as a list of parts that can go to different subtasks."""

    @abstractmethod
    def restore_state(self, state: list[Any]) -> None:
        """Called before ``open`` if the job goes on from a checkpoint, with the parts that are this subtask's now."""


class CheckpointListener(ABC):
    """A function that wants to know what became of checkpoints."""

    @abstractmethod
    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is durable, in all subtasks. Later ones may have been announced before it."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """The checkpoint was given up; what belongs to it goes into the next one."""


def is_checkpointed_function(function: Any) -> bool:
    """Whether a function object takes part in checkpoints, as :class:`CheckpointedFunction` does."""
    return callable(getattr(function, "snapshot_state", None)) and callable(getattr(function, "initialize_state", None))


def is_list_checkpointed(function: Any) -> bool:
    """Whether a function object takes part in checkpoints, as :class:`ListCheckpointed` does."""
    return callable(getattr(function, "snapshot_state", None)) and callable(getattr(function, "restore_state", None))
