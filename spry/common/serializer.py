"""Writing values to bytes and reading them back, for state and for data between processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Generic, TypeVar

__all__ = ["TypeSerializer", "VoidNamespaceSerializer", "void"]

T = TypeVar("T")

void = b""
"""The namespace of what has none."""


class TypeSerializer(ABC, Generic[T]):
    """Writes values of one type to a stream of bytes and reads them back."""

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO) -> None:
        """Write the element at the position of the stream."""

    @abstractmethod
    def deserialize(self, stream: BytesIO) -> T:
        """Read the element at the position of the stream, and no further."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeSerializer):
            return NotImplemented
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class VoidNamespaceSerializer(TypeSerializer[bytes]):
    """For the namespace of what has none: it takes no bytes."""

    def serialize(self, element: bytes, stream: BytesIO) -> None:
        return None

    def deserialize(self, stream: BytesIO) -> bytes:
        return void
