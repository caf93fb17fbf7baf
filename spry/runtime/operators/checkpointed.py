"""What checkpoints mean for a user's function object, whatever operator it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spry.common.checkpoint import is_checkpointed_function, is_list_checkpointed
from spry.runtime.checkpoints.context import (
    FunctionInitialization,
    FunctionSnapshot,
    StateInitializationContext,
    StateSnapshotContext,
)

if TYPE_CHECKING:
    from spry.runtime.context import SubtaskContext

__all__ = ["initialize_function", "notify_aborted", "notify_complete", "snapshot_function"]

_LIST = "list-checkpointed"


def initialize_function(function: Any, context: StateInitializationContext, operator: SubtaskContext) -> None:
    """Before ``open``: let the function get its state, and what a checkpoint has for it."""
    if is_checkpointed_function(function):
        function.initialize_state(
            FunctionInitialization(context, operator.operator_states, operator.get_keyed_state_store)
        )
    elif is_list_checkpointed(function) and context.is_restored():
        function.restore_state(context.list_state(_LIST))


def snapshot_function(function: Any, context: StateSnapshotContext, operator: SubtaskContext) -> None:
    """A checkpoint is taken: let the function bring its state up to date."""
    if is_checkpointed_function(function):
        snapshot = FunctionSnapshot(context)
        function.snapshot_state(snapshot)
        snapshot.finish()
    elif is_list_checkpointed(function):
        held = function.snapshot_state(context.checkpoint_id, context.timestamp)
        context.put_list_state(_LIST, held if held is not None else [])
    context.put_operator_states(operator.operator_states)


def notify_complete(function: Any, checkpoint_id: int) -> None:
    """Tell a function that wants to know that a checkpoint is durable."""
    told = getattr(function, "notify_checkpoint_complete", None)
    if callable(told):
        told(checkpoint_id)


def notify_aborted(function: Any, checkpoint_id: int) -> None:
    """Tell a function that wants to know that a checkpoint was given up."""
    told = getattr(function, "notify_checkpoint_aborted", None)
    if callable(told):
        told(checkpoint_id)
