"""How fast a source may emit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

__all__ = ["RateLimiter", "RateLimiterStrategy"]

_BURST_SECONDS = 10.0


@dataclass(frozen=True)
class RateLimiterStrategy:
    """The rate that all subtasks of a source keep together.

    >>> RateLimiterStrategy.per_second(1000)
    RateLimiterStrategy(records_per_second=1000.0)
    """

    records_per_second: float | None = None
    """None: as fast as it goes."""

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """So many records in a second, shared evenly by the subtasks."""
        rate: object = records_per_second
        if not isinstance(rate, int | float) or isinstance(rate, bool):
            raise TypeError(f"RateLimiterStrategy: records_per_second must be a number, got {rate!r}")
        if not 0 < rate < float("inf"):
            raise ValueError(f"RateLimiterStrategy: records_per_second must be greater than 0, got {rate}")
        return RateLimiterStrategy(float(rate))

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """No limit."""
        return RateLimiterStrategy()

    def create_rate_limiter(self, parallelism: int) -> RateLimiter | None:
        """The limiter of one of so many subtasks; None if there is no limit."""
        return RateLimiter(self.records_per_second / parallelism) if self.records_per_second is not None else None


class RateLimiter:
    """A bucket into which permits drop at a steady rate. It never waits.

    What was missed while the job was busy elsewhere is caught up, so that the rate holds on the average; but
    no more than ten seconds of it.
    """

    def __init__(self, records_per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = records_per_second
        self._largest = max(1.0, records_per_second * _BURST_SECONDS)
        self._clock = clock
        self._permits = 1.0
        self._filled_at: float | None = None

    def available(self) -> int:
        """How many records may be emitted now."""
        now = self._clock()
        if self._filled_at is not None:
            self._permits = min(self._permits + (now - self._filled_at) * self._rate, self._largest)
        self._filled_at = now
        return int(self._permits)

    def take(self, records: int) -> None:
        """So many are emitted."""
        self._permits -= records
