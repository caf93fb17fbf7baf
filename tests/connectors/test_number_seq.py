from __future__ import annotations

from typing import Any

import pytest

from spry.common.source import Boundedness
from spry.connectors.number_seq import NumberSequenceSource
from spry.connectors.static_splits import even_ranges
from tests.connectors.driver import SourceDriver


@pytest.mark.parametrize("parallelism", [1, 2, 3, 7])
def test_every_number_once(parallelism: int) -> None:
    driver = SourceDriver(NumberSequenceSource(-5, 1000), parallelism)
    assert sorted(driver.run()) == list(range(-5, 1001))
    sizes = [len(subtask.output.records) for subtask in driver.subtasks]
    assert max(sizes) - min(sizes) <= 1
    assert all(subtask.output.records == sorted(subtask.output.records) for subtask in driver.subtasks)
    assert driver.requests == 0


def test_batches_are_ranges() -> None:
    driver = SourceDriver(NumberSequenceSource(1, 100))
    driver.run()
    assert driver.subtasks[0].output.batches == [range(1, 65), range(65, 101)]


def test_fewer_numbers_than_readers() -> None:
    driver = SourceDriver(NumberSequenceSource(3, 4), 4)
    assert driver.run() == [3, 4]
    assert SourceDriver(NumberSequenceSource(3, 3), 1).run() == [3]


def test_all_longs() -> None:
    driver = SourceDriver(NumberSequenceSource(-(2**63), 2**63 - 1), 2)
    driver.epoch(polls=1, max_records=2)
    assert driver.records == [-(2**63), -(2**63) + 1, 0, 1]
    assert not driver.ended


@pytest.mark.parametrize("polls", [0, 1, 3, 5])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 2), (4, 1), (2, 3), (1, 4)])
def test_a_checkpoint_goes_on_exactly_there(before: int, after: int, polls: int) -> None:
    first = SourceDriver(NumberSequenceSource(1, 1000), before)
    first.epoch(polls=polls)
    checkpoint = first.checkpoint()
    seen = first.records
    first.epoch(polls=1)
    second = SourceDriver(first.source, after, checkpoint)
    assert sorted(seen + second.run()) == list(range(1, 1001))


def test_what_readers_had_not_been_given_is_in_the_checkpoint_too() -> None:
    driver = SourceDriver(NumberSequenceSource(1, 10), 2)
    fresh = driver.source.create_enumerator(driver.context)
    splits: list[Any] = fresh.snapshot_state(1)
    assert [split.numbers for split in splits] == [range(1, 6), range(6, 11)]


@pytest.mark.parametrize(
    ("start", "end", "error", "message"),
    [
        (2, 1, ValueError, "start must not be greater than end, got 2 and 1"),
        (1.5, 2, TypeError, "start must be an int, got 1.5"),
        (1, True, TypeError, "end must be an int"),
        (0, 2**63, ValueError, "end must be a number of 64 bits"),
    ],
)
def test_wrong_bounds(start: Any, end: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        NumberSequenceSource(start, end)


def test_it_is_bounded() -> None:
    assert NumberSequenceSource(1, 2).get_boundedness() is Boundedness.BOUNDED
    assert NumberSequenceSource(1, 2).default_parallelism() is None


def test_even_ranges() -> None:
    assert even_ranges(range(0), 3) == []
    assert even_ranges(range(2), 3) == [range(1), range(1, 2)]
    assert even_ranges(range(0, 10, 3), 2) == [range(0, 6, 3), range(6, 10, 3)]
