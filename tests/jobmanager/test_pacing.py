from __future__ import annotations

import pytest

from spry.jobmanager.pacing import EpochPacer


def pacer(
    target: float = 0.5, limit: int = 0, interval: float = 0.1, idle: float = 5.0, alive: float = 20.0
) -> EpochPacer:
    return EpochPacer(target, limit, interval, idle, alive)


def run(pacer: EpochPacer, epochs: int, fixed: float, per_record: float) -> list[tuple[int, float]]:
    """Epochs of a source that always has more: (records, seconds) of each."""
    history = []
    for _ in range(epochs):
        records = pacer.budget().max_records
        seconds = fixed + per_record * records
        assert pacer.after(seconds, records, True) == 0.0, "no pause while there is more"
        history.append((records, seconds))
    return history


@pytest.mark.parametrize(("fixed", "per_record"), [(0.02, 1e-6), (0.05, 1e-4), (0.2, 1e-5)])
def test_epochs_grow_until_they_take_the_target_time(fixed: float, per_record: float) -> None:
    history = run(pacer(), 60, fixed, per_record)
    assert history[0][0] <= 64, "the first is small, so that first results come soon, also of functions that take long"
    first = [records for records, _ in history[:4]]
    assert first == sorted(first)
    assert 0.35 <= history[-1][1] <= 0.65


@pytest.mark.parametrize(("fixed", "per_record"), [(0.02, 1e-6), (0.05, 1e-4), (0.2, 1e-5)])
def test_epochs_do_not_drift_while_there_is_always_more(fixed: float, per_record: float) -> None:
    history = run(pacer(), 3000, fixed, per_record)
    assert max(seconds for _, seconds in history) <= 0.75


def test_where_spark_alone_takes_longer_than_the_target_half_of_an_epoch_is_work() -> None:
    history = run(pacer(), 300, 2.0, 1e-5)
    assert 3.0 <= history[-1][1] <= 5.0


def test_epochs_that_take_too_long_shrink() -> None:
    paced = pacer()
    grown = run(paced, 60, 0.02, 1e-6)[-1][0]
    slower = run(paced, 60, 0.02, 1e-4)
    assert slower[0][0] >= grown * 0.8
    assert slower[-1][0] < grown / 20
    assert slower[-1][1] <= 0.65


def test_one_slow_epoch_does_not_end_it() -> None:
    paced = pacer()
    before = run(paced, 60, 0.02, 1e-6)[-1][0]
    paced.after(60.0, before, True)
    assert paced.budget().max_records >= before / 10
    assert run(paced, 30, 0.02, 1e-6)[-1][1] >= 0.35


def test_there_is_always_something_to_read() -> None:
    paced = pacer()
    for _ in range(100):
        paced.after(100.0, 1, True)
    budget = paced.budget()
    assert budget.max_records >= 1
    assert budget.max_millis >= 1


def test_the_limit_holds() -> None:
    assert max(records for records, _ in run(pacer(limit=1000), 60, 0.01, 1e-7)) == 1000
    assert pacer(limit=3).budget().max_records == 3


def test_epochs_do_not_grow_when_less_was_read_than_allowed() -> None:
    paced = pacer()
    before = paced.budget().max_records
    for _ in range(10):
        paced.after(0.01, before // 2, True)
    assert paced.budget().max_records == before


def test_pauses_grow_while_nothing_comes_and_are_short_again_when_something_does() -> None:
    paced = pacer(interval=0.1, idle=2.0)
    pauses = [paced.after(0.01, 0, False) for _ in range(30)]
    assert pauses[0] == 0.1
    assert pauses == sorted(pauses)
    assert pauses[-1] == 2.0
    assert paced.after(0.01, 5, False) == 0.1
    assert paced.after(0.01, 0, False) <= 0.2
    assert paced.after(0.01, 5, True) == 0.0


def test_pauses_stay_within_what_keeps_workers_alive() -> None:
    paced = pacer(interval=0.1, idle=100.0, alive=7.0)
    assert max(paced.after(0.01, 0, False) for _ in range(50)) == 7.0


def test_a_long_interval_is_respected() -> None:
    paced = pacer(interval=10.0, idle=5.0)
    assert {paced.after(0.01, 0, False) for _ in range(5)} == {10.0}


def test_the_time_budget_is_the_target() -> None:
    assert pacer(target=0.25).budget().max_millis == 250
