"""The two clocks of a stream."""

from enum import Enum

__all__ = ["TimeDomain"]


class TimeDomain(Enum):
    """Which clock a timer follows."""

    EVENT_TIME = 0
    """The watermark."""
    PROCESSING_TIME = 1
    """The machine's clock."""
