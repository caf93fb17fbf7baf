"""The ten steps of the chain benchmarks: cheap functions, so that what is measured is the cost of a step.

Five are map steps and five filter steps. The filters let most records pass, so that late steps have work too.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["STEPS"]


def add_one(x: int) -> int:
    return x + 1


def not_tenth(x: int) -> bool:
    return x % 10 != 0


def triple(x: int) -> int:
    return x * 3


def not_seventh(x: int) -> bool:
    return x % 7 != 0


def flip(x: int) -> int:
    return x ^ 85


def not_eleventh(x: int) -> bool:
    return x % 11 != 0


def add_seven(x: int) -> int:
    return x + 7


def not_thirteenth(x: int) -> bool:
    return x % 13 != 0


def halve(x: int) -> int:
    return x >> 1


def not_seventeenth(x: int) -> bool:
    return x % 17 != 0


STEPS: list[tuple[str, Callable[[int], Any]]] = [
    ("map", add_one),
    ("filter", not_tenth),
    ("map", triple),
    ("filter", not_seventh),
    ("map", flip),
    ("filter", not_eleventh),
    ("map", add_seven),
    ("filter", not_thirteenth),
    ("map", halve),
    ("filter", not_seventeenth),
]
"""(kind, function) in order; a chain of k steps is the first k."""
