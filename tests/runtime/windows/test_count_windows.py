"""Windows of so many elements: what is in them, and what is left of them."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.keys import KeySelection
from spry.common.operators import WindowOperator
from spry.common.window_assigners import CountSlidingWindowAssigner, CountTumblingWindowAssigner
from spry.datastream import ProcessWindowFunction
from spry.runtime.testing import OperatorHarness


class Elements(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, context.window().id, [number for _, number in elements]


@pytest.mark.parametrize(
    ("assigner", "windows"),
    [
        (CountTumblingWindowAssigner.of(2), [[1, 2], [3, 4]]),
        (CountSlidingWindowAssigner.of(3, 1), [[1, 2, 3], [2, 3, 4], [3, 4, 5]]),
        (CountSlidingWindowAssigner.of(2, 3), [[1, 2], [4, 5]]),
    ],
)
def test_windows_have_exactly_their_size_and_leave_nothing_behind(assigner: Any, windows: list[list[int]]) -> None:
    trigger = assigner.get_default_trigger(None)
    description = WindowOperator(assigner, trigger, None, Elements(), key=KeySelection.of_fields((0,)))
    with OperatorHarness(description) as harness:
        for number in range(1, 6):
            harness.push(("a", number), ("b", -number))
        expected = [[("a", i, window), ("b", i, [-n for n in window])] for i, window in enumerate(windows)]
        assert harness.values() == [result for pair in expected for result in pair]
        operator: Any = harness.subtask.chain.operators[0]
        open_windows = [contents for (key, _), contents in operator._contents.items() if key == "a"]
        kept = [[number for _, number in contents] for contents in open_windows]
        assert all(len(numbers) < assigner.size for numbers in kept), kept
