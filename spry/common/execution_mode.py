"""How a program runs: on streams that may never end, or on data that is all there."""

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """How a job is executed.

    ``STREAMING`` gives results continuously, ``BATCH`` gives final results only and needs bounded sources,
    ``AUTOMATIC`` takes ``BATCH`` if all sources are bounded and ``STREAMING`` otherwise.
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2
