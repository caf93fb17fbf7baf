"""Restart strategies at work, on a clock of the tests' own."""

from __future__ import annotations

import pytest

from spry.common.configuration import Configuration
from spry.jobmanager.restart_backoff import RestartBackoff, create_restart_backoff


class Strategy:
    def __init__(self, checkpointing: bool = True, **options: str) -> None:
        settings = {f"restart-strategy.{key}": value for key, value in options.items()}
        self.now = 0.0
        self.strategy: RestartBackoff = create_restart_backoff(
            Configuration.from_dict(settings), checkpointing, lambda: self.now
        )

    def fail(self, after: float = 0.0) -> float | None:
        self.now += after
        return self.strategy.after_failure()


def test_without_checkpoints_a_failure_is_the_end() -> None:
    assert Strategy(checkpointing=False).fail() is None


def test_with_checkpoints_the_delay_grows_up_to_a_minute() -> None:
    strategy = Strategy()
    delays = [strategy.fail(1) for _ in range(30)]
    assert None not in delays
    assert delays[0] == pytest.approx(1.0, rel=0.1)
    assert delays[1] == pytest.approx(1.5, rel=0.1)
    assert delays[2] == pytest.approx(2.25, rel=0.1)
    assert 54 <= delays[-1] <= 60  # type: ignore[operator]
    assert len(set(delays)) > 8, "not all jobs of a cluster come back in the same moment"
    assert strategy.fail(3600 + 60) == pytest.approx(1.0, rel=0.1), "after an hour without failures it begins anew"


def test_none() -> None:
    assert Strategy(type="none").fail() is None


def test_fixed_delay() -> None:
    strategy = Strategy(**{"type": "fixed-delay", "fixed-delay.attempts": "2", "fixed-delay.delay": "3 s"})
    assert [strategy.fail(1000) for _ in range(3)] == [3.0, 3.0, None]


def test_failure_rate() -> None:
    strategy = Strategy(
        **{
            "type": "failure-rate",
            "failure-rate.max-failures-per-interval": "2",
            "failure-rate.failure-rate-interval": "1 min",
            "failure-rate.delay": "5 s",
        }
    )
    assert [strategy.fail(40) for _ in range(10)] == [5.0] * 10
    assert [strategy.fail(21), strategy.fail(20)] == [5.0, None]


def test_exponential_delay() -> None:
    strategy = Strategy(
        **{
            "type": "exponential-delay",
            "exponential-delay.initial-backoff": "1 s",
            "exponential-delay.max-backoff": "5 s",
            "exponential-delay.backoff-multiplier": "2",
            "exponential-delay.reset-backoff-threshold": "1 min",
            "exponential-delay.jitter-factor": "0",
            "exponential-delay.attempts-before-reset-backoff": "5",
        }
    )
    assert [strategy.fail(1) for _ in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert strategy.fail(66) == 1.0
    assert [strategy.fail(1) for _ in range(5)] == [2.0, 4.0, 5.0, 5.0, None]
