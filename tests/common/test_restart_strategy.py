from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from spry.common.config_options import ConfigurationError
from spry.common.configuration import Configuration
from spry.common.execution_config import ExecutionConfig
from spry.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from spry.common.time import Time


def test_fixed_delay() -> None:
    strategy = RestartStrategies.fixed_delay_restart(3, 1000)
    assert strategy.get_restart_attempts() == 3
    assert strategy.get_delay_between_attempts_interval() == Time.seconds(1)
    assert str(strategy) == strategy.get_description() == "up to 3 restarts, 1000 ms after each failure"


def test_failure_rate() -> None:
    strategy = RestartStrategies.failure_rate_restart(3, 60_000, 2000)
    assert strategy.get_max_failure_rate() == 3
    assert strategy.get_failure_interval() == Time.minutes(1)
    assert strategy.get_delay_between_attempts_interval() == Time.seconds(2)
    assert "more than 3 failures in 60000 ms" in str(strategy)


def test_equality_and_pickles() -> None:
    strategies = [
        RestartStrategies.no_restart(),
        RestartStrategies.fall_back_restart(),
        RestartStrategies.fixed_delay_restart(3, 1000),
        RestartStrategies.fixed_delay_restart(3, 1001),
        RestartStrategies.failure_rate_restart(3, 1000, 2000),
        RestartStrategies.exponential_delay_restart(1000, 2000),
    ]
    assert len({*strategies, *pickle.loads(pickle.dumps(strategies))}) == len(strategies)
    assert all(isinstance(strategy, RestartStrategyConfiguration) for strategy in strategies)
    assert len({str(strategy) for strategy in strategies}) == len(strategies)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: RestartStrategies.fixed_delay_restart(-1, 0),
            "restart_attempts must not be negative, got -1",
        ),
        (lambda: RestartStrategies.fixed_delay_restart(0, -5), "delay_between_attempts must not be negative"),
        (lambda: RestartStrategies.failure_rate_restart(0, 1, 1), "failure_rate must be at least 1"),
        (lambda: RestartStrategies.failure_rate_restart(1, 0, 1), "failure_interval must be positive"),
        (lambda: RestartStrategies.failure_rate_restart(1, 1, -1), "delay_interval must not be negative"),
        (lambda: RestartStrategies.exponential_delay_restart(0, 1), "initial_backoff must be positive"),
        (lambda: RestartStrategies.exponential_delay_restart(2, 1), "max_backoff"),
        (lambda: RestartStrategies.exponential_delay_restart(1, 2, 0.5), "backoff_multiplier"),
        (lambda: RestartStrategies.exponential_delay_restart(1, 2, jitter_factor=2), "jitter_factor"),
        (lambda: RestartStrategies.exponential_delay_restart(1, 2, reset_backoff_threshold=0), "threshold"),
    ],
)
def test_mistakes(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def from_dict(**values: Any) -> RestartStrategyConfiguration | None:
    keys = {f"restart-strategy.{key}".replace("__", ".").replace("_", "-"): v for key, v in values.items()}
    configuration = Configuration.from_dict(keys)
    configuration.validate()
    return RestartStrategies.from_configuration(configuration)


def test_strategies_of_the_configuration() -> None:
    assert from_dict() is None
    assert from_dict(type="none") == RestartStrategies.no_restart()
    assert from_dict(
        type="fixed-delay", fixed_delay__attempts=3, fixed_delay__delay="2 s"
    ) == RestartStrategies.fixed_delay_restart(3, 2000)
    assert from_dict(
        type="failure-rate",
        failure_rate__max_failures_per_interval=2,
        failure_rate__failure_rate_interval="5 min",
    ) == RestartStrategies.failure_rate_restart(2, 300_000, 1000)
    assert from_dict(
        type="exponential-delay", exponential_delay__max_backoff="10 s"
    ) == RestartStrategies.exponential_delay_restart(1000, 10_000)
    with pytest.raises(ConfigurationError, match="fixed-delay, failure-rate"):
        from_dict(type="never")


@pytest.mark.parametrize(
    "strategy",
    [
        RestartStrategies.no_restart(),
        RestartStrategies.fixed_delay_restart(3, 1500),
        RestartStrategies.failure_rate_restart(2, 60_000, 10),
        RestartStrategies.exponential_delay_restart(100, 2000, 2.0, 5000, 0.0, 7),
        RestartStrategies.exponential_delay_restart(100, 2000),
        RestartStrategies.fall_back_restart(),
    ],
    ids=str,
)
def test_a_strategy_that_is_set_is_what_the_options_say(strategy: RestartStrategyConfiguration) -> None:
    config = ExecutionConfig()
    config.set_restart_strategy(RestartStrategies.fixed_delay_restart(9, 9))
    assert config.set_restart_strategy(strategy) is config
    assert config.get_restart_strategy() == strategy
    again = Configuration(config.configuration)
    assert (RestartStrategies.from_configuration(again) or RestartStrategies.fall_back_restart()) == strategy


def test_only_a_restart_strategy_can_be_set() -> None:
    with pytest.raises(TypeError, match=r"takes what RestartStrategies gives, .* not 3"):
        ExecutionConfig().set_restart_strategy(3)  # type: ignore[arg-type]
