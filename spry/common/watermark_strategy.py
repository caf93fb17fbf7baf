"""How the elements of a stream get their timestamps, and how the stream gets its watermarks.

A :class:`WatermarkStrategy` only says how; the sources and operators that follow it make what they need
from its attributes when they open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from spry.common.elements import Watermark
from spry.common.time import Duration

__all__ = [
    "GeneratorKind",
    "TimestampAssigner",
    "Watermark",
    "WatermarkAlignment",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]


class TimestampAssigner(ABC):
    """Finds the timestamp of an element."""

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """The timestamp of this element in milliseconds since the epoch. Called once per element.

        :param value: The element.
        :param record_timestamp: The timestamp that it has already, for example from the source; the smallest
            64 bit number if it has none.
        """


class WatermarkOutput(ABC):
    """Takes the watermarks of a :class:`WatermarkGenerator`."""

    @abstractmethod
    def emit_watermark(self, watermark: Watermark) -> None:
        """Emit a watermark, which ends idleness. One that is not later than the last changes nothing."""

    @abstractmethod
    def mark_idle(self) -> None:
        """Say that the stream is idle: others need not wait for its watermarks."""

    @abstractmethod
    def mark_active(self) -> None:
        """Say that the stream is not idle any more."""


class WatermarkGenerator(ABC):
    """Makes the watermarks of a stream, from its elements, from time to time, or both."""

    @abstractmethod
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Called for every element with its timestamp. It may emit a watermark."""

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Called every ``pipeline.auto-watermark-interval``. It may emit a watermark."""


class GeneratorKind(Enum):
    """Where the watermarks of a strategy come from."""

    NONE = "none"
    """There are none."""

    BOUNDED_OUT_OF_ORDERNESS = "bounded-out-of-orderness"
    """They follow the highest timestamp at a distance of ``out_of_orderness_ms`` (0 if monotonous)."""

    CUSTOM = "custom"
    """A generator of the program makes them: ``generator_supplier()`` gives one."""


@dataclass(frozen=True, slots=True)
class WatermarkAlignment:
    """Sources of one group wait for the slowest when they are ahead of it by more than the drift."""

    watermark_group: str
    max_allowed_watermark_drift_ms: int


def _millis(owner: str, name: str, duration: Any, minimum: int) -> int:
    if not isinstance(duration, Duration):
        raise TypeError(f"{owner}: {name} must be a Duration such as Duration.of_seconds(5), got {duration!r}")
    millis = duration.to_millis()
    if millis < minimum:
        bound = "must not be negative" if minimum == 0 else f"must be at least {minimum} ms"
        raise ValueError(f"{owner}: {name} {bound}, got {duration}")
    return millis


@dataclass(frozen=True, slots=True)
class WatermarkStrategy:
    """How elements get timestamps and how the stream gets watermarks.

    Each method gives a new strategy and leaves this one as it is:

    >>> strategy = (
    ...     WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    ...     .with_timestamp_assigner(lambda reading, _: reading["time"])
    ...     .with_idleness(Duration.of_minutes(1))
    ... )
    >>> strategy.out_of_orderness_ms, strategy.idle_timeout_ms
    (5000, 60000)
    """

    kind: GeneratorKind = GeneratorKind.NONE
    out_of_orderness_ms: int = 0
    generator_supplier: Callable[[], WatermarkGenerator] | None = None
    timestamp_assigner: TimestampAssigner | Callable[[Any, int], int] | None = None
    idle_timeout_ms: int | None = None
    alignment: WatermarkAlignment | None = None

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """No watermarks: event time does not pass in the stream until it ends."""
        return WatermarkStrategy()

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """For streams whose timestamps never go down: watermarks follow right behind the elements."""
        return WatermarkStrategy(GeneratorKind.BOUNDED_OUT_OF_ORDERNESS)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """For streams whose elements are late by at most this: watermarks keep this distance."""
        millis = _millis(
            "WatermarkStrategy.for_bounded_out_of_orderness", "max_out_of_orderness", max_out_of_orderness, 0
        )
        return WatermarkStrategy(GeneratorKind.BOUNDED_OUT_OF_ORDERNESS, out_of_orderness_ms=millis)

    @staticmethod
    def for_generator(supplier: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Watermarks of the program's own making.

        :param supplier: Called once per stream of elements (a subtask, a split): a function, or a class.
        """
        if not callable(supplier):
            raise TypeError(
                "WatermarkStrategy.for_generator takes a function that makes a WatermarkGenerator, "
                f"since every subtask needs its own, got {supplier!r}"
            )
        return WatermarkStrategy(GeneratorKind.CUSTOM, generator_supplier=supplier)

    def with_timestamp_assigner(
        self, timestamp_assigner: TimestampAssigner | Callable[[Any, int], int]
    ) -> WatermarkStrategy:
        """Take timestamps from the elements.

        :param timestamp_assigner: A :class:`TimestampAssigner`, or a function of the element and the
            timestamp that it has already.
        """
        assigner: Any = timestamp_assigner
        # A class is a callable, too, but calling it gives no timestamp.
        if isinstance(assigner, type) or not (isinstance(assigner, TimestampAssigner) or callable(assigner)):
            raise TypeError(
                "WatermarkStrategy.with_timestamp_assigner takes a TimestampAssigner or a function "
                f"(value, record_timestamp) -> int, got {timestamp_assigner!r}"
            )
        return replace(self, timestamp_assigner=timestamp_assigner)

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """A stream without elements for this long holds nobody else's watermarks back."""
        millis = _millis("WatermarkStrategy.with_idleness", "idle_timeout", idle_timeout, 1)
        return replace(self, idle_timeout_ms=millis)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy:
        """Let sources wait that are ahead of the slowest of their group by more than the drift.

        :param watermark_group: The name of the group; all sources that name it wait for one another.
        :param max_allowed_watermark_drift: How far a source may be ahead.
        :param update_interval: Accepted for Flink's sake: sources are compared at the end of every epoch.
        """
        owner = "WatermarkStrategy.with_watermark_alignment"
        if not watermark_group:
            raise ValueError(f"{owner}: watermark_group must not be empty")
        drift = _millis(owner, "max_allowed_watermark_drift", max_allowed_watermark_drift, 0)
        _millis(owner, "update_interval", update_interval or Duration.of_seconds(1), 1)
        return replace(self, alignment=WatermarkAlignment(watermark_group, drift))

    def extract_timestamp_function(self) -> Callable[[Any, int], int] | None:
        """The timestamp assigner as a function, ``None`` if there is none."""
        assigner = self.timestamp_assigner
        return assigner.extract_timestamp if isinstance(assigner, TimestampAssigner) else assigner
