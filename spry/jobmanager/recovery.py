"""What a job starts from: finding the checkpoint that its options name, and fitting the job to it."""

from __future__ import annotations

from collections.abc import Callable

from spry.common.configuration import Configuration
from spry.common.errors import CheckpointError
from spry.common.options import StateRecoveryOptions
from spry.graph.stream_graph import StreamGraph
from spry.runtime.checkpoints.metadata import (
    CheckpointMetadata,
    find_checkpoint,
    load_metadata,
    older_checkpoints,
)

__all__ = ["fit_to_checkpoint", "load_initial_checkpoint", "older_checkpoint"]


def load_initial_checkpoint(configuration: Configuration, note: Callable[[str], None]) -> CheckpointMetadata | None:
    """The checkpoint that the job is to start from, None if it starts afresh.

    If its metadata cannot be read, but there is an older checkpoint beside it, that one is taken, and said so.
    """
    path = configuration.get_optional(StateRecoveryOptions.SAVEPOINT_PATH)
    if not path:
        return None
    directory = find_checkpoint(path)
    try:
        return load_metadata(directory)
    except CheckpointError as error:
        older = older_checkpoint(directory)
        if older is None:
            raise
        note(f"{error}; going on from the older {older.path}")
        return older


def older_checkpoint(directory: str | None) -> CheckpointMetadata | None:
    """The newest checkpoint before one, beside it, that can be read."""
    for path in older_checkpoints(directory) if directory is not None else ():
        try:
            return load_metadata(path)
        except CheckpointError:
            continue
    return None


def fit_to_checkpoint(graph: StreamGraph, checkpoint: CheckpointMetadata, ignores_unclaimed: bool) -> None:
    """Check that a job can go on from a checkpoint; operators take over the number of key groups from it."""
    nodes = {node.uid: node for node in graph.nodes}
    unclaimed = [uid for uid in sorted(checkpoint.stateful_uids()) if uid not in nodes]
    if unclaimed and not ignores_unclaimed:
        lines = [_describe(uid, checkpoint) for uid in unclaimed]
        free = [f"'{node.name}' (uid '{uid}')" for uid, node in nodes.items() if uid not in checkpoint.operators]
        hint = f"\nOperators of the job without state there: {', '.join(free)}" if free else ""
        raise CheckpointError(
            f"{checkpoint.path} has state that no operator of the job takes:\n  "
            + "\n  ".join(lines)
            + hint
            + "\nGive the operators the uids that they had (uid(...)), or leave the state out on purpose: "
            "spry run -s PATH -n, or execution.state-recovery.ignore-unclaimed-state: true"
        )
    for uid, node in nodes.items():
        before = checkpoint.operators.get(uid)
        if before is None or before.max_parallelism == node.max_parallelism:
            continue
        if node.has_own_max_parallelism:
            raise CheckpointError(
                f"operator '{node.name}' has max parallelism {node.max_parallelism}, but had {before.max_parallelism} "
                f"when {checkpoint.path} was taken, and its state is divided into so many key groups: set "
                f"set_max_parallelism({before.max_parallelism}), or leave it out"
            )
        if node.parallelism > before.max_parallelism:
            raise CheckpointError(
                f"operator '{node.name}' has parallelism {node.parallelism}, but its state in {checkpoint.path} is "
                f"divided into {before.max_parallelism} key groups: that is the highest parallelism that it can have"
            )
        node.max_parallelism = before.max_parallelism


def _describe(uid: str, checkpoint: CheckpointMetadata) -> str:
    info = checkpoint.operators.get(uid)
    if info is None:
        return f"uid '{uid}'"
    kind = "uid" if info.has_user_uid else "generated uid"
    return f"operator '{info.name}' ({kind} '{uid}')"
