"""What the tests of windows share: descriptions of window operators over (key, number) elements, and functions."""

from __future__ import annotations

from typing import Any

import pytest

from spry.common.keys import KeySelection
from spry.common.operators import WindowOperator
from spry.datastream import AggregateFunction, ProcessWindowFunction
from spry.datastream.window import EventTimeTrigger, TimeWindow

__all__ = ["LATE", "Bounds", "Elements", "Numbers", "SlowEventTimeTrigger", "each_operator", "window"]

LATE = "late"


class SlowEventTimeTrigger(EventTimeTrigger):
    """The default trigger under another name, for which the general operator is chosen."""


each_operator = pytest.mark.parametrize("trigger", [None, SlowEventTimeTrigger()], ids=["quick", "general"])
"""Once with the operator that is chosen for the windows, once with the general one."""


def window(
    assigner: Any, function: Any = None, aggregation: Any = None, trigger: Any = None, **settings: Any
) -> WindowOperator:
    """Windows of (key, number) elements; without a function or an aggregation they give :class:`Elements`."""
    return WindowOperator(
        assigner,
        trigger or assigner.get_default_trigger(None),
        aggregation,
        function or (Elements() if aggregation is None else None),
        key=KeySelection.of_fields((0,)),
        **settings,
    )


class Elements(ProcessWindowFunction):
    """(key, numbers) of each window that fires."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, [element[1] for element in elements]


class Bounds(ProcessWindowFunction):
    """(key, start, end, numbers) of each window that fires."""

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        at: TimeWindow = context.window()
        yield key, at.start, at.end, [element[1] for element in elements]


class Numbers(AggregateFunction):
    """The numbers of a window, in a list that is changed in place."""

    def create_accumulator(self) -> list[int]:
        return []

    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        accumulator.append(value[1])
        return accumulator

    def get_result(self, accumulator: list[int]) -> list[int]:
        return accumulator

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        acc_a.extend(acc_b)
        return acc_a
