"""Control elements: what travels in a stream between the records."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "MAX_WATERMARK",
    "MIN_TIMESTAMP",
    "NO_TIMESTAMP",
    "ControlElement",
    "EndOfInput",
    "Watermark",
    "WatermarkStatus",
]

MIN_TIMESTAMP = -(2**63)
NO_TIMESTAMP = MIN_TIMESTAMP
"""Stands in a timestamp column for a record without a timestamp."""
MAX_WATERMARK = 2**63 - 1
"""The watermark after the last record of a stream."""


class ControlElement:
    """Base of everything in a stream that is not a record."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Watermark(ControlElement):
    """No record with a timestamp at or before this one follows on the channel."""

    timestamp: int


@dataclass(frozen=True, slots=True)
class WatermarkStatus(ControlElement):
    """An idle channel holds no watermark back."""

    idle: bool


@dataclass(frozen=True, slots=True)
class EndOfInput(ControlElement):
    """Nothing follows on the channel."""
