"""What a snapshot says about a state, beside its entries."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from spry.common.state import MapStateDescriptor, StateDescriptor
from spry.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TypeInformation

__all__ = ["StateKind", "StateMeta", "type_text"]


class StateKind(Enum):
    """What the entries of a state are."""

    VALUE = "value"
    LIST = "list"
    MAP = "map"
    REDUCING = "reducing"
    AGGREGATING = "aggregating"
    INTERNAL = "internal"
    """Kept by the operator itself: timers, windows."""
    OPERATOR_LIST = "operator list"
    UNION_LIST = "union list"
    BROADCAST = "broadcast"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class StateMeta:
    """Describes one state of one operator."""

    name: str
    kind: StateKind
    type: Any = None
    """The declared type: text, or a dict of texts by field for rows; None if there is none."""
    ttl: bool = False
    """Whether each value comes with the time of its last update: (value, ms)."""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind.value, "type": self.type, "ttl": self.ttl}

    @staticmethod
    def from_json(given: dict[str, Any]) -> StateMeta:
        return StateMeta(given["name"], StateKind(given["kind"]), given["type"], given["ttl"])


def type_text(descriptor: StateDescriptor) -> Any:
    """A descriptor's declared type, in a form that can be written down and compared."""
    text = _text(descriptor.type_info)
    if isinstance(descriptor, MapStateDescriptor) and descriptor.key_type_info is not None:
        return {"key": _text(descriptor.key_type_info), "value": text}
    return text


def _text(type_info: Any) -> Any:
    if not isinstance(type_info, TypeInformation) or isinstance(type_info, PickledBytesTypeInfo):
        return None
    if isinstance(type_info, RowTypeInfo):
        names, types = type_info.get_field_names(), type_info.get_field_types()
        return {"row": {name: _text(inner) for name, inner in zip(names, types, strict=True)}}
    return str(type_info)
