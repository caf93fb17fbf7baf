"""Collected records between an epoch and the program that reads them.

Without checkpoints, or with at-least-once, records are passed on at once. With exactly-once they wait until a
checkpoint that covers them is complete: what a failure makes the job do again is not shown twice.
"""

from __future__ import annotations

from typing import Any

from spry.common.collect import CollectBuffer

__all__ = ["CollectedResults"]

Records = dict[str, list[Any]]


class CollectedResults:
    """The collected records of one job."""

    def __init__(self, buffers: dict[str, CollectBuffer], waits_for_checkpoints: bool) -> None:
        self._buffers = buffers
        self._waits = waits_for_checkpoints
        self._current: Records = {}
        self._began: list[int] = []
        self._covered: list[tuple[int, Records]] = []

    def begin(self, checkpoint_id: int) -> None:
        """The epoch whose records come next ends with this checkpoint."""
        self._began.append(checkpoint_id)

    def put(self, collected: Records) -> None:
        """What one slot has collected in an epoch."""
        for collect_id, values in collected.items():
            if self._waits:
                self._current.setdefault(collect_id, []).extend(values)
            else:
                self._buffers[collect_id].put_all(values)

    def end_epoch(self) -> None:
        """All slots have given what they collected in the epoch."""
        for checkpoint_id in self._began:
            self._covered.append((checkpoint_id, self._current))
            self._current = {}
        self._began.clear()

    def completed(self, checkpoint_id: int) -> None:
        """A checkpoint is complete: pass on what it covers."""
        self._pass_on([records for number, records in self._covered if number <= checkpoint_id])
        self._covered = [(number, records) for number, records in self._covered if number > checkpoint_id]

    def restart(self) -> None:
        """The job goes back to its last checkpoint: the rest will come again."""
        self._current, self._covered = {}, []
        self._began.clear()

    def finish(self) -> None:
        """The job has finished: pass on the rest."""
        self._pass_on([*(records for _, records in self._covered), self._current])
        self.restart()

    def _pass_on(self, parts: list[Records]) -> None:
        for records in parts:
            for collect_id, values in records.items():
                self._buffers[collect_id].put_all(values)
