from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spry.common.types import Row, RowKind

ALICE = Row(name="Alice", age=11)
Person = Row("name", "age")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Row(), "<Row()>"),
        (Row("Alice", 11), "<Row('Alice', 11)>"),
        (ALICE, "Row(name='Alice', age=11)"),
        (Person("Alice", 11), "Row(name='Alice', age=11)"),
        (Person("Alice"), "Row(name='Alice')"),
        (Row(Row(1, 2), Row(a=1)), "<Row(<Row(1, 2)>, Row(a=1))>"),
        (Row.of_kind(RowKind.DELETE, a=1), "Row(a=1)"),
    ],
)
def test_repr(row: Row, text: str) -> None:
    assert repr(row) == str(row) == text


def test_access_by_position_and_by_name() -> None:
    assert ALICE[0] == ALICE["name"] == ALICE.name == "Alice"
    assert ALICE[-1] == 11
    assert ALICE[0:1] == ["Alice"]
    assert list(ALICE) == ["Alice", 11]
    assert len(ALICE) == 2
    assert not Row()


def test_unknown_names_say_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"no field 'nope' in a Row with the fields \['name', 'age'\]"):
        ALICE["nope"]
    with pytest.raises(AttributeError, match="no field 'nope'"):
        _ = ALICE.nope
    with pytest.raises(AttributeError, match="have no names"):
        _ = Row(1).name
    with pytest.raises(ValueError, match="have no names"):
        Row(1)["name"]
    with pytest.raises(AttributeError):
        _ = Person("Alice").age
    assert not hasattr(Row.__new__(Row), "name")


def test_values_can_be_replaced_but_not_added() -> None:
    row = Row(a=1, b=2)
    row[1] = 7
    row["a"] = 5
    assert row == Row(a=5, b=7)
    with pytest.raises(AttributeError):
        row.a = 1
    with pytest.raises(AttributeError):
        row.c = 1
    with pytest.raises(ValueError, match="'zz'"):
        row["zz"] = 1
    with pytest.raises(IndexError):
        row[9] = 1
    with pytest.raises(TypeError, match="slice"):
        row[0:1] = [1, 2, 3]
    assert row == Row(a=5, b=7)


def test_equality_looks_at_values_names_and_kind() -> None:
    assert Person("Alice", 11) == ALICE
    assert Row("Alice", 11) != ALICE
    assert Row("Alice", 11) != ("Alice", 11)
    assert Row(a=1) != Row(b=1)
    assert Row.of_kind(RowKind.DELETE, 1, 2) != Row(1, 2)
    assert Row(1) == Row(1.0)


def test_the_order_of_names_does_not_matter() -> None:
    swapped = Row(age=11, name="Alice")
    assert swapped == ALICE and hash(ALICE) == hash(swapped)
    assert list(swapped) == [11, "Alice"]
    assert Row(name=11, age="Alice") != ALICE
    assert Row("a", "b")(1) != Row("b", "a")(1)
    assert Row.of_kind(RowKind.DELETE, age=11, name="Alice") != ALICE


def test_hash_is_that_of_the_values() -> None:
    assert hash(Row("Alice", 11)) == hash(("Alice", 11))
    assert {ALICE: 1}[Person("Alice", 11)] == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(Row([1]))


def test_contains_looks_for_names_if_there_are_any() -> None:
    assert "name" in ALICE and "Alice" not in ALICE
    assert "Alice" in Row("Alice", 11)


def test_a_row_of_names_makes_rows() -> None:
    with pytest.raises(ValueError, match="takes 2 values, but 3 were given"):
        Person("a", 1, 2)
    with pytest.raises(ValueError, match="not both"):
        Row("a", b=1)


def test_as_dict() -> None:
    row = Row(x=Row(a=1, b=Row(c=2)), l=[Row(a=1)], t=(Row(a=1), 2), d={"k": Row(q=1)})
    assert row.as_dict()["x"] == Row(a=1, b=Row(c=2))
    assert row.as_dict(True) == {
        "x": {"a": 1, "b": {"c": 2}},
        "l": [{"a": 1}],
        "t": ({"a": 1}, 2),
        "d": {"k": {"q": 1}},
    }
    with pytest.raises(TypeError, match="names"):
        Row(1, 2).as_dict()


def test_field_names_can_be_set_and_taken_away() -> None:
    row = Row("Alice", 11)
    assert row.get_field_names() is None
    row.set_field_names(["p", "q"])
    assert row == Row(p="Alice", q=11)
    assert row.get_field_names() == ["p", "q"]
    row.set_field_names(None)
    assert row == Row("Alice", 11)


def test_fields_by_names() -> None:
    assert ALICE.get_fields_by_names(["age", "name"]) == [11, "Alice"]
    assert ALICE.get_fields_by_names(["age"]) == [11]
    assert Row(1, 2).get_fields_by_names(["b", "a"]) == [1, 2]
    with pytest.raises(ValueError, match="'q'"):
        ALICE.get_fields_by_names(["q"])


def test_row_kinds() -> None:
    row = Row.of_kind(RowKind.UPDATE_BEFORE, 1)
    assert row.get_row_kind() is RowKind.UPDATE_BEFORE
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]
    assert [kind.value for kind in RowKind] == [0, 1, 2, 3]
    row.set_row_kind(RowKind.INSERT)
    assert row == Row(1)
    with pytest.raises(TypeError, match="RowKind"):
        row.set_row_kind("x")  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", [2, 5])
@pytest.mark.parametrize(
    "row", [Row(), Row(1, "a"), ALICE, Row.of_kind(RowKind.DELETE, 1), Row.of_kind(RowKind.DELETE, a=[1])]
)
def test_pickles_and_copies(row: Row, protocol: int) -> None:
    for other in (pickle.loads(pickle.dumps(row, protocol)), copy.copy(row), copy.deepcopy(row)):
        assert other == row
        assert other.get_row_kind() is row.get_row_kind()
        assert other.get_field_names() == row.get_field_names()
    if len(row):
        other[0] = "changed"
        assert row[0] != "changed"


def test_pickles_are_compact() -> None:
    rows = [Row(name="a", age=i) for i in range(1000)]
    tuples = pickle.dumps([("a", i) for i in range(1000)], 5)
    assert len(pickle.dumps(rows, 5)) < 3 * len(tuples)


@given(st.dictionaries(st.text(min_size=1), st.integers() | st.text(), min_size=1))
def test_any_name_can_be_a_field(values: dict[str, object]) -> None:
    row = Row(*values.values())
    row.set_field_names(list(values))
    assert row.as_dict() == values
    assert all(row[name] == value for name, value in values.items())
    assert pickle.loads(pickle.dumps(row)) == row
