"""When a part file is full enough, or old enough, that the next one is begun."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = [
    "CheckpointRollingPolicy",
    "DefaultRollingPolicy",
    "OnCheckpointRollingPolicy",
    "PartFileInfo",
    "RollingPolicy",
]


class PartFileInfo(ABC):
    """What a policy may know about a part file."""

    @abstractmethod
    def get_bucket_id(self) -> str: ...

    @abstractmethod
    def get_creation_time(self) -> int:
        """When it was begun (processing time, ms)."""

    @abstractmethod
    def get_size(self) -> int:
        """In bytes."""

    @abstractmethod
    def get_last_update_time(self) -> int:
        """When it was last written to (processing time, ms)."""


class RollingPolicy(ABC):
    """Decides when a bucket's part file is closed. Must be picklable."""

    @abstractmethod
    def should_roll_on_checkpoint(self, part_file_state: PartFileInfo) -> bool:
        """Asked at every checkpoint."""

    @abstractmethod
    def should_roll_on_event(self, part_file_state: PartFileInfo, element: Any) -> bool:
        """Asked before an element is written."""

    @abstractmethod
    def should_roll_on_processing_time(self, part_file_state: PartFileInfo, current_time: int) -> bool:
        """Asked in intervals (``with_bucket_check_interval``)."""

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128, rollover_interval: int = 60 * 1000, inactivity_interval: int = 60 * 1000
    ) -> DefaultRollingPolicy:
        """By size, by age and by time without a write.

        :param part_size: The size in bytes beyond which a file is closed.
        :param rollover_interval: How long a file may be open, in ms.
        :param inactivity_interval: How long a file may be open without a write, in ms.
        """
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """At every checkpoint, and only then."""
        return OnCheckpointRollingPolicy()


class DefaultRollingPolicy(RollingPolicy):
    """By size, by age and by time without a write; see :meth:`RollingPolicy.default_rolling_policy`."""

    def __init__(
        self, part_size: int = 1 << 27, rollover_interval: int = 60 * 1000, inactivity_interval: int = 60 * 1000
    ) -> None:
        self._part_size = _positive("part_size", part_size)
        self._rollover_interval = _positive("rollover_interval", rollover_interval)
        self._inactivity_interval = _positive("inactivity_interval", inactivity_interval)

    def should_roll_on_checkpoint(self, part_file_state: PartFileInfo) -> bool:
        return part_file_state.get_size() > self._part_size

    def should_roll_on_event(self, part_file_state: PartFileInfo, element: Any) -> bool:
        return part_file_state.get_size() > self._part_size

    def should_roll_on_processing_time(self, part_file_state: PartFileInfo, current_time: int) -> bool:
        return (
            current_time - part_file_state.get_creation_time() >= self._rollover_interval
            or current_time - part_file_state.get_last_update_time() >= self._inactivity_interval
        )


class CheckpointRollingPolicy(RollingPolicy):
    """Closes every file at every checkpoint, and others as a subclass decides."""

    def should_roll_on_checkpoint(self, part_file_state: PartFileInfo) -> bool:
        return True


class OnCheckpointRollingPolicy(CheckpointRollingPolicy):
    """Closes files at every checkpoint, and only then."""

    def should_roll_on_event(self, part_file_state: PartFileInfo, element: Any) -> bool:
        return False

    def should_roll_on_processing_time(self, part_file_state: PartFileInfo, current_time: int) -> bool:
        return False


def _positive(name: str, value: int) -> int:
    given: object = value
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"RollingPolicy: {name} must be an int, got {value!r}")
    if value <= 0:
        raise ValueError(f"RollingPolicy: {name} must be greater than 0, got {value}")
    return value
