"""Turning records into bytes for systems outside, and bytes into records."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import IO, Any, Generic, TypeVar

from spry.common.typeinfo import TypeInformation, Types

__all__ = [
    "BulkWriter",
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]

T = TypeVar("T")


class SerializationSchema(ABC, Generic[T]):
    """Turns records into bytes, for a sink. Subclasses must be picklable."""

    def open(self) -> None:
        """Called once in every subtask before the first record."""

    @abstractmethod
    def serialize(self, element: T) -> bytes:
        """The bytes that stand for this record. Called once per record."""


class DeserializationSchema(ABC, Generic[T]):
    """Turns bytes into records, for a source. Subclasses must be picklable."""

    def open(self) -> None:
        """Called once in every subtask before the first message."""

    @abstractmethod
    def deserialize(self, message: bytes) -> T | None:
        """The record that these bytes stand for, ``None`` to leave the message out."""

    def is_end_of_stream(self, next_element: T) -> bool:
        """Whether the stream ends before this record."""
        return False

    def get_produced_type(self) -> TypeInformation:
        """The type of the records."""
        return Types.PICKLED_BYTE_ARRAY()


def _known_charset(owner: str, charset: str) -> str:
    try:
        codecs.lookup(charset)
    except LookupError:
        raise ValueError(f"{owner}: there is no charset {charset!r}; try 'UTF-8'") from None
    return charset


class SimpleStringSchema(SerializationSchema[str], DeserializationSchema[str]):
    """Strings, in a charset.

    >>> SimpleStringSchema().serialize("\u00e9")
    b'\\xc3\\xa9'
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        self._charset = _known_charset("SimpleStringSchema", charset)

    def serialize(self, element: str) -> bytes:
        if not isinstance(element, str):
            raise TypeError(f"SimpleStringSchema takes strings, got {element!r:.200} ({type(element).__name__})")
        return element.encode(self._charset)

    def deserialize(self, message: bytes) -> str:
        return message.decode(self._charset)

    def get_produced_type(self) -> TypeInformation:
        return Types.STRING()


class ByteArraySchema(SerializationSchema[bytes], DeserializationSchema[bytes]):
    """Bytes as they are."""

    def serialize(self, element: bytes) -> bytes:
        if not isinstance(element, bytes | bytearray):
            raise TypeError(f"ByteArraySchema takes bytes, got {element!r:.200} ({type(element).__name__})")
        return bytes(element)

    def deserialize(self, message: bytes) -> bytes:
        return message

    def get_produced_type(self) -> TypeInformation:
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class RowFieldExtractorSchema(SerializationSchema[Sequence[Any]]):
    """One field of a row, which must be bytes or a string (written as UTF-8)."""

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"RowFieldExtractorSchema: field_index must not be negative, got {field_index}")
        self._field_index = field_index

    def serialize(self, element: Sequence[Any]) -> bytes:
        value = element[self._field_index]
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, bytes | bytearray):
            return bytes(value)
        if value is None:
            return b""
        raise TypeError(
            f"RowFieldExtractorSchema: field {self._field_index} must be bytes or a string, "
            f"got {value!r:.200} ({type(value).__name__})"
        )


class Encoder(ABC, Generic[T]):
    """Writes records to a file one after the other, for a file sink."""

    @abstractmethod
    def encode(self, element: T, stream: IO[bytes]) -> None:
        """Write one record to the file."""

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder[Any]:
        """Writes each record as ``str`` shows it, and a line break."""
        return _StringEncoder(charset_name)


class _StringEncoder(Encoder[Any]):
    def __init__(self, charset_name: str) -> None:
        self._charset = _known_charset("Encoder.simple_string_encoder", charset_name)

    def encode(self, element: Any, stream: IO[bytes]) -> None:
        stream.write(f"{element}\n".encode(self._charset))


class BulkWriter(ABC, Generic[T]):
    """Writes the records of one file in a format that has no encoding for single records."""

    @abstractmethod
    def add_element(self, element: T) -> None:
        """Add a record, which may stay in memory for now."""

    @abstractmethod
    def flush(self) -> None:
        """Write what is in memory, as far as the format allows."""

    @abstractmethod
    def finish(self) -> None:
        """Write the rest and what ends the file. The file itself is closed by whoever opened it."""


class BulkWriterFactory(ABC, Generic[T]):
    """Makes a :class:`BulkWriter` for every file. Subclasses must be picklable."""

    @abstractmethod
    def create(self, stream: IO[bytes]) -> BulkWriter[T]:
        """A writer to this file."""
