"""Holding values to the type that was declared for them.

:func:`compile_enforcer` turns a type into a function that is called for every record. How it is made:

* For every type there is a *good expression*: Python source that is true for a value that is exactly as it
  should be. Those of fields are written into that of the type around them, so that ``TUPLE<STRING, INT>``
  becomes::

      type(v) is tuple and len(v) == 2 and type(v[0]) is str
          and type(x1 := v[1]) is int and -2147483648 <= x1 <= 2147483647

  and checking a good record is one expression without a call of another Python function. Elements of
  containers are checked by C loops (``set(map(type, v))``, ``min``, ``max``) or, if they have parts
  themselves, by ``all(map(predicate, v))`` with a predicate that is generated in the same way.
* What is not exactly as it should be takes the slow path, which walks through the type and the value side by
  side. It gives the value in the form that it would have after it was sent to another process of Flink (an
  ``int`` for a ``DOUBLE`` becomes a ``float``, a tuple for a ``ROW`` becomes a ``Row`` with field names), or
  raises a :class:`TypeMismatch` that says where it is wrong.
* One form of not being exact is so common that it has a fast path of its own: a row without names, or a
  tuple, for a row type.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any

from spry.common.time import Instant
from spry.common.type_conversion import (
    LOCAL_TIMES,
    RANGES,
    TypeMismatch,
    convert,
    is_bytes,
    to_single,
    unwrapped,
)
from spry.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    GenericTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PojoTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SequenceTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from spry.common.types import Row, make_row, share_names

__all__ = ["TypeMismatch", "compile_enforcer", "is_atomic_type"]

Enforcer = Callable[[Any], Any]


def compile_enforcer(type_info: TypeInformation) -> Enforcer | None:
    """A function that takes a value and gives it back in the form that this type asks for.

    It raises a :class:`TypeMismatch` if the value is not of the type. ``None`` if there is nothing to check.

    >>> from spry.common.typeinfo import Types
    >>> enforce = compile_enforcer(Types.TUPLE([Types.STRING(), Types.DOUBLE()]))
    >>> enforce(["a", 1])
    ('a', 1.0)
    >>> enforce(("a", "b"))
    Traceback (most recent call last):
    spry.common.type_conversion.TypeMismatch: field 'f1' must be DOUBLE, got 'b' (str)
    """
    type_info = unwrapped(type_info)
    key = type_info.schema_key()
    if key not in _COMPILED:
        if len(_COMPILED) >= 1024:
            _COMPILED.clear()
        _COMPILED[key] = _Generator().enforcer(type_info)
    return _COMPILED[key]


_COMPILED: dict[Any, Enforcer | None] = {}


def is_atomic_type(type_info: TypeInformation) -> bool:
    """Whether values of this type cannot be changed, nor anything in them: they need no copies."""
    type_info = unwrapped(type_info)
    if isinstance(type_info, TupleTypeInfo):
        return all(map(is_atomic_type, type_info.get_field_types()))
    if isinstance(type_info, PojoTypeInfo):
        parameters = getattr(type_info.cls, "__dataclass_params__", None)
        frozen = parameters.frozen if parameters is not None else issubclass(type_info.cls, tuple)
        return frozen and all(map(is_atomic_type, type_info.get_field_types()))
    if isinstance(type_info, GenericTypeInfo):
        return issubclass(type_info.cls, Enum)
    return isinstance(type_info, BasicTypeInfo | _TIMES) or is_bytes(type_info)


_TIMES = DateTypeInfo | TimeTypeInfo | TimestampTypeInfo | LocalTimeTypeInfo

_CLASSES: dict[BasicType, type] = {
    BasicType.STRING: str,
    BasicType.BYTE: int,
    BasicType.SHORT: int,
    BasicType.INT: int,
    BasicType.LONG: int,
    BasicType.BIG_INT: int,
    BasicType.BOOLEAN: bool,
    BasicType.DOUBLE: float,
    BasicType.BIG_DEC: Decimal,
    BasicType.INSTANT: Instant,
}


class _Generator:
    """Writes the source for one enforcer."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {
            "Decimal": Decimal,
            "Date": datetime.date,
            "DateTime": datetime.datetime,
            "Instant": Instant,
            "Row": Row,
            "TimeOfDay": datetime.time,
            "make_row": make_row,
            "to_single": to_single,
        }
        self._source: list[str] = []
        self._count = 0

    def enforcer(self, type_info: TypeInformation) -> Enforcer | None:
        if isinstance(type_info, PickledBytesTypeInfo):
            return None
        good = self._good(type_info, "v")
        if good == "True":
            return None
        slow = self._constant(lambda value: convert(type_info, value, ""))
        lines = ["def enforce(v):", f"    if {good}:", "        return v"]
        if isinstance(type_info, RowTypeInfo):
            lines += self._row_without_names(type_info)
        self._source += [*lines, f"    return {slow}(v)"]
        # The file's name keeps it out of tracebacks that users read.
        exec(compile("\n".join(self._source), "<spry type>", "exec"), self._names)
        enforce: Enforcer = self._names["enforce"]
        return enforce

    def _row_without_names(self, type_info: RowTypeInfo) -> list[str]:
        names = self._constant(share_names(tuple(type_info.get_field_names())))
        of_row, of_tuple = self._fields(type_info, "u"), self._fields(type_info, "v", nullable=True)
        return [
            "    if type(v) is Row:",
            f"        if v._fields is None and {of_row.replace('len(u)', 'len(u := v._values)', 1)}:",
            f"            return make_row({names}, u, v._row_kind)",
            f"    elif type(v) is tuple and {of_tuple}:",
            f"        return make_row({names}, v)",
        ]

    def _constant(self, value: Any) -> str:
        name = self._fresh("c")
        self._names[name] = value
        return name

    def _fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _part(self, type_info: TypeInformation, expression: str, nullable: bool) -> str:
        """The good expression for the value of an expression, which is evaluated only once."""
        name = self._fresh("x")
        good = self._good(type_info, name)
        if nullable and good != "True":
            good = f"({good} or {name} is None)"
        uses = len(re.findall(rf"\b{name}\b", good))
        value = expression if uses == 1 else f"({name} := {expression})"
        return re.sub(rf"\b{name}\b", lambda _: value, good, count=1)

    def _predicate(self, type_info: TypeInformation, nullable: bool) -> str:
        """The name of a generated function that tells whether a value is good; empty if any is."""
        good = self._good(type_info, "v")
        if good == "True":
            return ""
        name = self._fresh("good")
        condition = f"v is None or {good}" if nullable else good
        self._source += [f"def {name}(v):", f"    return {condition}"]
        return name

    def _good(self, type_info: TypeInformation, v: str) -> str:
        """The good expression for a variable, joined by ``and``; what it evaluates first is the variable."""
        type_info = unwrapped(type_info)
        if isinstance(type_info, BasicTypeInfo):
            return self._good_basic(type_info.basic_type, v)
        if isinstance(type_info, DateTypeInfo):
            return f"type({v}) is Date"
        if isinstance(type_info, TimeTypeInfo):
            return f"type({v}) is TimeOfDay and {v}.tzinfo is None"
        if isinstance(type_info, TimestampTypeInfo):
            return f"type({v}) is DateTime and {v}.tzinfo is None"
        if isinstance(type_info, LocalTimeTypeInfo):
            return self._good(LOCAL_TIMES[type_info.time_type], v)
        if isinstance(type_info, GenericTypeInfo):
            return f"isinstance({v}, {self._constant(type_info.cls)})"
        if isinstance(type_info, TupleTypeInfo):
            return f"type({v}) is tuple and {self._fields(type_info, v)}"
        if isinstance(type_info, RowTypeInfo):
            names = self._constant(share_names(tuple(type_info.get_field_names())))
            values = self._fresh("x")
            fields = self._fields(type_info, values).replace(f"len({values})", f"len({values} := {v}._values)", 1)
            return f"type({v}) is Row and {v}._fields == {names} and {fields}"
        if isinstance(type_info, PojoTypeInfo):
            return self._good_pojo(type_info, v)
        if is_bytes(type_info):
            return f"type({v}) is bytes"
        if isinstance(type_info, SequenceTypeInfo):
            nullable = not isinstance(type_info, PrimitiveArrayTypeInfo)
            return f"type({v}) is list" + self._elements(type_info.element_type, v, nullable)
        if isinstance(type_info, MapTypeInfo):
            keys = self._elements(type_info.key_type, v, False)
            values = self._elements(type_info.value_type, f"{v}.values()", True)
            return f"type({v}) is dict{keys}{values}"
        return "True"

    def _good_basic(self, basic_type: BasicType, v: str) -> str:
        if basic_type in RANGES:
            low, high = RANGES[basic_type]
            return f"type({v}) is int and {low} <= {v} <= {high}"
        if basic_type is BasicType.BOOLEAN:
            return f"type({v}) is bool"
        if basic_type is BasicType.CHAR:
            return f"type({v}) is str and len({v}) == 1"
        if basic_type is BasicType.FLOAT:
            return f"type({v}) is float and (to_single({v}) == {v} or {v} != {v})"
        if basic_type is BasicType.INSTANT:
            return f"(type({v}) is Instant or {v} is None)"
        return f"type({v}) is {_CLASSES[basic_type].__name__}"

    def _fields(self, type_info: TupleTypeInfo | RowTypeInfo, v: str, nullable: bool = False) -> str:
        nullable = nullable or isinstance(type_info, RowTypeInfo)
        types = type_info.get_field_types()
        parts = [self._part(field, f"{v}[{i}]", nullable) for i, field in enumerate(types)]
        return " and ".join([f"len({v}) == {len(types)}", *(part for part in parts if part != "True")])

    def _good_pojo(self, type_info: PojoTypeInfo, v: str) -> str:
        fields = zip(
            type_info.get_field_names(),
            type_info.get_field_types(),
            type_info.get_nullable(),
            strict=True,
        )
        parts = [self._part(field, f"{v}.{name}", nullable) for name, field, nullable in fields]
        good = f"type({v}) is {self._constant(type_info.cls)}"
        return " and ".join([good, *(part for part in parts if part != "True")])

    def _elements(self, type_info: TypeInformation, v: str, nullable: bool) -> str:
        """What must hold for all elements, to be added to a good expression: empty, or `` and ...``."""
        type_info = unwrapped(type_info)
        basic_type = type_info.basic_type if isinstance(type_info, BasicTypeInfo) else None
        if basic_type in RANGES:
            low, high = RANGES[basic_type]
            only_int = self._constant({int})
            in_range = f"min({v}) >= {low} and max({v}) <= {high}"
            # Element by element only if some may be None: min and max cannot tell.
            one_by_one = f" or all(map({self._predicate(type_info, True)}, {v}))" if nullable else ""
            return f" and (not {v} or (set(map(type, {v})) == {only_int} and {in_range}){one_by_one})"
        if basic_type is not None and basic_type in _CLASSES:
            allowed = {_CLASSES[basic_type]}
            if nullable or basic_type is BasicType.INSTANT:
                allowed.add(type(None))
            return f" and {self._constant(allowed)}.issuperset(map(type, {v}))"
        predicate = self._predicate(type_info, nullable)
        if predicate:
            return f" and all(map({predicate}, {v}))"
        return "" if nullable or isinstance(type_info, PickledBytesTypeInfo) else f" and None not in {v}"
