"""Keys as bytes: equal exactly if the keys are."""

from __future__ import annotations

import datetime
import enum
import uuid
from collections import namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spry.common.errors import InvalidKeyError
from spry.common.types import Row
from spry.common.window import CountWindow, GlobalWindow, TimeWindow
from spry.runtime.state.row_keys import decode_key, encode_key, key_bytes

Pair = namedtuple("Pair", "a b")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1


class Name(str):
    pass


@dataclass(frozen=True)
class Place:
    x: int
    y: Any = None
    note: str = field(default="", compare=False)


@dataclass(frozen=True)
class Other:
    x: int
    y: Any = None


class Point:
    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.x == other.x

    def __hash__(self) -> int:
        return hash(self.x)


def encoded(key: Any) -> bytes:
    return key_bytes(key)[0]


_AT = datetime.datetime(2024, 1, 1, 12)
_UTC = datetime.UTC
_EAST = datetime.timezone(datetime.timedelta(hours=2))

EQUAL = [
    (1, True, 1.0, Decimal("1.00"), Fraction(1), 1 + 0j, Level.LOW),
    (0, False, -0.0, Decimal(0)),
    (0.5, Fraction(1, 2), Decimal("0.50")),
    (2**70, float(2**70)),
    ("a", Name("a")),
    ((1, 2), Pair(1, 2), (True, 2.0)),
    (Row(a=1, b=2), Row(b=2, a=1)),
    (frozenset([1, "x"]), frozenset(["x", True])),
    (Place(1, (2,)), Place(True, (2,), "else")),
    (_AT.replace(tzinfo=_UTC), _AT.replace(hour=14, tzinfo=_EAST)),
    (_AT, _AT.replace(fold=1)),
    (TimeWindow(1, 2), TimeWindow(1, 2)),
    (CountWindow(3), CountWindow(3)),
    (Point(1), Point(1)),
]
DIFFERENT = [
    "1",
    b"1",
    "",
    b"",
    None,
    (),
    ("a", "b"),
    ("ab", ""),
    (("a",), "b"),
    ("a", ("b",)),
    0.1,
    Decimal("0.1"),
    float("inf"),
    float("-inf"),
    1j,
    -(2**63) - 1,
    Color.RED,
    Color.BLUE,
    Other(1, (2,)),
    Row(1, 2),
    Row(a=1, c=2),
    _AT.date(),
    datetime.timedelta(days=1),
    uuid.UUID(int=5),
    TimeWindow(1, 3),
    GlobalWindow.get(),
    Point(2),
    int,
    str,
    "\ud800",
    "x" * 300,
]


@pytest.mark.parametrize("keys", EQUAL, ids=str)
def test_equal_keys_have_equal_bytes(keys: tuple[Any, ...]) -> None:
    assert all(key == keys[0] for key in keys)
    assert {encoded(key) for key in keys} == {encoded(keys[0])}
    assert {encoded((key, "x")) for key in keys} == {encoded((keys[0], "x"))}


def test_different_keys_have_different_bytes_and_none_begins_with_another() -> None:
    keys = [keys[0] for keys in EQUAL] + DIFFERENT
    known = [encoded(key) for key in keys]
    for i, one in enumerate(known):
        for j, other in enumerate(known):
            assert i == j or not other.startswith(one), (keys[i], keys[j])


def test_it_does_not_matter_which_parts_are_one_object() -> None:
    text = "".join(["a", "b"])
    inner = (text, 1)
    assert encoded((inner, inner)) == encoded((("ab", 1), ("".join(["a", "b"]), 1)))
    assert encoded(Place(1, inner)) == encoded(Place(1, ("ab", 1)))


plain = st.recursive(
    st.none() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False).filter(lambda f: f % 1),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=8,
)


@given(plain, plain)
def test_plain_keys_are_read_back(one: Any, other: Any) -> None:
    data, is_plain = key_bytes(one)
    assert is_plain
    assert decode_key(b"--" + data + b"more", 2) == (one, len(data) + 2)
    assert (data == encoded(other)) == (one == other)


def test_other_keys_are_not_read_back() -> None:
    for key in (True, 1.0, Name("a"), Pair(1, 2), ("a", True), Color.RED, Place(1)):
        assert not encode_key(key, bytearray())


def test_keys_that_cannot_be_taken_apart() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InvalidKeyError, match="contains itself"):
        encoded((endless,))
    with pytest.raises(InvalidKeyError, match="cannot be taken apart"):
        encoded(open(__file__))  # noqa: SIM115
