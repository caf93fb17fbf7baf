"""How the bytes of a file become records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO, Protocol

from spry.common.typeinfo import TypeInformation, Types
from spry.connectors.file_splits import FileSourceSplit
from spry.connectors.text_lines import CHUNK_SIZE, LineReader, TextEncoding

__all__ = ["RecordReader", "StreamFormat", "TextLineFormat"]


class RecordReader(Protocol):
    """Reads the records of one split."""

    def read(self, max_records: int) -> Sequence[Any]:
        """The next records, at least one and at most so many; none at the end of the split."""

    def position(self) -> int:
        """The byte at which another reader of the split goes on after the records that were read."""

    def close(self) -> None:
        """Called once, at the end, also after a failure."""


class StreamFormat(ABC):
    """Makes readers of records from streams of bytes. Must be picklable.

    >>> StreamFormat.text_line_format("ISO-8859-1").get_produced_type()
    String
    """

    @abstractmethod
    def create_reader(self, stream: BinaryIO, split: FileSourceSplit) -> RecordReader:
        """A reader of a split, at ``split.position`` if it is not None.

        :param stream: The file's content, decompressed, at its start; the reader owns it.
        """

    def is_splittable(self) -> bool:
        """Whether a file may be cut at any byte. If not, a split is always a whole file."""
        return False

    def get_produced_type(self) -> TypeInformation | None:
        """The type of the records, if the format knows it."""
        return None

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """One string for each line of text, without its end."""
        return TextLineFormat(charset_name)


class TextLineFormat(StreamFormat):
    """One string for each line of text. Lines end with ``\\n`` or ``\\r\\n``."""

    def __init__(self, charset_name: str = "UTF-8", chunk_size: int = CHUNK_SIZE) -> None:
        self._encoding = TextEncoding.of(charset_name)
        self._chunk_size = chunk_size

    def create_reader(self, stream: BinaryIO, split: FileSourceSplit) -> RecordReader:
        return LineReader(stream, split.path, self._encoding, split.start, split.end, split.position, self._chunk_size)

    def is_splittable(self) -> bool:
        return True

    def get_produced_type(self) -> TypeInformation:
        return Types.STRING()
