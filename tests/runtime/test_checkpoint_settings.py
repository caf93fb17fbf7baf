"""Settings of checkpoints reach the slots by every name that they have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spry.common.configuration import Configuration
from spry.common.plan import CheckpointRequest
from spry.runtime.checkpoints.container import StatePart
from spry.runtime.checkpoints.snapshots import OperatorParts, SnapshotTaker
from spry.runtime.slot import _local_directory
from spry.runtime.state.meta import StateKind, StateMeta


@pytest.mark.parametrize(
    "key",
    [
        "execution.state-recovery.from-local",
        "execution.checkpointing.local-backup.enabled",
        "state.backend.local-recovery",
    ],
)
@pytest.mark.parametrize(
    "directories", ["execution.checkpointing.local-backup.dirs", "taskmanager.state.local.root-dirs"]
)
def test_local_recovery_by_every_name(key: str, directories: str) -> None:
    assert _local_directory(Configuration(), "job", 0) is None
    configuration = Configuration.from_dict({key: "true", directories: "/a,/b"})
    assert _local_directory(configuration, "job", 0) == Path("/a/spry-local-job-0")


def _take(limit: int) -> Any:
    part = StatePart(StateMeta("s", StateKind.VALUE), lambda: [("key", "x" * 2000)], True, False, "", 1)
    taker = SnapshotTaker(0, 0, False, memory_limit=limit)
    request = CheckpointRequest(1, 0, None, None)
    taker.take(request, [OperatorParts("uid", "name", 0, 128, [part])], [], 0.0)
    [snapshot] = taker.poll()
    return snapshot


def test_what_a_slot_may_put_into_the_drivers_memory_can_be_set() -> None:
    assert _take(5000).error is None
    error = _take(1000).error
    assert error is not None and "at most 1,000 (spry.checkpoint.max-state-size)" in error
