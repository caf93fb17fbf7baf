"""From the annotations of a dataclass or a named tuple to its type."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import types
import typing
from typing import Any

from spry.common.time import Instant
from spry.common.typeinfo import PojoTypeInfo, TypeInformation, Types

__all__ = ["pojo_type_info"]

_PYTHON_TYPES: dict[Any, TypeInformation] = {
    str: Types.STRING(),
    int: Types.LONG(),
    float: Types.DOUBLE(),
    bool: Types.BOOLEAN(),
    bytes: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    decimal.Decimal: Types.BIG_DEC(),
    datetime.date: Types.SQL_DATE(),
    Instant: Types.INSTANT(),
    list: Types.LIST(Types.PICKLED_BYTE_ARRAY()),
    dict: Types.MAP(Types.PICKLED_BYTE_ARRAY(), Types.PICKLED_BYTE_ARRAY()),
    # datetime.time and datetime.datetime are not here: a class may keep their time zones, SQL types do not.
}


def pojo_type_info(cls: type) -> PojoTypeInfo:
    """The type of this dataclass or named tuple."""
    return _pojo(cls, ())


def _field_names(cls: Any) -> list[str] | None:
    if isinstance(cls, type):
        if dataclasses.is_dataclass(cls):
            return [field.name for field in dataclasses.fields(cls)]
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return list(cls._fields)
    return None


def _pojo(cls: type, outer: tuple[type, ...]) -> PojoTypeInfo:
    names = _field_names(cls)
    if names is None:
        raise TypeError(f"Types.POJO takes a dataclass or a NamedTuple class, got {cls!r}")
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as e:
        raise TypeError(
            f"Types.POJO({cls.__qualname__}): an annotation cannot be resolved: {e}; "
            "define the class where its annotations are visible, at the top of a module"
        ) from None
    fields = [_annotated(hints.get(name, Any), (*outer, cls)) for name in names]
    return PojoTypeInfo(cls, names, [field for field, _ in fields], [nullable for _, nullable in fields])


def _annotated(hint: Any, outer: tuple[type, ...]) -> tuple[TypeInformation, bool]:
    """The type of an annotation, and whether it allows ``None``."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        for extra in arguments[1:]:
            if isinstance(extra, TypeInformation):
                return extra, _annotated(arguments[0], outer)[1]
        return _annotated(arguments[0], outer)
    if origin is typing.Union or origin is types.UnionType:
        others = [argument for argument in arguments if argument is not type(None)]
        if len(others) == 1:
            return _annotated(others[0], outer)[0], True
        return Types.PICKLED_BYTE_ARRAY(), True
    if hint in (Any, None, type(None), object):
        return Types.PICKLED_BYTE_ARRAY(), True
    inner = [_annotated(argument, outer)[0] for argument in arguments if argument is not Ellipsis]
    if origin in (list, collections.abc.Sequence) and len(inner) == 1:
        return Types.LIST(inner[0]), False
    if origin in (dict, collections.abc.Mapping) and len(inner) == 2:
        return Types.MAP(inner[0], inner[1]), False
    if origin is tuple and Ellipsis not in arguments:
        return Types.TUPLE(inner), False
    if isinstance(origin, type):
        return Types.GENERIC(origin), False
    if not isinstance(hint, type):
        return Types.PICKLED_BYTE_ARRAY(), True
    if hint in _PYTHON_TYPES:
        return _PYTHON_TYPES[hint], False
    # A class that holds itself has no finite list of fields: from there on it is checked as a whole.
    if _field_names(hint) is not None and hint not in outer:
        return _pojo(hint, outer), False
    return Types.GENERIC(hint), False
