"""Which functions certainly hold on to nothing: only what they emit goes on without a copy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from spry.runtime.operators.functions import is_pure

_KEPT: list[Any] = []
_FACTOR = 3
_LAST: Any = None


@dataclass
class Event:
    n: int


def with_closure() -> Callable[[Any], Any]:
    kept: list[Any] = []
    return lambda v: kept.__iadd__([v])


def helper(value: Any) -> Any:
    return value


def keeps_in_global(value: Any) -> Any:
    global _KEPT
    _KEPT = [value]
    return _KEPT


def keeps_in_empty_global(value: Any) -> Any:
    global _LAST
    _LAST = value
    return _LAST


def keeps_in_class(value: Any) -> Any:
    Event.last = value  # type: ignore[attr-defined]
    return value


def changes_its_argument(value: Any) -> Any:
    value.n = 3
    return value


def keeps_in_itself(value: Any) -> Any:
    keeps_in_itself.last = value  # type: ignore[attr-defined]
    return value


def calls_what_keeps(value: Any) -> Any:
    return keeps_in_empty_global(value)


def calls_itself(value: Any) -> Any:
    return value if value < 1 else calls_itself(value - 1)


def captures(captured: Any) -> Callable[[Any], Any]:
    return lambda v: (captured, v)


def remembers_the_last() -> Callable[[Any], Any]:
    last: Any = None

    def remember(value: Any) -> Any:
        nonlocal last
        before, last = last, value
        return before

    return remember


class Holder:
    def method(self, value: Any) -> Any:
        return value

    def __call__(self, value: Any) -> Any:
        return value


PURE: list[Any] = [
    lambda v: v,
    lambda v: v * _FACTOR,
    lambda v: math.sqrt(v),
    lambda v: [v, v],
    lambda v: Event(v),
    lambda v: sorted(v.items()),
    changes_its_argument,
    lambda v: [part * 2 for part in v],
    lambda v: helper(v),
    lambda v, factor=3: v * factor,
    captures(3),
    captures(helper),
    calls_itself,
]

NOT_PURE: list[Any] = [
    with_closure(),
    lambda v: _KEPT.__iadd__([v]),
    lambda v, kept=_KEPT: kept,
    lambda v, *, kept=_KEPT: kept,
    lambda v: [_KEPT for _ in v],
    lambda v: calls_what_keeps(v),
    remembers_the_last(),
    captures(_KEPT),
    captures(keeps_in_empty_global),
    lambda v, f=keeps_in_class: f(v),
    lambda v: globals(),
    lambda v: setattr(v, "x", 1),
    keeps_in_global,
    keeps_in_empty_global,
    keeps_in_class,
    keeps_in_itself,
    Holder(),
    Holder().method,
    len,
    str,
]


@pytest.mark.parametrize("number", range(len(PURE)))
def test_functions_that_keep_nothing(number: int) -> None:
    assert is_pure(PURE[number])


@pytest.mark.parametrize("number", range(len(NOT_PURE)))
def test_functions_that_may_keep_something(number: int) -> None:
    assert not is_pure(NOT_PURE[number])
