"""The slot: what happens to blocks that stay in it, and to those that come from others."""

from __future__ import annotations

import time

from tests import journal
from tests.local_job import program


def test_what_stays_in_the_slot_is_used_up_before_more_is_read() -> None:
    journal.reset()
    env, job = program(1, chaining=False, max_records=100_000)
    keyed = env.from_sequence(1, 40_000).map(_passing).key_by(lambda n: n % 7)
    results = job.collect(keyed.reduce(max).map(_arriving))
    job.run()
    assert len(results) == 40_000
    in_flight = most = 0
    for change in journal.reset():
        in_flight += change
        most = max(most, in_flight)
    assert in_flight == 0
    assert most <= 3 * 4096, f"{most} records waited in the slot at one time"


def _passing(number: int) -> int:
    journal.note(1)
    return number


def _arriving(number: int) -> int:
    journal.note(-1)
    return number


def test_records_of_a_channel_stay_in_order_through_several_levels() -> None:
    env, job = program(3, max_records=37, seed=5)
    stream = env.from_collection(range(500)).key_by(lambda n: n % 5)
    for _ in range(3):
        stream = stream.map(lambda n: n).key_by(lambda n: n % 5)
    results = job.collect(stream.map(lambda n: n))
    job.run()
    for key in range(5):
        assert [n for n in results if n % 5 == key] == list(range(key, 500, 5))


def test_slow_functions_do_not_make_the_first_epoch_long() -> None:
    env, job = program(1)
    results = job.collect(env.from_sequence(1, 1000).map(_slow))
    job.start()
    job.step(max_millis=1)
    job.close()
    assert 1 <= len(results) <= 4


def _slow(number: int) -> int:
    time.sleep(0.005)
    return number
