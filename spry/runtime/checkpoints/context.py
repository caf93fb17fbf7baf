"""What operators are given when a snapshot is taken, and when they go on from one."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from spry.common.checkpoint import (
    FunctionInitializationContext,
    FunctionSnapshotContext,
    OperatorStateStore,
    RawStateOutput,
)
from spry.common.context import KeyedStateStore
from spry.runtime.checkpoints.container import StatePart
from spry.runtime.state.meta import StateKind, StateMeta
from spry.runtime.state.operator_state import OperatorStateBackend

__all__ = ["CONTENTS", "OPERATOR", "StateInitializationContext", "StateSnapshotContext"]

OPERATOR = "operator"
"""The store of what operators keep by themselves."""
CONTENTS = "contents"
"""The store of windows' contents, where a backend keeps them."""
_RAW = "raw"


class StateSnapshotContext:
    """Takes what one operator's subtask puts into a checkpoint."""

    def __init__(self, checkpoint_id: int, timestamp: int) -> None:
        self.checkpoint_id = checkpoint_id
        self.timestamp = timestamp
        self.parts: list[StatePart] = []

    def put_list_state(self, name: str, elements: Iterable[Any]) -> None:
        """Elements that go to the subtasks in equal shares."""
        self._put(name, StateKind.OPERATOR_LIST, elements)

    def put_union_list_state(self, name: str, elements: Iterable[Any]) -> None:
        """Elements that all go to every subtask."""
        self._put(name, StateKind.UNION_LIST, elements)

    def _put(self, name: str, kind: StateKind, elements: Iterable[Any]) -> None:
        held = list(elements)
        self.parts.append(StatePart(StateMeta(name, kind), lambda: held, False, False, OPERATOR, len(held)))

    def put_operator_states(self, states: OperatorStateBackend) -> None:
        """The operator states of a function, as they are now."""
        for meta, elements in states.snapshot():
            self.parts.append(StatePart(meta, elements.copy, False, False, "state", len(elements)))

    def put_keyed(
        self, name: str, entries: Callable[[], Iterable[tuple[Any, Any]]], count: int, namespaced: bool = False
    ) -> None:
        """(key, value) pairs that go to the subtasks that the keys belong to.

        ``entries`` may be called later, in a process of its own that sees everything as it is now.
        """
        meta = StateMeta(name, StateKind.INTERNAL)
        self.parts.append(StatePart(meta, entries, True, namespaced, OPERATOR, count))


class StateInitializationContext:
    """What one operator's subtask goes on from."""

    def __init__(
        self,
        restored_checkpoint_id: int | None = None,
        lists: dict[str, list[Any]] | None = None,
        unions: dict[str, list[Any]] | None = None,
        keyed: dict[str, list[tuple[Any, Any]]] | None = None,
        watermark: int | None = None,
    ) -> None:
        self._checkpoint_id = restored_checkpoint_id
        self._lists = lists or {}
        self._unions = unions or {}
        self._keyed = keyed or {}
        self.watermark = watermark
        """How far event time had come, None if that is not known."""

    def is_restored(self) -> bool:
        return self._checkpoint_id is not None

    def get_restored_checkpoint_id(self) -> int | None:
        return self._checkpoint_id

    def list_state(self, name: str) -> list[Any]:
        """This subtask's share of the elements."""
        return self._lists.get(name, [])

    def union_list_state(self, name: str) -> list[Any]:
        """All elements of all subtasks."""
        return self._unions.get(name, [])

    def keyed(self, name: str) -> list[tuple[Any, Any]]:
        """The pairs whose keys belong to this subtask."""
        return self._keyed.get(name, [])


class _RawOutput(RawStateOutput):
    def __init__(self) -> None:
        self.partitions: list[bytearray] = []

    def start_new_partition(self) -> None:
        self.partitions.append(bytearray())

    def write(self, data: bytes) -> int:
        if not self.partitions:
            self.start_new_partition()
        self.partitions[-1] += data
        return len(data)


class FunctionSnapshot(FunctionSnapshotContext):
    """The context of a user's ``snapshot_state``."""

    def __init__(self, context: StateSnapshotContext) -> None:
        self._context = context
        self._raw = _RawOutput()

    def get_checkpoint_id(self) -> int:
        return self._context.checkpoint_id

    def get_checkpoint_timestamp(self) -> int:
        return self._context.timestamp

    def get_raw_operator_state_output(self) -> RawStateOutput:
        return self._raw

    def finish(self) -> None:
        """Take over what was written."""
        if self._raw.partitions:
            self._context.put_list_state(_RAW, [bytes(partition) for partition in self._raw.partitions])


class FunctionInitialization(FunctionInitializationContext):
    """The context of a user's ``initialize_state``."""

    def __init__(
        self,
        context: StateInitializationContext,
        operator_states: OperatorStateBackend,
        keyed_states: Callable[[], KeyedStateStore],
    ) -> None:
        self._context = context
        self._operator_states = operator_states
        self._keyed_states = keyed_states

    def is_restored(self) -> bool:
        return self._context.is_restored()

    def get_restored_checkpoint_id(self) -> int | None:
        return self._context.get_restored_checkpoint_id()

    def get_operator_state_store(self) -> OperatorStateStore:
        return self._operator_states

    def get_keyed_state_store(self) -> KeyedStateStore:
        return self._keyed_states()

    def get_raw_operator_state_inputs(self) -> Iterator[IO[bytes]]:
        return (io.BytesIO(partition) for partition in self._context.list_state(_RAW))
