"""Pacing: how much an epoch reads, and when the next one starts.

Spark's cost per epoch is fixed, so epochs grow while there is backlog, until one takes about the target time. The
first are small, so that first results come soon. Without backlog there are pauses, longer and longer.
"""

from __future__ import annotations

from dataclasses import dataclass

from spry.common.operators import CollectOperator, PrintOperator
from spry.common.options import SpryOptions
from spry.graph.submission import JobSubmission

__all__ = ["EpochBudget", "EpochPacer", "create_pacer"]

_SHORTEST_TARGET_SECONDS = 0.05
_EAGER_TARGET_SECONDS = 0.25
_EAGER_RECORDS = 50_000

_FIRST_RECORDS = 64
_GROWTH = 8.0
_FORGET = 1.02
_NEXT_TO_NOTHING = 16


@dataclass(frozen=True, slots=True)
class EpochBudget:
    """What the sources may read in an epoch."""

    max_records: int
    """Per source subtask."""
    max_millis: int


class EpochPacer:
    """Adapts the epochs of one job."""

    def __init__(
        self,
        target_seconds: float,
        record_limit: int,
        interval_seconds: float,
        idle_seconds: float,
        keep_alive_seconds: float,
    ) -> None:
        self._target = target_seconds
        self._limit = record_limit or 1 << 40
        self._records = float(min(_FIRST_RECORDS, self._limit))
        self._interval = interval_seconds
        self._idle = max(min(idle_seconds, keep_alive_seconds), interval_seconds)
        self._pause = interval_seconds
        self._fixed = float("inf")
        """The shortest epoch of late: about what Spark costs."""

    def budget(self) -> EpochBudget:
        """For the next epoch."""
        return EpochBudget(max(1, int(self._records)), max(1, int(self._target * 1000)))

    def after(self, seconds: float, most_read: int, backlog: bool) -> float:
        """Learn from an epoch: its duration, the most that a source subtask read, whether there was more.

        Returns the pause before the next epoch.
        """
        # Only epochs with next to nothing to read tell that the fixed cost has risen. Others take as long as they may:
        # to learn from these, too, would let their length and what is allowed raise each other without end.
        forget = _FORGET if most_read <= _NEXT_TO_NOTHING else 1.0
        self._fixed = min(self._fixed * forget, seconds)
        # On a slow cluster the fixed cost alone may exceed the target: then half of an epoch is work.
        target = max(self._target, 2 * self._fixed)
        if seconds > target:
            # One slow epoch may have had another reason: do not fall far at once.
            self._records = max(self._records * max(target / seconds, 0.25), 1.0)
        elif backlog and most_read >= int(self._records):
            # What is left of the target tells how far the records may grow.
            self._records *= min(_GROWTH, max(1.0, target / seconds))
        self._records = min(self._records, float(self._limit))
        if backlog:
            self._pause = self._interval
            return 0.0
        if most_read:
            self._pause = self._interval
        pause = self._pause
        self._pause = min(self._pause * 1.5, self._idle)
        return pause


def create_pacer(submission: JobSubmission, checkpoint_interval: float | None) -> EpochPacer:
    """The pacer of a job. Epochs are no longer than the interval of its checkpoints (seconds), which end with them."""
    configuration = submission.configuration
    target = configuration.get(SpryOptions.EPOCH_TARGET_DURATION).to_millis() / 1000
    limit = configuration.get(SpryOptions.EPOCH_MAX_RECORDS)
    if checkpoint_interval is not None:
        target = min(target, max(checkpoint_interval, _SHORTEST_TARGET_SECONDS))
    if any(isinstance(node.description, CollectOperator | PrintOperator) for node in submission.graph.nodes):
        # Results that people wait for come in small portions, and the driver has to hold each.
        target = min(target, _EAGER_TARGET_SECONDS)
        limit = min(limit or _EAGER_RECORDS, _EAGER_RECORDS)
    return EpochPacer(
        target,
        limit,
        configuration.get(SpryOptions.EPOCH_INTERVAL).to_millis() / 1000,
        configuration.get(SpryOptions.EPOCH_IDLE_INTERVAL).to_millis() / 1000,
        configuration.get(SpryOptions.EPOCH_KEEP_ALIVE).to_millis() / 1000,
    )
