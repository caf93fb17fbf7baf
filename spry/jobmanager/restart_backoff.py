"""Whether a failed job is restarted, and after how long."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from spry.common.configuration import Configuration
from spry.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration

__all__ = ["RestartBackoff", "create_restart_backoff"]

_UNLIMITED = 1 << 62


class RestartBackoff(ABC):
    """A restart strategy at work. Times are seconds."""

    @abstractmethod
    def after_failure(self) -> float | None:
        """The job has failed: how long to wait before it is restarted, None if it is not."""


class _Never(RestartBackoff):
    def after_failure(self) -> float | None:
        return None


class _FixedDelay(RestartBackoff):
    def __init__(self, attempts: int, delay: float) -> None:
        self._left = attempts
        self._delay = delay

    def after_failure(self) -> float | None:
        if self._left <= 0:
            return None
        self._left -= 1
        return self._delay


class _FailureRate(RestartBackoff):
    def __init__(self, failures: int, interval: float, delay: float, now: Callable[[], float]) -> None:
        self._failures: deque[float] = deque()
        self._most = failures
        self._interval = interval
        self._delay = delay
        self._now = now

    def after_failure(self) -> float | None:
        now = self._now()
        while self._failures and now - self._failures[0] > self._interval:
            self._failures.popleft()
        self._failures.append(now)
        return self._delay if len(self._failures) <= self._most else None


class _ExponentialDelay(RestartBackoff):
    def __init__(
        self,
        initial: float,
        longest: float,
        multiplier: float,
        reset_after: float,
        jitter: float,
        attempts: int | None,
        now: Callable[[], float],
    ) -> None:
        self._initial = initial
        self._longest = longest
        self._multiplier = multiplier
        self._reset_after = reset_after
        self._jitter = jitter
        self._attempts = attempts if attempts is not None else _UNLIMITED
        self._now = now
        self._delay = initial
        self._count = 0
        self._last: float | None = None

    def after_failure(self) -> float | None:
        now = self._now()
        if self._last is not None and now - self._last >= self._reset_after + self._delay:
            self._delay, self._count = self._initial, 0
        elif self._last is not None:
            self._delay = min(self._delay * self._multiplier, self._longest)
        self._last = now
        self._count += 1
        if self._count > self._attempts:
            return None
        return min(self._delay * (1 + random.uniform(-self._jitter, self._jitter)), self._longest)


def create_restart_backoff(
    configuration: Configuration, checkpointing: bool, now: Callable[[], float] = time.monotonic
) -> RestartBackoff:
    """The strategy of the configuration; by default as in Flink: with checkpoints exponential delay, without none."""
    strategy: RestartStrategyConfiguration | None = RestartStrategies.from_configuration(configuration)
    kinds = RestartStrategies
    if strategy is None:
        strategy = kinds.exponential_delay_restart(1000, 60_000) if checkpointing else kinds.no_restart()
    if isinstance(strategy, kinds.FixedDelayRestartStrategyConfiguration):
        delay = strategy.delay_between_attempts_interval.to_milliseconds() / 1000
        return _FixedDelay(strategy.restart_attempts, delay)
    if isinstance(strategy, kinds.FailureRateRestartStrategyConfiguration):
        return _FailureRate(
            strategy.max_failure_rate,
            strategy.failure_interval.to_milliseconds() / 1000,
            strategy.delay_between_attempts_interval.to_milliseconds() / 1000,
            now,
        )
    if isinstance(strategy, kinds.ExponentialDelayRestartStrategyConfiguration):
        return _ExponentialDelay(
            strategy.initial_backoff.to_milliseconds() / 1000,
            strategy.max_backoff.to_milliseconds() / 1000,
            strategy.backoff_multiplier,
            strategy.reset_backoff_threshold.to_milliseconds() / 1000,
            strategy.jitter_factor,
            strategy.attempts_before_reset_backoff,
            now,
        )
    return _Never()
