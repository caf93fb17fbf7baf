"""What happens when a job fails."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from spry.common.configuration import Configuration
from spry.common.options import RestartStrategyOptions as Options
from spry.common.options import RestartStrategyType
from spry.common.time import Duration, Time

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]


class RestartStrategyConfiguration:
    """What happens when a job fails: see :class:`RestartStrategies`."""

    def get_description(self) -> str:
        """The strategy in a few words."""
        return type(self).__name__

    def __str__(self) -> str:
        return self.get_description()


def _check(owner: str, **numbers: float) -> None:
    for name, number in numbers.items():
        if number < 0:
            raise ValueError(f"{owner}: {name} must not be negative, got {number}")


class RestartStrategies:
    """The strategies that there are. Delays and intervals are milliseconds.

    >>> print(RestartStrategies.fixed_delay_restart(3, 1000))
    up to 3 restarts, 1000 ms after each failure
    """

    @dataclass(frozen=True)
    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The first failure ends the job."""

        def get_description(self) -> str:
            return "no restarts"

    @dataclass(frozen=True)
    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The strategy of the configuration decides."""

        def get_description(self) -> str:
            return "the restart strategy of the configuration"

    @dataclass(frozen=True)
    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A number of restarts, each after the same delay."""

        restart_attempts: int
        delay_between_attempts_interval: Time

        def __post_init__(self) -> None:
            _check(
                "fixed_delay_restart",
                restart_attempts=self.restart_attempts,
                delay_between_attempts=self.delay_between_attempts_interval.to_milliseconds(),
            )

        def get_restart_attempts(self) -> int:
            return self.restart_attempts

        def get_delay_between_attempts_interval(self) -> Time:
            return self.delay_between_attempts_interval

        def get_description(self) -> str:
            delay = self.delay_between_attempts_interval
            return f"up to {self.restart_attempts} restarts, {delay} after each failure"

    @dataclass(frozen=True)
    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts as long as failures are rare."""

        max_failure_rate: int
        failure_interval: Time
        delay_between_attempts_interval: Time

        def __post_init__(self) -> None:
            if self.max_failure_rate < 1:
                raise ValueError(f"failure_rate_restart: failure_rate must be at least 1, got {self.max_failure_rate}")
            if self.failure_interval.to_milliseconds() < 1:
                raise ValueError(
                    f"failure_rate_restart: failure_interval must be positive, got {self.failure_interval}"
                )
            _check(
                "failure_rate_restart",
                delay_interval=self.delay_between_attempts_interval.to_milliseconds(),
            )

        def get_max_failure_rate(self) -> int:
            return self.max_failure_rate

        def get_failure_interval(self) -> Time:
            return self.failure_interval

        def get_delay_between_attempts_interval(self) -> Time:
            return self.delay_between_attempts_interval

        def get_description(self) -> str:
            return (
                f"restarts {self.delay_between_attempts_interval} after each failure, unless there are more "
                f"than {self.max_failure_rate} failures in {self.failure_interval}"
            )

    @dataclass(frozen=True)
    class ExponentialDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts after delays that grow from failure to failure."""

        initial_backoff: Time
        max_backoff: Time
        backoff_multiplier: float
        reset_backoff_threshold: Time
        jitter_factor: float
        attempts_before_reset_backoff: int | None = None

        def __post_init__(self) -> None:
            owner = "exponential_delay_restart"
            if self.initial_backoff.to_milliseconds() < 1:
                raise ValueError(f"{owner}: initial_backoff must be positive, got {self.initial_backoff}")
            if self.max_backoff < self.initial_backoff:
                raise ValueError(
                    f"{owner}: max_backoff ({self.max_backoff}) must not be less than initial_backoff "
                    f"({self.initial_backoff})"
                )
            if self.backoff_multiplier < 1:
                raise ValueError(f"{owner}: backoff_multiplier must be at least 1, got {self.backoff_multiplier}")
            if not 0 <= self.jitter_factor <= 1:
                raise ValueError(f"{owner}: jitter_factor must be from 0 to 1, got {self.jitter_factor}")
            if self.reset_backoff_threshold.to_milliseconds() < 1:
                raise ValueError(
                    f"{owner}: reset_backoff_threshold must be positive, got {self.reset_backoff_threshold}"
                )

        def get_description(self) -> str:
            return (
                f"restarts {self.initial_backoff} after the first failure, each time "
                f"{self.backoff_multiplier:g} times as long, at most {self.max_backoff}"
            )

    @staticmethod
    def no_restart() -> NoRestartStrategyConfiguration:
        """The first failure ends the job."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> FallbackRestartStrategyConfiguration:
        """The strategy of the configuration decides."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: int
    ) -> FixedDelayRestartStrategyConfiguration:
        """A number of restarts, each after this many milliseconds."""
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, Time(delay_between_attempts))

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: int, delay_interval: int
    ) -> FailureRateRestartStrategyConfiguration:
        """Restarts until there were more than ``failure_rate`` failures within ``failure_interval``."""
        return RestartStrategies.FailureRateRestartStrategyConfiguration(
            failure_rate, Time(failure_interval), Time(delay_interval)
        )

    @staticmethod
    def exponential_delay_restart(
        initial_backoff: int,
        max_backoff: int,
        backoff_multiplier: float = 1.5,
        reset_backoff_threshold: int = 3_600_000,
        jitter_factor: float = 0.1,
        attempts_before_reset_backoff: int | None = None,
    ) -> ExponentialDelayRestartStrategyConfiguration:
        """Restarts after delays that grow from failure to failure and start anew after a time without one."""
        return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
            Time(initial_backoff),
            Time(max_backoff),
            backoff_multiplier,
            Time(reset_backoff_threshold),
            jitter_factor,
            attempts_before_reset_backoff,
        )

    @staticmethod
    def to_configuration(strategy: RestartStrategyConfiguration, configuration: Configuration) -> None:
        """Write the strategy as ``restart-strategy.*`` options; one that falls back takes the choice away."""
        if isinstance(strategy, RestartStrategies.FallbackRestartStrategyConfiguration):
            for key in (Options.STRATEGY.key, *Options.STRATEGY.fallback_keys):
                configuration.remove_config(key)
            return
        kind, options = _OPTIONS[type(strategy)]
        configuration.set(Options.STRATEGY, kind)
        for option, field in zip(options, fields(strategy), strict=True):  # type: ignore[arg-type]
            value = getattr(strategy, field.name)
            if isinstance(value, Time):
                value = Duration.of_millis(value.to_milliseconds())
            if value is None:
                configuration.remove_config(option.key)
            else:
                configuration.set(option, value)

    @staticmethod
    def from_configuration(configuration: Configuration) -> RestartStrategyConfiguration | None:
        """The strategy that the ``restart-strategy.*`` options describe, ``None`` if they name none."""
        kind = configuration.get_optional(Options.STRATEGY)
        if kind is None:
            return None
        if kind is RestartStrategyType.NONE:
            return RestartStrategies.no_restart()
        if kind is RestartStrategyType.FIXED_DELAY:
            return RestartStrategies.fixed_delay_restart(
                configuration.get(Options.FIXED_DELAY_ATTEMPTS),
                configuration.get(Options.FIXED_DELAY_DELAY).to_millis(),
            )
        if kind is RestartStrategyType.FAILURE_RATE:
            return RestartStrategies.failure_rate_restart(
                configuration.get(Options.FAILURE_RATE_MAX_FAILURES_PER_INTERVAL),
                configuration.get(Options.FAILURE_RATE_FAILURE_RATE_INTERVAL).to_millis(),
                configuration.get(Options.FAILURE_RATE_DELAY).to_millis(),
            )
        return RestartStrategies.exponential_delay_restart(
            configuration.get(Options.EXPONENTIAL_DELAY_INITIAL_BACKOFF).to_millis(),
            configuration.get(Options.EXPONENTIAL_DELAY_MAX_BACKOFF).to_millis(),
            configuration.get(Options.EXPONENTIAL_DELAY_BACKOFF_MULTIPLIER),
            configuration.get(Options.EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD).to_millis(),
            configuration.get(Options.EXPONENTIAL_DELAY_JITTER_FACTOR),
            configuration.get_optional(Options.EXPONENTIAL_DELAY_ATTEMPTS),
        )


_OPTIONS: dict[type, tuple[RestartStrategyType, tuple[Any, ...]]] = {
    RestartStrategies.NoRestartStrategyConfiguration: (RestartStrategyType.NONE, ()),
    RestartStrategies.FixedDelayRestartStrategyConfiguration: (
        RestartStrategyType.FIXED_DELAY,
        (Options.FIXED_DELAY_ATTEMPTS, Options.FIXED_DELAY_DELAY),
    ),
    RestartStrategies.FailureRateRestartStrategyConfiguration: (
        RestartStrategyType.FAILURE_RATE,
        (
            Options.FAILURE_RATE_MAX_FAILURES_PER_INTERVAL,
            Options.FAILURE_RATE_FAILURE_RATE_INTERVAL,
            Options.FAILURE_RATE_DELAY,
        ),
    ),
    RestartStrategies.ExponentialDelayRestartStrategyConfiguration: (
        RestartStrategyType.EXPONENTIAL_DELAY,
        (
            Options.EXPONENTIAL_DELAY_INITIAL_BACKOFF,
            Options.EXPONENTIAL_DELAY_MAX_BACKOFF,
            Options.EXPONENTIAL_DELAY_BACKOFF_MULTIPLIER,
            Options.EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD,
            Options.EXPONENTIAL_DELAY_JITTER_FACTOR,
            Options.EXPONENTIAL_DELAY_ATTEMPTS,
        ),
    ),
}
"""How each strategy is written: its type, and an option for each of its fields."""
