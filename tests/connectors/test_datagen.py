from __future__ import annotations

from time import monotonic
from typing import Any

import pytest

from spry.common.source import Boundedness, InputStatus, SourceReaderContext
from spry.common.typeinfo import Types
from spry.connectors.datagen import DataGeneratorSource, GeneratorFunction, RateLimiterStrategy
from spry.connectors.rate_limiter import RateLimiter
from tests.connectors.driver import SourceDriver


class Named(GeneratorFunction[str]):
    """Says whether it was opened, and in which subtask."""

    def __init__(self) -> None:
        self.prefix = "not open"

    def open(self, reader_context: SourceReaderContext) -> None:
        self.prefix = f"{reader_context.index_of_subtask()}/{reader_context.current_parallelism()}"

    def map(self, value: int) -> str:
        return f"{self.prefix}:{value}"

    def close(self) -> None:
        self.prefix = "closed"


@pytest.mark.parametrize("parallelism", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 3, 1000])
def test_every_index_once(count: int, parallelism: int) -> None:
    source = DataGeneratorSource(lambda i: i * i, count)
    assert source.get_boundedness() is Boundedness.BOUNDED
    assert sorted(SourceDriver(source, parallelism).run()) == [i * i for i in range(count)]


def test_without_an_end_subtasks_take_turns() -> None:
    source = DataGeneratorSource(lambda i: i, None)
    assert source.get_boundedness() is Boundedness.CONTINUOUS_UNBOUNDED
    driver = SourceDriver(source, 3)
    driver.epoch(polls=4)
    assert sorted(driver.records) == list(range(3 * 4 * 64))
    assert not driver.ended


@pytest.mark.parametrize("count", [1000, None])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 2), (3, 2), (2, 5)])
def test_a_checkpoint_goes_on_exactly_there(count: int | None, before: int, after: int) -> None:
    first = SourceDriver(DataGeneratorSource(str, count), before)
    first.epoch(polls=2)
    checkpoint = first.checkpoint()
    seen = first.records
    first.epoch(polls=1)
    second = SourceDriver(first.source, after, checkpoint)
    if count is not None:
        assert sorted(seen + second.run(), key=int) == [str(i) for i in range(count)]
    else:
        second.epoch(polls=10)
        records = sorted(map(int, seen + second.records))
        assert len(set(records)) == len(records)
        assert records[:500] == list(range(500))


def test_a_class_is_opened_and_closed() -> None:
    driver = SourceDriver(DataGeneratorSource(Named(), 4), 2)
    assert driver.run() == ["0/2:0", "0/2:1", "1/2:2", "1/2:3"]
    reader: Any = driver.subtasks[0].reader
    driver.close()
    assert reader._function.prefix == "closed"


def test_a_rate_is_kept() -> None:
    driver = SourceDriver(DataGeneratorSource(lambda i: i, 60, records_per_second=200), 2)
    start = monotonic()
    driver.run()
    # 30 records each at 100 a second; the first comes at once.
    assert 0.28 <= monotonic() - start < 3.0
    assert sorted(driver.records) == list(range(60))


def test_waiting_for_the_next_record_is_left_to_the_engine() -> None:
    subtask = SourceDriver(DataGeneratorSource(str, 9, records_per_second=1)).subtasks[0]
    start = monotonic()
    for _ in range(3):
        assert subtask.reader.poll_next(subtask.output) is InputStatus.NOTHING_AVAILABLE
    assert subtask.output.records == ["0"]
    assert monotonic() - start < 0.9


def test_the_bucket() -> None:
    now = [100.0]
    limiter = RateLimiter(4.0, lambda: now[0])
    assert limiter.available() == 1
    limiter.take(1)
    assert limiter.available() == 0
    now[0] += 0.2
    assert limiter.available() == 0
    now[0] += 0.05
    assert limiter.available() == 1
    now[0] += 0.5
    assert limiter.available() == 3
    limiter.take(2)
    assert limiter.available() == 1
    now[0] += 3600
    assert limiter.available() == 40


def test_less_than_one_record_a_second() -> None:
    now = [0.0]
    limiter = RateLimiter(0.1, lambda: now[0])
    assert limiter.available() == 1
    limiter.take(1)
    now[0] = 9.9
    assert limiter.available() == 0
    now[0] = 10.1
    assert limiter.available() == 1
    now[0] = 1000.0
    assert limiter.available() == 1


def test_strategies() -> None:
    assert DataGeneratorSource(str, 1, RateLimiterStrategy.per_second(7)).rate.records_per_second == 7
    assert DataGeneratorSource(str, 1, 7.5).rate == RateLimiterStrategy.per_second(7.5)
    assert DataGeneratorSource(str, 1, RateLimiterStrategy.no_op()).rate.create_rate_limiter(3) is None
    assert DataGeneratorSource(str, 1).rate == RateLimiterStrategy.no_op()


def test_its_type() -> None:
    assert DataGeneratorSource(str, 1, type_info=Types.STRING()).get_produced_type() == Types.STRING()
    assert DataGeneratorSource(str, 1).get_produced_type() is None


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((5, 1), TypeError, "generator_function must be a function"),
        ((str, -1), ValueError, "count must be from 0"),
        ((str, "10"), TypeError, "count must be an int or None, got '10'"),
        ((str, 1, 0), ValueError, "records_per_second must be greater than 0, got 0"),
        ((str, 1, float("nan")), ValueError, "records_per_second must be greater than 0"),
        ((str, 1, "fast"), TypeError, "records_per_second must be a number, got 'fast'"),
    ],
)
def test_wrong_arguments(args: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        DataGeneratorSource(*args)
