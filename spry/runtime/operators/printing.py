"""How ``print`` shows a value: as Python does, or as Flink does when the stream's type is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spry.common.typeinfo import PickledBytesTypeInfo
from spry.common.types import Row

__all__ = ["formatter"]


def formatter(type_info: Any) -> Callable[[Any], str]:
    """The function that turns values of this type into text."""
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return str
    return _flink_text


def _flink_text(value: Any) -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, Row):
        return f"{value.get_row_kind()!s}[{','.join(_flink_text(field) for field in value)}]"
    if value.__class__ is tuple:
        return f"({','.join(_flink_text(field) for field in value)})"
    if isinstance(value, list):
        return f"[{', '.join(_flink_text(field) for field in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flink_text(k)}={_flink_text(v)}" for k, v in value.items()) + "}"
    return str(value)
