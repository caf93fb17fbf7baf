from __future__ import annotations

import pytest

from spry.common.source import Boundedness
from spry.connectors.collection import CollectionSource
from tests.connectors.driver import SourceDriver


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_all_elements_in_order(count: int) -> None:
    driver = SourceDriver(CollectionSource(range(count)))
    assert driver.run() == list(range(count))
    assert driver.ended


def test_it_owns_its_elements() -> None:
    elements = [1, 2, 3]
    source = CollectionSource(elements)
    elements.clear()
    assert SourceDriver(source).run() == [1, 2, 3]
    assert SourceDriver(CollectionSource(x * x for x in range(4))).run() == [0, 1, 4, 9]


def test_it_is_bounded_and_not_parallel() -> None:
    source = CollectionSource("ab")
    assert source.get_boundedness() is Boundedness.BOUNDED
    assert source.default_parallelism() == 1


@pytest.mark.parametrize("polls", [0, 1, 3, 16])
def test_a_checkpoint_goes_on_exactly_there(polls: int) -> None:
    first = SourceDriver(CollectionSource(range(1000)))
    first.epoch(polls=polls)
    checkpoint = first.checkpoint()
    seen = first.records
    first.epoch(polls=2)  # read after the checkpoint: must not count
    second = SourceDriver(first.source, checkpoint=checkpoint)
    assert seen + second.run() == list(range(1000))
