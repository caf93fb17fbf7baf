from __future__ import annotations

import dataclasses
import datetime
import decimal
import pickle
from enum import Enum
from typing import Annotated, Any, NamedTuple, Optional

import pytest

from spry.common.typeinfo import (
    BasicTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    PojoTypeInfo,
    RowTypeInfo,
    SqlTimeTypeInfo,
    TypeInformation,
    Types,
)

ROW = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])

TEXTS = [
    (Types.STRING(), "String", "STRING"),
    (Types.BYTE(), "Byte", "BYTE"),
    (Types.BOOLEAN(), "Boolean", "BOOLEAN"),
    (Types.SHORT(), "Short", "SHORT"),
    (Types.INT(), "Integer", "INT"),
    (Types.LONG(), "Long", "LONG"),
    (Types.FLOAT(), "Float", "FLOAT"),
    (Types.DOUBLE(), "Double", "DOUBLE"),
    (Types.CHAR(), "Char", "CHAR"),
    (Types.BIG_INT(), "BigInteger", "BIG_INT"),
    (Types.BIG_DEC(), "BigDecimal", "BIG_DEC"),
    (Types.INSTANT(), "Instant", "INSTANT"),
    (Types.SQL_DATE(), "DateTypeInfo", "SQL_DATE"),
    (Types.SQL_TIME(), "TimeTypeInfo", "SQL_TIME"),
    (Types.SQL_TIMESTAMP(), "TimestampTypeInfo", "SQL_TIMESTAMP"),
    (Types.LOCAL_DATE(), "LocalTimeTypeInfo<LOCAL_DATE>", "LOCAL_DATE"),
    (Types.PICKLED_BYTE_ARRAY(), "PickledByteArrayTypeInfo", "PICKLED_BYTE_ARRAY"),
    (Types.ROW([Types.INT(), Types.STRING()]), "RowTypeInfo(Integer, String)", "ROW<INT, STRING>"),
    (ROW, "RowTypeInfo(a: Integer, b: String)", "ROW<a INT, b STRING>"),
    (Types.TUPLE([Types.INT(), ROW]), f"TupleTypeInfo(Integer, {ROW})", "TUPLE<INT, ROW<a INT, b STRING>>"),
    (Types.PRIMITIVE_ARRAY(Types.INT()), "PrimitiveArrayTypeInfo<Integer>", "PRIMITIVE_ARRAY<INT>"),
    (Types.BASIC_ARRAY(Types.STRING()), "BasicArrayTypeInfo<String>", "BASIC_ARRAY<STRING>"),
    (Types.OBJECT_ARRAY(ROW), f"ObjectArrayTypeInfo<{ROW}>", "OBJECT_ARRAY<ROW<a INT, b STRING>>"),
    (Types.LIST(Types.INT()), "ListTypeInfo<Integer>", "LIST<INT>"),
    (Types.MAP(Types.STRING(), Types.INT()), "MapTypeInfo<String, Integer>", "MAP<STRING, INT>"),
    (ExternalTypeInfo(Types.INT()), "ExternalTypeInfo<Integer>", "INT"),
]


@pytest.mark.parametrize(("type_info", "text", "description"), TEXTS)
def test_texts_and_pickles(type_info: TypeInformation, text: str, description: str) -> None:
    assert str(type_info) == repr(type_info) == text
    assert type_info.describe() == description
    restored = pickle.loads(pickle.dumps(type_info))
    assert restored == type_info
    assert hash(restored) == hash(type_info)
    assert restored.schema_key() == type_info.schema_key()
    assert not type_info.need_conversion()
    assert type_info.from_internal_type(type_info.to_internal_type("x")) == "x"


def test_all_these_types_differ() -> None:
    # A row type with names equals the one without, as in Flink.
    types = [type_info for type_info, _, _ in TEXTS]
    assert len(set(types)) == len(types) - 1
    assert len({type_info.schema_key() for type_info in types}) == len(types)


def test_row_types_are_equal_whatever_their_fields_are_called() -> None:
    other = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
    assert other == ROW
    assert hash(other) == hash(ROW)
    assert other.schema_key() != ROW.schema_key()
    assert Types.LIST(other).schema_key() != Types.LIST(ROW).schema_key()
    assert Types.ROW([Types.INT()]).schema_key() == Types.ROW_NAMED(["f0"], [Types.INT()]).schema_key()


def test_row_type() -> None:
    assert Types.ROW([Types.INT(), Types.INT()]).get_field_names() == ["f0", "f1"]
    assert Types.ROW([]).get_field_names() == []
    assert ROW.get_field_names() == ["a", "b"]
    assert ROW.get_field_types() == [Types.INT(), Types.STRING()]
    assert ROW.get_field_index("b") == 1
    with pytest.raises(ValueError, match="'zz'"):
        ROW.get_field_index("zz")


def test_mistakes_are_found_where_they_are_made() -> None:
    with pytest.raises(ValueError, match=r"2 names \['a', 'b'\] for 1 types"):
        Types.ROW_NAMED(["a", "b"], [Types.INT()])
    with pytest.raises(ValueError, match="must differ"):
        Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()])
    with pytest.raises(TypeError, match=r"got 1$"):
        Types.ROW([1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"did you mean Types.INT\(\)\?"):
        Types.LIST(Types.INT)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"PRIMITIVE_ARRAY cannot hold STRING"):
        Types.PRIMITIVE_ARRAY(Types.STRING())
    with pytest.raises(TypeError, match=r"Types\.LIST"):
        Types.BASIC_ARRAY(ROW)
    with pytest.raises(TypeError, match="class"):
        Types.GENERIC("str")  # type: ignore[arg-type]


def test_other_ways_to_types() -> None:
    assert BasicTypeInfo.INT_TYPE_INFO() == Types.INT()
    assert BasicTypeInfo.INSTANT_TYPE_INFO() == Types.INSTANT()
    assert SqlTimeTypeInfo.TIMESTAMP() == Types.SQL_TIMESTAMP()
    assert isinstance(Types.SQL_DATE(), SqlTimeTypeInfo)
    list_type = Types.LIST(Types.INT())
    assert isinstance(list_type, ListTypeInfo)
    assert list_type.elem_type == Types.INT()
    assert LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_TIME) == Types.LOCAL_TIME()


class Color(Enum):
    RED = 1


class Point(NamedTuple):
    x: int
    label: str | None = None


@dataclasses.dataclass
class Node:
    value: float
    parent: Node | None
    children: list[Node]


@dataclasses.dataclass
class Everything:
    s: str
    i: int
    f: float
    b: bool
    raw: bytes
    price: decimal.Decimal
    day: datetime.date
    at: datetime.datetime
    small: Annotated[int, Types.SHORT()]
    maybe: Optional[int]  # noqa: UP045
    either: int | str
    anything: Any
    color: Color
    point: Point
    numbers: list[int]
    counts: dict[str, list[int]]
    pair: tuple[int, str]
    many: tuple[int, ...]
    names: set[str]


def test_pojo_fields_come_from_annotations() -> None:
    pojo = Types.POJO(Everything)
    types = dict(zip(pojo.get_field_names(), pojo.get_field_types(), strict=True))
    any_object = Types.PICKLED_BYTE_ARRAY()
    assert types == {
        "s": Types.STRING(),
        "i": Types.LONG(),
        "f": Types.DOUBLE(),
        "b": Types.BOOLEAN(),
        "raw": Types.PRIMITIVE_ARRAY(Types.BYTE()),
        "price": Types.BIG_DEC(),
        "day": Types.SQL_DATE(),
        "at": Types.GENERIC(datetime.datetime),
        "small": Types.SHORT(),
        "maybe": Types.LONG(),
        "either": any_object,
        "anything": any_object,
        "color": Types.ENUM(Color),
        "point": Types.POJO(Point),
        "numbers": Types.LIST(Types.LONG()),
        "counts": Types.MAP(Types.STRING(), Types.LIST(Types.LONG())),
        "pair": Types.TUPLE([Types.LONG(), Types.STRING()]),
        "many": Types.GENERIC(tuple),
        "names": Types.GENERIC(set),
    }
    nullable = dict(zip(pojo.get_field_names(), pojo.get_nullable(), strict=True))
    assert {name for name, may_be_none in nullable.items() if may_be_none} == {"maybe", "either", "anything"}


def test_pojo_of_a_class_that_holds_itself() -> None:
    pojo = Types.POJO(Node)
    assert pojo.get_field_types() == [
        Types.DOUBLE(),
        Types.GENERIC(Node),
        Types.LIST(Types.GENERIC(Node)),
    ]
    assert pojo.get_nullable() == [False, True, False]


def test_pojo_is_a_type_like_others() -> None:
    pojo = Types.POJO(Point)
    assert isinstance(pojo, PojoTypeInfo)
    assert pickle.loads(pickle.dumps(pojo)) == pojo
    assert pojo != Types.POJO(Node)
    assert pojo.describe() == "Point"
    assert repr(pojo) == "PojoType<Point, (x: Long, label: String)>"
    with pytest.raises(TypeError, match="dataclass or a NamedTuple"):
        Types.POJO(dict)
    assert isinstance(ROW, RowTypeInfo)


def test_pojo_with_an_annotation_out_of_sight() -> None:
    @dataclasses.dataclass
    class Hidden:
        field: Missing  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match="Missing"):
        Types.POJO(Hidden)
