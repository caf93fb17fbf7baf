from __future__ import annotations

import array
import dataclasses
import datetime as dt
import enum
import fractions
import math
import pickle
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spry.common.time import Instant
from spry.common.type_checks import TypeMismatch, compile_enforcer, is_atomic_type
from spry.common.type_conversion import convert
from spry.common.typeinfo import ExternalTypeInfo, RowTypeInfo, TypeInformation, Types
from spry.common.types import Row, RowKind

T = Types
ROW = T.ROW_NAMED(["name", "age"], [T.STRING(), T.INT()])
UTC = dt.UTC


class Color(enum.Enum):
    RED = 1


class Shade(enum.StrEnum):
    DARK = "dark"


class Level(enum.IntEnum):
    HIGH = 3


class Text(str):
    pass


class Point(NamedTuple):
    x: int
    y: float


class OtherPoint(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Person:
    name: str
    age: int | None
    scores: list[float]
    post_inits: int = 0

    def __post_init__(self) -> None:
        self.post_inits += 1


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    name: str
    weight: float


def enforce(type_info: TypeInformation, value: Any) -> Any:
    enforcer = compile_enforcer(type_info)
    assert enforcer is not None
    return enforcer(value)


NOON = dt.datetime(2020, 1, 2, 12, 30, 0, 123456)

# Values that are as they should be: they come back as the same object.
GOOD: list[tuple[TypeInformation, Any]] = [
    (T.STRING(), ""),
    (T.BOOLEAN(), False),
    (T.BYTE(), -128),
    (T.BYTE(), 127),
    (T.SHORT(), 32767),
    (T.INT(), -(2**31)),
    (T.INT(), 2**31 - 1),
    (T.LONG(), 2**63 - 1),
    (T.BIG_INT(), 2**70),
    (T.FLOAT(), 1.5),
    (T.FLOAT(), math.inf),
    (T.FLOAT(), math.nan),
    (T.DOUBLE(), 1.1),
    (T.CHAR(), "\u00e9"),
    (T.BIG_DEC(), Decimal("1.50")),
    (T.INSTANT(), Instant(1, 2)),
    (T.INSTANT(), None),
    (T.SQL_DATE(), dt.date(2020, 1, 2)),
    (T.SQL_TIME(), dt.time(1, 2, 3, 4)),
    (T.SQL_TIMESTAMP(), NOON),
    (T.LOCAL_DATE(), dt.date(2020, 1, 2)),
    (T.LOCAL_TIME(), dt.time(1, 2, 3)),
    (T.LOCAL_DATE_TIME(), NOON),
    (T.TUPLE([]), ()),
    (T.TUPLE([T.STRING(), T.INT()]), ("a", 1)),
    (T.TUPLE([T.PICKLED_BYTE_ARRAY(), T.INT()]), (None, 1)),
    (T.TUPLE([ROW, T.TUPLE([T.DOUBLE()])]), (Row(name="a", age=None), (1.0,))),
    (T.ROW([T.INT(), T.INT()]), Row(f0=1, f1=None)),
    (T.LIST(T.INT()), [1, None]),
    (T.MAP(T.STRING(), T.INT()), {"a": None, "b": 1}),
    (ROW, Row(name=None, age=None)),
    (ROW, Row.of_kind(RowKind.DELETE, name="a", age=1)),
    (T.PRIMITIVE_ARRAY(T.BYTE()), b"x"),
    (T.PRIMITIVE_ARRAY(T.INT()), [1, 2]),
    (T.PRIMITIVE_ARRAY(T.BOOLEAN()), [True]),
    (T.PRIMITIVE_ARRAY(T.CHAR()), ["a"]),
    (T.PRIMITIVE_ARRAY(T.FLOAT()), [0.5]),
    (T.BASIC_ARRAY(T.STRING()), ["a", None]),
    (T.OBJECT_ARRAY(ROW), [Row(name="a", age=1), None]),
    (T.LIST(T.LONG()), []),
    (T.LIST(T.LIST(T.STRING())), [["a"], None, []]),
    (T.LIST(T.PICKLED_BYTE_ARRAY()), [1, None, object]),
    (T.MAP(T.STRING(), T.LIST(T.INT())), {"a": [1], "b": None}),
    (T.MAP(T.TUPLE([T.INT()]), T.DOUBLE()), {(1,): 1.0}),
    (T.MAP(T.INT(), T.INT()), {}),
    (T.GENERIC(dt.datetime), NOON),
    (T.ENUM(Color), Color.RED),
    (T.POJO(Point), Point(1, 2.0)),
    (T.POJO(Person), Person("a", None, [1.0])),
    (T.POJO(Frozen), Frozen("a", 1.0)),
    (T.LIST(T.POJO(Frozen)), [Frozen("a", 1.0)]),
    (ExternalTypeInfo(T.INT()), 5),
]


@pytest.mark.parametrize(("type_info", "value"), GOOD)
def test_good_values_come_back_as_they_are(type_info: TypeInformation, value: Any) -> None:
    enforcer = compile_enforcer(type_info)
    assert enforcer is not None
    assert enforcer(value) is value
    slow = convert(type_info, value, "")
    assert repr(slow) == repr(value)


def test_nothing_to_check() -> None:
    assert compile_enforcer(T.PICKLED_BYTE_ARRAY()) is None
    assert compile_enforcer(ExternalTypeInfo(T.PICKLED_BYTE_ARRAY())) is None


# Values that have another form after they were sent to another process of Flink.
CONVERTED: list[tuple[TypeInformation, Any, Any]] = [
    (T.STRING(), Text("a"), "a"),
    (T.STRING(), Shade.DARK, "dark"),
    (T.INT(), True, 1),
    (T.INT(), Level.HIGH, 3),
    (T.BOOLEAN(), 1, True),
    (T.BOOLEAN(), 0, False),
    (T.DOUBLE(), 1, 1.0),
    (T.DOUBLE(), Decimal("1.5"), 1.5),
    (T.DOUBLE(), fractions.Fraction(1, 2), 0.5),
    (T.FLOAT(), 1.1, 1.100000023841858),
    (T.FLOAT(), 1, 1.0),
    (T.FLOAT(), 1e300, math.inf),
    (T.FLOAT(), -1e300, -math.inf),
    (T.BIG_INT(), True, 1),
    (T.BIG_DEC(), 3, Decimal("3")),
    (T.BIG_DEC(), 1.1, Decimal("1.1")),
    (T.SQL_DATE(), NOON, dt.date(2020, 1, 2)),
    (T.SQL_TIME(), dt.time(1, 2, tzinfo=UTC), dt.time(1, 2)),
    (T.SQL_TIME(), NOON, dt.time(12, 30, 0, 123456)),
    (T.SQL_TIMESTAMP(), NOON.replace(tzinfo=UTC), NOON),
    (T.TUPLE([T.STRING(), T.DOUBLE()]), ["a", 1], ("a", 1.0)),
    (T.TUPLE([T.STRING(), T.DOUBLE()]), Row("a", 1), ("a", 1.0)),
    (T.TUPLE([T.LONG(), T.DOUBLE()]), Point(1, 2.0), (1, 2.0)),
    (ROW, ("a", 1), Row(name="a", age=1)),
    (ROW, ["a", None], Row(name="a", age=None)),
    (ROW, Row("a", 1), Row(name="a", age=1)),
    (ROW, Row("a", True), Row(name="a", age=1)),
    (ROW, Row(age=1, name="a"), Row(name="a", age=1)),
    (ROW, {"age": 1, "name": "a"}, Row(name="a", age=1)),
    (ROW, Row.of_kind(RowKind.DELETE, "a", 1), Row.of_kind(RowKind.DELETE, name="a", age=1)),
    (ROW, Row.of_kind(RowKind.DELETE, "a", True), Row.of_kind(RowKind.DELETE, name="a", age=1)),
    (T.ROW([T.INT()]), Row(1), Row(f0=1)),
    (T.TUPLE([ROW]), (("a", 1),), (Row(name="a", age=1),)),
    (T.PRIMITIVE_ARRAY(T.BYTE()), bytearray(b"y"), b"y"),
    (T.PRIMITIVE_ARRAY(T.INT()), array.array("i", [1, 2]), [1, 2]),
    (T.PRIMITIVE_ARRAY(T.DOUBLE()), [1, 2.5], [1.0, 2.5]),
    (T.LIST(T.INT()), (1, 2), [1, 2]),
    (T.LIST(T.INT()), range(3), [0, 1, 2]),
    (T.LIST(T.INT()), [1, None, True], [1, None, 1]),
    (T.LIST(ROW), [("a", 1)], [Row(name="a", age=1)]),
    (T.MAP(T.STRING(), T.DOUBLE()), {"a": 1}, {"a": 1.0}),
    (T.MAP(T.STRING(), T.LIST(T.INT())), {"a": (1,)}, {"a": [1]}),
    (T.POJO(Point), (1, 2), Point(1, 2.0)),
    (T.POJO(Point), Point(1, 2), Point(1, 2.0)),
    (T.POJO(Frozen), Frozen("a", 1), Frozen("a", 1.0)),
]


@pytest.mark.parametrize(("type_info", "value", "expected"), CONVERTED)
def test_values_in_another_form(type_info: TypeInformation, value: Any, expected: Any) -> None:
    before = repr(value)
    converted = enforce(type_info, value)
    assert repr(converted) == repr(expected)
    assert converted == expected
    assert type(converted) is type(expected)
    assert repr(value) == before, "the value itself must stay as it was"
    assert enforce(type_info, converted) is converted


BAD: list[tuple[TypeInformation, Any, str, str]] = [
    (T.INT(), "abc", "value", "the value must be INT, got 'abc' (str)"),
    (T.INT(), 1.5, "value", "the value must be INT, got 1.5 (float)"),
    (T.INT(), 1.0, "value", "the value must be INT, got 1.0 (float)"),
    (T.INT(), Decimal(1), "value", "the value must be INT, got Decimal('1') (Decimal)"),
    (T.INT(), None, "value", "the value must be INT, got None (NoneType)"),
    (T.BYTE(), 128, "value", "the value must be BYTE (-128 to 127), got 128 (int)"),
    (T.SHORT(), -32769, "value", "the value must be SHORT (-32768 to 32767), got -32769 (int)"),
    (T.INT(), 2**31, "value", "the value must be INT (-2147483648 to 2147483647), got 2147483648 (int)"),
    (
        T.LONG(),
        2**63,
        "value",
        "the value must be LONG (-9223372036854775808 to 9223372036854775807), got 9223372036854775808 (int)",
    ),
    (T.STRING(), b"x", "value", "the value must be STRING, got b'x' (bytes)"),
    (T.STRING(), None, "value", "the value must be STRING, got None (NoneType)"),
    (T.CHAR(), "ab", "value", "the value must be CHAR (one character), got 'ab' (str)"),
    (T.CHAR(), "", "value", "the value must be CHAR (one character), got '' (str)"),
    (T.BOOLEAN(), 2, "value", "the value must be BOOLEAN, got 2 (int)"),
    (T.BOOLEAN(), 1.0, "value", "the value must be BOOLEAN, got 1.0 (float)"),
    (T.BOOLEAN(), [], "value", "the value must be BOOLEAN, got [] (list)"),
    (T.DOUBLE(), "1.5", "value", "the value must be DOUBLE, got '1.5' (str)"),
    (T.DOUBLE(), 10**400, "value", f"the value must be DOUBLE, got 1{'0' * 196}... (int)"),
    (T.FLOAT(), 1j, "value", "the value must be FLOAT, got 1j (complex)"),
    (T.BIG_INT(), 1.0, "value", "the value must be BIG_INT, got 1.0 (float)"),
    (T.BIG_DEC(), True, "value", "the value must be BIG_DEC, got True (bool)"),
    (T.INSTANT(), 1, "value", "the value must be INSTANT, got 1 (int)"),
    (T.SQL_DATE(), "2020-01-01", "value", "the value must be SQL_DATE, got '2020-01-01' (str)"),
    (T.SQL_TIME(), dt.date(2020, 1, 1), "value", "must be SQL_TIME, got datetime.date(2020, 1, 1) (date)"),
    (T.SQL_TIMESTAMP(), dt.date(2020, 1, 1), "value", "must be SQL_TIMESTAMP, got"),
    (T.TUPLE([T.STRING(), T.INT()]), ("a", "abc"), "f1", "field 'f1' must be INT, got 'abc' (str)"),
    (T.TUPLE([T.STRING(), T.INT()]), ("a", None), "f1", "field 'f1' must be INT, got None (NoneType)"),
    (T.TUPLE([T.STRING()]), ("a", 1), "value", "must be TUPLE<STRING> with 1 fields, got ('a', 1) (tuple)"),
    (T.TUPLE([T.STRING()]), "a", "value", "the value must be TUPLE<STRING>, got 'a' (str)"),
    (T.TUPLE([T.STRING()]), {"a"}, "value", "the value must be TUPLE<STRING>, got {'a'} (set)"),
    (ROW, Row("a", "x"), "age", "field 'age' must be INT, got 'x' (str)"),
    (ROW, ("a", "x"), "age", "field 'age' must be INT, got 'x' (str)"),
    (ROW, Row("a"), "value", "must be ROW<name STRING, age INT> with 2 fields, got <Row('a')> (Row)"),
    (
        ROW,
        Row(name="a", years=1),
        "value",
        "with the fields ['name', 'age'], got Row(name='a', years=1) (Row)",
    ),
    (ROW, {"name": "a"}, "value", "with 2 fields, got {'name': 'a'} (dict)"),
    (ROW, "ab", "value", "the value must be ROW<name STRING, age INT>, got 'ab' (str)"),
    (ROW, None, "value", "the value must be ROW<name STRING, age INT>, got None (NoneType)"),
    (
        T.TUPLE([T.INT(), T.LIST(ROW)]),
        (1, [None, Row("a", 1), Row(1, 1)]),
        "f1[2].name",
        "field 'f1[2].name' must be STRING, got 1 (int)",
    ),
    (T.LIST(T.INT()), [1, "a"], "[1]", "element [1] must be INT, got 'a' (str)"),
    (
        T.LIST(T.INT()),
        [1, 2**31],
        "[1]",
        "element [1] must be INT (-2147483648 to 2147483647), got 2147483648",
    ),
    (T.LIST(T.STRING()), "ab", "value", "the value must be LIST<STRING>, got 'ab' (str)"),
    (T.LIST(T.INT()), {1}, "value", "the value must be LIST<INT>, got {1} (set)"),
    (T.LIST(T.INT()), Row(1), "value", "the value must be LIST<INT>, got <Row(1)> (Row)"),
    (T.PRIMITIVE_ARRAY(T.INT()), [None], "[0]", "element [0] must be INT, got None (NoneType)"),
    (T.PRIMITIVE_ARRAY(T.BOOLEAN()), [None], "[0]", "element [0] must be BOOLEAN, got None (NoneType)"),
    (T.PRIMITIVE_ARRAY(T.BYTE()), [1], "value", "the value must be PRIMITIVE_ARRAY<BYTE>, got [1] (list)"),
    (T.MAP(T.STRING(), T.INT()), {"a": "b"}, "['a']", "element ['a'] must be INT, got 'b' (str)"),
    (T.MAP(T.STRING(), T.INT()), {1: 1}, "[key 1]", "element [key 1] must be STRING, got 1 (int)"),
    (T.MAP(T.STRING(), T.INT()), {None: 1}, "[key None]", "must be STRING, got None (NoneType)"),
    (T.MAP(T.STRING(), T.INT()), [("a", 1)], "value", "the value must be MAP<STRING, INT>, got [('a', 1)]"),
    (T.GENERIC(dt.datetime), 1, "value", "the value must be datetime, got 1 (int)"),
    (T.ENUM(Color), "RED", "value", "the value must be Color, got 'RED' (str)"),
    (T.POJO(Point), OtherPoint(1, 2.0), "value", "must be Point, got OtherPoint(x=1, y=2.0) (OtherPoint)"),
    (T.POJO(Point), Point("a", 2.0), "x", "field 'x' must be LONG, got 'a' (str)"),  # type: ignore[arg-type]
    (T.POJO(Person), Person("a", 1, [1.0, "b"]), "scores[1]", "must be DOUBLE, got 'b' (str)"),  # type: ignore[list-item]
    (T.POJO(Person), Person(None, 1, []), "name", "field 'name' must be STRING, got None"),  # type: ignore[arg-type]
    (T.POJO(Person), {"name": "a"}, "value", "the value must be Person, got {'name': 'a'} (dict)"),
    (ExternalTypeInfo(T.INT()), "a", "value", "the value must be INT, got 'a' (str)"),
]


@pytest.mark.parametrize(("type_info", "value", "path", "message"), BAD)
def test_bad_values(type_info: TypeInformation, value: Any, path: str, message: str) -> None:
    with pytest.raises(TypeMismatch) as caught:
        enforce(type_info, value)
    assert message in str(caught.value)
    assert caught.value.path == path
    assert isinstance(caught.value, TypeError)


def test_the_mismatch_tells_everything_and_travels() -> None:
    with pytest.raises(TypeMismatch) as caught:
        enforce(T.TUPLE([T.BYTE()]), (300,))
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.path, error.expected, error.value_repr) == ("f0", "BYTE", "300")
    assert str(error) == str(caught.value) == "field 'f0' must be BYTE (-128 to 127), got 300 (int)"


def test_long_and_broken_reprs() -> None:
    with pytest.raises(TypeMismatch) as caught:
        enforce(T.INT(), "x" * 10_000)
    assert len(caught.value.value_repr) == 200
    assert caught.value.value_repr.endswith("...")

    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    with pytest.raises(TypeMismatch, match="a value whose repr fails: RuntimeError"):
        enforce(T.INT(), Broken())


def test_a_changed_dataclass_is_a_copy_that_was_not_initialised_again() -> None:
    person = Person("a", 1, [1])
    converted = enforce(T.POJO(Person), person)
    assert converted == Person("a", 1, [1.0])
    assert converted.post_inits == 1
    assert person.scores == [1] and type(person.scores[0]) is int


def test_row_types_that_differ_in_names_only_are_told_apart() -> None:
    # Equal row types may have different names: a cache by equality would mix them up.
    other = RowTypeInfo([T.STRING(), T.INT()], ["x", "y"])
    assert other == ROW
    assert enforce(ROW, ("a", 1)) == Row(name="a", age=1)
    assert enforce(other, ("a", 1)) == Row(x="a", y=1)


def test_a_row_with_many_fields() -> None:
    wide = T.ROW_NAMED([f"c{i}" for i in range(300)], [T.LONG()] * 300)
    row = enforce(wide, tuple(range(300)))
    assert row["c299"] == 299
    with pytest.raises(TypeMismatch, match="field 'c17' must be LONG"):
        enforce(wide, [*range(17), "x", *range(18, 300)])


class Int64:
    """Like an integer of NumPy: it is no int, but has an index."""

    def __index__(self) -> int:
        return 3


class Float32:
    def __float__(self) -> float:
        return 0.5


class Array:
    def tolist(self) -> list[int]:
        return [1, 2]


class Scalar:
    def tolist(self) -> int:
        return 1


def test_numbers_and_arrays_of_other_libraries() -> None:
    assert type(enforce(T.INT(), Int64())) is int
    assert enforce(T.DOUBLE(), Int64()) == 3.0
    assert enforce(T.DOUBLE(), Float32()) == 0.5
    assert enforce(T.PRIMITIVE_ARRAY(T.INT()), Array()) == [1, 2]
    with pytest.raises(TypeMismatch):
        enforce(T.INT(), Float32())
    with pytest.raises(TypeMismatch):
        enforce(T.LIST(T.INT()), Scalar())


@pytest.mark.parametrize(
    ("type_info", "atomic"),
    [
        (T.STRING(), True),
        (T.BIG_DEC(), True),
        (T.INSTANT(), True),
        (T.SQL_TIMESTAMP(), True),
        (T.LOCAL_DATE(), True),
        (T.PRIMITIVE_ARRAY(T.BYTE()), True),
        (T.TUPLE([T.INT(), T.TUPLE([T.STRING()])]), True),
        (T.ENUM(Color), True),
        (T.POJO(Point), True),
        (T.POJO(Frozen), True),
        (ExternalTypeInfo(T.INT()), True),
        (T.POJO(Person), False),
        (T.TUPLE([T.INT(), T.LIST(T.INT())]), False),
        (T.ROW([T.INT()]), False),
        (T.PRIMITIVE_ARRAY(T.INT()), False),
        (T.MAP(T.INT(), T.INT()), False),
        (T.PICKLED_BYTE_ARRAY(), False),
        (T.GENERIC(dt.datetime), False),
    ],
)
def test_atomic_types(type_info: TypeInformation, atomic: bool) -> None:
    assert is_atomic_type(type_info) is atomic


# Types and values at random. A value is made for its type, so that it must be good; junk must either be
# refused or come back as something that is good.

_LEAVES: list[tuple[TypeInformation, st.SearchStrategy[Any]]] = [
    (T.STRING(), st.text()),
    (T.BYTE(), st.integers(-128, 127)),
    (T.INT(), st.integers(-(2**31), 2**31 - 1)),
    (T.LONG(), st.integers(-(2**63), 2**63 - 1)),
    (T.BIG_INT(), st.integers()),
    (T.DOUBLE(), st.floats()),
    (T.FLOAT(), st.floats(width=32)),
    (T.BOOLEAN(), st.booleans()),
    (T.CHAR(), st.characters()),
    (T.BIG_DEC(), st.decimals()),
    (T.SQL_DATE(), st.dates()),
    (T.SQL_TIMESTAMP(), st.datetimes()),
    (T.INSTANT(), st.builds(Instant, st.integers(0, 99), st.integers(0, 99)) | st.none()),
    (T.PICKLED_BYTE_ARRAY(), st.none() | st.text()),
    (T.PRIMITIVE_ARRAY(T.BYTE()), st.binary()),
]


def _with_parts(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.none() | values

    def tuple_of(parts: list[Any]) -> Any:
        return T.TUPLE([part for part, _ in parts]), st.tuples(*(values for _, values in parts))

    def row_of(parts: list[Any]) -> Any:
        names = [f"n{i}" for i in range(len(parts))]
        values = st.tuples(*(maybe(values) for _, values in parts))
        rows = values.map(lambda row: Row(**dict(zip(names, row, strict=True))) if row else _nameless())
        return T.ROW_NAMED(names, [part for part, _ in parts]), rows

    def list_of(part: Any) -> Any:
        return T.LIST(part[0]), st.lists(maybe(part[1]), max_size=4)

    def map_of(part: Any) -> Any:
        return T.MAP(T.STRING(), part[0]), st.dictionaries(st.text(max_size=3), maybe(part[1]), max_size=3)

    fields = st.lists(inner, max_size=4)
    return fields.map(tuple_of) | fields.map(row_of) | inner.map(list_of) | inner.map(map_of)


def _nameless() -> Row:
    row = Row()
    row.set_field_names([])
    return row


TYPED = st.recursive(st.sampled_from(_LEAVES), _with_parts, max_leaves=6)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals() | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(lambda values: Row(*values))
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_is_made_for_a_type_is_good(data: st.DataObject) -> None:
    type_info, values = data.draw(TYPED)
    value = data.draw(values)
    enforcer = compile_enforcer(type_info)
    if enforcer is None:
        assert type_info == T.PICKLED_BYTE_ARRAY()
        return
    assert enforcer(value) is value
    assert repr(convert(type_info, value, "")) == repr(value)


@settings(max_examples=500, deadline=None)
@given(TYPED, JUNK)
def test_junk_is_refused_or_comes_back_good(typed: Any, junk: Any) -> None:
    enforcer = compile_enforcer(typed[0])
    if enforcer is None:
        return
    before = repr(junk)
    try:
        checked = enforcer(junk)
    except TypeMismatch as e:
        assert e.path and e.expected
        with pytest.raises(TypeMismatch):
            convert(typed[0], junk, "")
    else:
        assert repr(convert(typed[0], junk, "")) == repr(checked)
        assert repr(enforcer(checked)) == repr(checked)
    assert repr(junk) == before
