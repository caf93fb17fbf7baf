from __future__ import annotations

import threading
from array import array
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spry.common.elements import NO_TIMESTAMP, EndOfInput, Watermark, WatermarkStatus
from spry.common.errors import UnpicklableError
from spry.common.types import Row
from spry.runtime.blocks import BlockEncoder, decode_block, detach, peek_edge


@dataclass
class Point:
    x: int
    y: int


Pair = namedtuple("Pair", "a b")


def travel(values: list[Any], encoder: BlockEncoder | None = None) -> list[Any]:
    block = decode_block((encoder or BlockEncoder()).encode(3, 1, 7, values, None, []))
    assert (block.edge, block.source, block.sequence) == (3, 1, 7)
    assert block.timestamps is None
    return list(block.values)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.lists(PLAIN))
def test_plain_records_arrive_as_they_are(values: list[Any]) -> None:
    arrived = travel(values)
    assert arrived == values
    assert [type(value) for value in arrived] == [type(value) for value in values]


def test_header_timestamps_and_controls() -> None:
    controls = [(0, Watermark(5)), (1, WatermarkStatus(True)), (2, EndOfInput())]
    payload = BlockEncoder().encode(2**31 - 1, 4, 2**40, ["a", "b"], [10, NO_TIMESTAMP], controls)
    assert peek_edge(payload) == 2**31 - 1
    block = decode_block(payload)
    assert (block.edge, block.source, block.sequence) == (2**31 - 1, 4, 2**40)
    assert block.timestamps == array("q", [10, NO_TIMESTAMP])
    assert block.controls == controls
    assert decode_block(memoryview(payload).tobytes()).values == ["a", "b"]


def test_a_block_may_have_controls_only() -> None:
    block = decode_block(BlockEncoder().encode(0, 0, 0, [], None, [(0, EndOfInput())]))
    assert (list(block.values), block.controls) == ([], [(0, EndOfInput())])


def test_records_of_known_classes() -> None:
    values = [Point(1, 2), Pair(1, [2]), Row(1, "a"), Row(name="n", age=3)]
    assert travel(values) == values


def test_an_object_that_is_in_two_records_is_one_object_or_two_equal_ones() -> None:
    shared = {"a": [1]}
    first, second = travel([shared, shared])
    assert first == second == shared


def test_cycles() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    encoder = BlockEncoder()
    (arrived,) = travel([cycle], encoder)
    assert arrived[0] == 1
    assert arrived[1] is arrived
    assert travel([1, "a"], encoder) == [1, "a"], "the encoder still takes what is plain"


def test_a_cycle_behind_records_that_look_plain() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    arrived = travel([1, 2, cycle])
    assert arrived[:2] == [1, 2]
    assert arrived[2]["self"] is arrived[2]


def test_classes_that_are_defined_in_a_function() -> None:
    @dataclass
    class Local:
        n: int

    encoder = BlockEncoder()
    arrived = travel([Local(1), Local(2)], encoder)
    assert [value.n for value in arrived] == [1, 2]
    assert type(arrived[0]) is type(arrived[1])
    assert travel([1], encoder) == [1]


def test_functions_travel() -> None:
    (arrived,) = travel([lambda n: n + 1])
    assert arrived(1) == 2


def test_what_cannot_be_pickled_is_named() -> None:
    lock = threading.Lock()
    with pytest.raises(UnpicklableError, match=r"the record \('b', <unlocked.*\(tuple\) cannot be pickled"):
        BlockEncoder().encode(0, 0, 0, [("a", 1), ("b", lock)], None, [])


def test_deep_nesting_beyond_what_is_looked_at() -> None:
    deep: Any = 1
    for _ in range(50):
        deep = [deep]
    assert travel([deep]) == [deep]


@pytest.mark.parametrize(
    "value", [1, "a", None, 2.5, True, b"x", 1j, (1, "a"), (1, ("b", (None, 2.0))), (), ((), ((),))]
)
def test_what_nobody_can_change_is_not_copied(value: Any) -> None:
    assert detach(value) is value


@pytest.mark.parametrize("value", [[1], {"a": 1}, (1, [2]), ((1, {"a": 2}),), {1, 2}, Point(1, 2), Row(1)])
def test_what_can_be_changed_is_copied(value: Any) -> None:
    copy = detach(value)
    assert copy == value
    assert copy is not value


def test_the_copy_is_deep() -> None:
    value = {"a": [1]}
    copy = detach(value)
    value["a"].append(2)
    assert copy == {"a": [1]}


def test_objects_of_local_classes_are_copied_too() -> None:
    class Local:
        def __init__(self) -> None:
            self.items = [1]

    value = Local()
    copy = detach(value)
    value.items.append(2)
    assert copy.items == [1]
