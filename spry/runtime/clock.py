"""The clock that processing time is read from: the machine's, unless a test holds it."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Clock", "system_clock"]

Clock = Callable[[], int]
"""Gives the time in ms since 1970."""


def system_clock() -> int:
    """The machine's clock, in ms since 1970."""
    return time.time_ns() // 1_000_000
