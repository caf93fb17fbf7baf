from __future__ import annotations

import datetime
import enum
import math
import subprocess
import sys
import uuid
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spry.common.errors import InvalidKeyError
from spry.common.keys import (
    KeySelection,
    field_getter,
    key_group_of,
    key_group_range,
    stable_hash,
    subtask_of_key_group,
)
from spry.common.types import Row


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Name(enum.StrEnum):
    RED = "red-value"


class Number(enum.IntEnum):
    ONE = 1


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Frozen:
    name: str
    part: Any


@dataclass
class Mutable:
    name: str


@dataclass(unsafe_hash=True)
class Hashed:
    name: Any


@dataclass(frozen=True)
class CaseBlind:
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CaseBlind) and other.name.lower() == self.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())


class Plain:
    pass


class WithHash:
    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithHash) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


KEYS: list[Any] = [
    "a",
    b"a",
    0,
    -1,
    2**200,
    -(2**200),
    1.5,
    math.inf,
    True,
    None,
    1 + 2j,
    (),
    (1, "a", None),
    ((None,), (Color.RED, (None, 2.5))),
    frozenset({"a", None, 3}),
    Color.RED,
    Number.ONE,
    Name.RED,
    Rights.READ | Rights.WRITE,
    Pair(1, None),
    Frozen("a", None),
    Frozen("a", Frozen("b", (Color.BLUE, None))),
    Hashed("a"),
    Hashed(None),
    CaseBlind("a"),
    Row(None, Color.RED),
    Row(a=None, b=(None,)),
    WithHash("a"),
    Decimal("1.10"),
    Fraction(1, 3),
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1, 12, 30),
    datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
    datetime.time(1, 2),
    datetime.timedelta(seconds=3),
    uuid.UUID(int=5),
    range(3),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_have_a_hash(key: Any) -> None:
    value = stable_hash(key)
    assert 0 <= value < 1 << 32
    assert stable_hash(key) == value


def test_hashes_are_the_same_in_every_process() -> None:
    """Also of what Python hashes by address (None, enums): two processes with the same PYTHONHASHSEED agree."""
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.runtime.test_keys import KEYS\n"
        "from spry.common.keys import stable_hash\n"
        "waste = [object() for _ in range(int(sys.argv[1]))]\n"
        "print([stable_hash(key) for key in KEYS])\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, waste],
            env={"PYTHONHASHSEED": "7"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for waste in ("0", "100000")
    }
    assert len(outputs) == 1
    assert outputs != {""}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0, -0.0),
        (1, Decimal(1)),
        (1, Number.ONE),
        (2**80, float(2**80)),
        (("a", 1), ("a", True)),
        (Name.RED, "red-value"),
        (frozenset([1, 2]), frozenset([2, 1])),
        (Pair(1, 2), (1, 2)),
        (Frozen("a", 1), Frozen("a", 1.0)),
        (Rights.READ | Rights.WRITE, Rights.WRITE | Rights.READ),
        (CaseBlind("A"), CaseBlind("a")),
        (Row(a=1, b=None), Row(b=None, a=1)),
    ],
)
def test_equal_keys_have_equal_hashes(one: Any, other: Any) -> None:
    assert one == other
    assert stable_hash(one) == stable_hash(other)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([1], r"the key \[1\] is a list, .* return tuple\(\.\.\.\)"),
        ({"a": 1}, r"is a dict, .* return tuple\(sorted\(d\.items\(\)\)\)"),
        ({1}, r"is a set, .* return frozenset"),
        (bytearray(b"a"), r"is a bytearray, .* give bytearray __eq__ and __hash__"),
        (Mutable("a"), r"is a Mutable, which cannot be hashed: give Mutable __eq__ and __hash__"),
        (Plain(), r"is a Plain, which is hashed by identity.*frozen dataclass"),
        (object(), r"hashed by identity"),
        (math.nan, r"not equal to itself: replace NaN"),
        (Decimal("nan"), r"not equal to itself: replace NaN"),
        (complex(math.nan, 0), r"not equal to itself"),
        ((1, math.nan), r"not equal to itself"),
        ((1, [2]), r"the key \[2\] is a list"),
        ((1, (Plain(),)), r"hashed by identity"),
        (frozenset([Plain()]), r"hashed by identity"),
        (Frozen("a", [1]), r"the key \[1\] is a list"),
        (Frozen("a", Plain()), r"hashed by identity"),
        (Decimal("snan"), r"cannot be hashed"),
    ],
    ids=repr,
)
def test_keys_that_are_refused(key: Any, message: str) -> None:
    with pytest.raises(InvalidKeyError, match=message):
        stable_hash(key)


def test_long_keys_are_cut_in_messages() -> None:
    with pytest.raises(InvalidKeyError) as caught:
        stable_hash(["x" * 5000])
    assert len(str(caught.value)) < 300


@given(st.integers(1, 200), st.integers(1, 300))
def test_key_groups_are_shared_out_completely_and_in_ranges(parallelism: int, max_parallelism: int) -> None:
    parallelism = min(parallelism, max_parallelism)
    ranges = [key_group_range(subtask, max_parallelism, parallelism) for subtask in range(parallelism)]
    assert [group for part in ranges for group in part] == list(range(max_parallelism))
    for subtask, part in enumerate(ranges):
        assert all(subtask_of_key_group(group, max_parallelism, parallelism) == subtask for group in part)


@pytest.mark.parametrize(
    "keys", [range(10_000), [f"key-{n}" for n in range(10_000)], [n * 1024 for n in range(10_000)]]
)
def test_keys_spread_over_the_groups(keys: Any) -> None:
    counts = [0] * 128
    for key in keys:
        counts[key_group_of(key, 128)] += 1
    assert min(counts) > 30
    assert max(counts) < 140


def test_field_getters() -> None:
    assert field_getter(1)(("a", "b")) == "b"
    assert field_getter("name")(Hashed("x")) == "x"
    assert field_getter("name")({"name": "x"}) == "x"
    assert KeySelection.of_fields((0, "a"))(Pair(1, 2)) == (1, 1)
    with pytest.raises(ValueError, match="cannot be negative: -1"):
        field_getter(-1)
    with pytest.raises(TypeError, match="an index or a name"):
        field_getter(True)
