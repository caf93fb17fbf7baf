"""Bringing a value into the form that its declared type asks for, or saying where it is wrong.

This is the slow path of :mod:`spry.common.type_checks`: it walks through the type and the value side by side.
"""

from __future__ import annotations

import array
import datetime
import math
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from operator import index
from typing import Any

from spry.common.time import Instant
from spry.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    GenericTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PojoTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SequenceTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from spry.common.types import Row, RowKind, make_row, share_names

__all__ = ["LOCAL_TIMES", "RANGES", "TypeMismatch", "convert", "is_bytes", "to_single", "unwrapped"]

_MAX_REPR = 200


class TypeMismatch(TypeError):
    """A value is not of the type that was declared for it.

    :ivar path: Where in the record: ``value`` for the record itself, else for example ``f1[2].name``.
    :ivar expected: The declared type of what is there.
    :ivar value_repr: What is there instead, cut to 200 characters.
    """

    def __init__(self, path: str, expected: str, value_repr: str, value_type: str, note: str = "") -> None:
        super().__init__(path, expected, value_repr, value_type, note)
        self.path = path
        self.expected = expected
        self.value_repr = value_repr
        self.value_type = value_type
        self.note = note

    def __str__(self) -> str:
        if self.path == _ROOT:
            subject = "the value"
        elif self.path.startswith("["):
            subject = f"element {self.path}"
        else:
            subject = f"field '{self.path}'"
        return f"{subject} must be {self.expected}{self.note}, got {self.value_repr} ({self.value_type})"


_ROOT = "value"


def _mismatch(type_info: TypeInformation, value: Any, path: str, note: str = "") -> TypeMismatch:
    try:
        text = repr(value)
    except Exception as e:
        text = f"<a value whose repr fails: {type(e).__name__}>"
    if len(text) > _MAX_REPR:
        text = text[: _MAX_REPR - 3] + "..."
    return TypeMismatch(path or _ROOT, type_info.describe(), text, type(value).__name__, note)


def unwrapped(type_info: TypeInformation) -> TypeInformation:
    while isinstance(type_info, ExternalTypeInfo):
        type_info = type_info.type_info
    return type_info


def is_bytes(type_info: TypeInformation) -> bool:
    return isinstance(type_info, PrimitiveArrayTypeInfo) and type_info.element_type == _BYTE


_BYTE = BasicTypeInfo(BasicType.BYTE)

RANGES = {
    BasicType.BYTE: (-(1 << 7), (1 << 7) - 1),
    BasicType.SHORT: (-(1 << 15), (1 << 15) - 1),
    BasicType.INT: (-(1 << 31), (1 << 31) - 1),
    BasicType.LONG: (-(1 << 63), (1 << 63) - 1),
}

LOCAL_TIMES: dict[LocalTimeTypeInfo.TimeType, TypeInformation] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: DateTypeInfo(),
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: TimeTypeInfo(),
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: TimestampTypeInfo(),
}


_SINGLE = struct.Struct("f")


def to_single(value: float) -> float:
    """The nearest number that 32 bits can hold."""
    try:
        single: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return single


def convert(type_info: TypeInformation, value: Any, path: str) -> Any:
    type_info = unwrapped(type_info)
    if isinstance(type_info, LocalTimeTypeInfo):
        type_info = LOCAL_TIMES[type_info.time_type]
    if isinstance(type_info, BasicTypeInfo):
        return _basic(type_info, value, path)
    if isinstance(type_info, TupleTypeInfo):
        return _tuple(type_info, value, path)
    if isinstance(type_info, RowTypeInfo):
        return _row(type_info, value, path)
    if isinstance(type_info, PojoTypeInfo):
        return _pojo(type_info, value, path)
    if isinstance(type_info, SequenceTypeInfo):
        return _sequence(type_info, value, path)
    if isinstance(type_info, MapTypeInfo):
        return _map(type_info, value, path)
    if isinstance(type_info, DateTypeInfo | TimeTypeInfo | TimestampTypeInfo):
        return _time(type_info, value, path)
    if isinstance(type_info, GenericTypeInfo) and not isinstance(value, type_info.cls):
        raise _mismatch(type_info, value, path)
    return value


def _part(type_info: TypeInformation, value: Any, path: str, nullable: bool) -> Any:
    return None if value is None and nullable else convert(type_info, value, path)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _basic(type_info: BasicTypeInfo, value: Any, path: str) -> Any:
    basic_type = type_info.basic_type
    if isinstance(value, str) and basic_type in (BasicType.STRING, BasicType.CHAR):
        if basic_type is BasicType.CHAR and len(value) != 1:
            raise _mismatch(type_info, value, path, " (one character)")
        return str.__str__(value)
    if basic_type is BasicType.INSTANT and (value is None or isinstance(value, Instant)):
        return value
    if value is None or isinstance(value, str | bytes | bytearray):
        raise _mismatch(type_info, value, path)
    try:
        if basic_type is BasicType.BOOLEAN:
            if value in (0, 1) and (isinstance(value, int) or type(value).__name__ in ("bool_", "bool")):
                return bool(value)
        elif basic_type in RANGES:
            low, high = RANGES[basic_type]
            # Only what is a whole number has an index: neither 1.5 nor Decimal(1) do.
            number = index(value)
            if not low <= number <= high:
                raise _mismatch(type_info, value, path, f" ({low} to {high})")
            return number
        elif basic_type is BasicType.BIG_INT:
            return index(value)
        elif basic_type in (BasicType.FLOAT, BasicType.DOUBLE):
            if hasattr(value, "__float__") or hasattr(value, "__index__"):
                return to_single(float(value)) if basic_type is BasicType.FLOAT else float(value)
        elif basic_type is BasicType.BIG_DEC:
            if isinstance(value, Decimal):
                return value
            if isinstance(value, int | float) and not isinstance(value, bool):
                return Decimal(str(value))
    except TypeMismatch:
        raise
    except (TypeError, ValueError, OverflowError, InvalidOperation):
        pass
    raise _mismatch(type_info, value, path)


def _time(type_info: TypeInformation, value: Any, path: str) -> Any:
    if isinstance(type_info, DateTypeInfo):
        if isinstance(value, datetime.date):
            return datetime.date(value.year, value.month, value.day)
    elif isinstance(type_info, TimeTypeInfo):
        if isinstance(value, datetime.time | datetime.datetime):
            return datetime.time(value.hour, value.minute, value.second, value.microsecond, fold=value.fold)
    elif isinstance(value, datetime.datetime):
        day = (value.year, value.month, value.day)
        return datetime.datetime(*day, value.hour, value.minute, value.second, value.microsecond, fold=value.fold)
    raise _mismatch(type_info, value, path)


def _tuple(type_info: TupleTypeInfo, value: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(value, tuple | list | Row):
        raise _mismatch(type_info, value, path)
    types = type_info.get_field_types()
    if len(value) != len(types):
        raise _mismatch(type_info, value, path, f" with {len(types)} fields")
    parts = zip(types, value, strict=True)
    return tuple(convert(field, part, _below(path, f"f{i}")) for i, (field, part) in enumerate(parts))


def _row(type_info: RowTypeInfo, value: Any, path: str) -> Row:
    names, types, kind = type_info.get_field_names(), type_info.get_field_types(), RowKind.INSERT
    if isinstance(value, Row):
        kind = value.get_row_kind()
        given = value.get_field_names()
    else:
        given = list(value) if isinstance(value, Mapping) else None
        if given is None and not isinstance(value, tuple | list):
            raise _mismatch(type_info, value, path)
    if len(value) != len(names):
        raise _mismatch(type_info, value, path, f" with {len(names)} fields")
    if given is None:
        values = list(value)
    elif set(given) == set(names):
        values = [value[name] for name in names]
    else:
        raise _mismatch(type_info, value, path, f" with the fields {names}")
    parts = zip(names, types, values, strict=True)
    converted = [_part(field, part, _below(path, name), True) for name, field, part in parts]
    return make_row(share_names(tuple(names)), converted, kind)


def _pojo(type_info: PojoTypeInfo, value: Any, path: str) -> Any:
    cls, names, types = type_info.cls, type_info.get_field_names(), type_info.get_field_types()
    is_tuple = issubclass(cls, tuple)
    if not isinstance(value, cls):
        if not (is_tuple and type(value) is tuple and len(value) == len(names)):
            raise _mismatch(type_info, value, path)
        value = cls(*value)
    changed = {}
    for name, field, nullable in zip(names, types, type_info.get_nullable(), strict=True):
        part = getattr(value, name)
        converted = _part(field, part, _below(path, name), nullable)
        if converted is not part:
            changed[name] = converted
    if not changed:
        return value
    if is_tuple:
        return value._replace(**changed)
    # Not dataclasses.replace: it would run __init__ and __post_init__ a second time.
    copy = value.__class__.__new__(value.__class__)
    for attribute in {**getattr(value, "__dict__", {}), **dict.fromkeys(names)}:
        object.__setattr__(copy, attribute, changed.get(attribute, getattr(value, attribute)))
    return copy


def _sequence(type_info: SequenceTypeInfo, value: Any, path: str) -> Any:
    if is_bytes(type_info):
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value)
        raise _mismatch(type_info, value, path)
    if isinstance(value, str | bytes | bytearray | Row):
        raise _mismatch(type_info, value, path)
    if not isinstance(value, Sequence | array.array):
        # Arrays of NumPy and its like.
        if not callable(getattr(value, "tolist", None)) or not isinstance(elements := value.tolist(), list):
            raise _mismatch(type_info, value, path)
        value = elements
    nullable = not isinstance(type_info, PrimitiveArrayTypeInfo)
    element_type = type_info.element_type
    return [_part(element_type, part, f"{path}[{i}]", nullable) for i, part in enumerate(value)]


def _map(type_info: MapTypeInfo, value: Any, path: str) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise _mismatch(type_info, value, path)
    converted = {}
    for key, part in value.items():
        text = repr(key)[:50]
        new_key = convert(type_info.key_type, key, f"{path}[key {text}]")
        converted[new_key] = _part(type_info.value_type, part, f"{path}[{text}]", True)
    return converted
