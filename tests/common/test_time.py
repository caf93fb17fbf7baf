from __future__ import annotations

import pickle

import pytest

from spry.common.time import Duration, Instant, Time


def test_durations() -> None:
    assert Duration.of_days(1) == Duration.of_hours(24) == Duration.of_minutes(1440)
    assert Duration.of_seconds(1) == Duration.of_millis(1000) == Duration.of_nanos(10**9)
    assert Duration.of_nanos(1_999_999).to_millis() == 1
    assert Duration.of_seconds(2).to_milliseconds() == 2000
    assert Duration.of_millis(1).to_nanos() == 1_000_000
    assert hash(Duration.of_seconds(60)) == hash(Duration.of_minutes(1))
    assert Duration.of_millis(-1) < Duration.of_millis(0) <= Duration.of_millis(0)
    assert Duration.of_seconds(1) != Time.seconds(1)
    assert str(Duration.of_seconds(3)) == "3000 ms"
    assert repr(Duration.of_nanos(3)) == "Duration(3 ns)"
    assert pickle.loads(pickle.dumps(Duration.of_seconds(3))) == Duration.of_seconds(3)


def test_times() -> None:
    assert Time.days(1).to_milliseconds() == 86_400_000
    assert Time.hours(1) == Time.minutes(60) == Time.seconds(3600) == Time.milliseconds(3_600_000)
    assert Time.seconds(1) < Time.seconds(2)
    assert len({Time.seconds(60), Time.minutes(1)}) == 1
    assert str(Time.seconds(3)) == "3000 ms"
    assert pickle.loads(pickle.dumps(Time.seconds(3))) == Time.seconds(3)


@pytest.mark.parametrize("make", [Duration.of_seconds, Duration.of_millis, Time.minutes, Time])
@pytest.mark.parametrize("value", [1.5, "1", None, True])
def test_only_whole_numbers(make: object, value: object) -> None:
    with pytest.raises(TypeError, match="must be an int"):
        make(value)  # type: ignore[operator]


def test_instants() -> None:
    assert Instant.of_epoch_milli(1234) == Instant(1, 234_000_000)
    assert Instant(1, 999_999_999).to_epoch_milli() == 1999
    assert str(Instant(5, 7)) == "Instant<5, 7>"
    assert Instant(1, 2) < Instant(1, 3) < Instant(2, 0)
    assert hash(Instant(1, 2)) == hash(Instant(1, 2))
    assert pickle.loads(pickle.dumps(Instant(1, 2))) == Instant(1, 2)


@pytest.mark.parametrize("millis", [-1, -1001, 0, 999, 1_600_000_000_123])
def test_instants_before_and_after_the_epoch_keep_their_milliseconds(millis: int) -> None:
    assert Instant.of_epoch_milli(millis).to_epoch_milli() == millis
