"""Lines of text in a stream of bytes: fast, and with the exact position of each."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["CHUNK_SIZE", "LineReader", "TextEncoding"]

CHUNK_SIZE = 1 << 20

# In these a newline is not always the same bytes, or what a line means depends on the lines before it.
_NOT_BY_LINE = {
    "utf-7",
    "hz",
    "idna",
    "punycode",
    "unicode-escape",
    "raw-unicode-escape",
    "undefined",
    "iso2022_kr",
}

_BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """How text is written in bytes.

    >>> TextEncoding.of("UTF-16LE")
    TextEncoding(codec='utf-16-le', newline=b'\\n\\x00', bom=b'\\xff\\xfe')
    """

    codec: str
    newline: bytes
    bom: bytes
    """What may stand at the start of a file and is no part of the text."""

    @staticmethod
    def of(charset: str) -> TextEncoding:
        """The encoding with this name, such as ``UTF-8`` or ``ISO-8859-1``."""
        name: object = charset
        if not isinstance(name, str):
            raise TypeError(f"a charset must be a name such as 'UTF-8', got {charset!r}")
        try:
            codec = codecs.lookup(charset).name
            "\n".encode(codec)
        except (LookupError, UnicodeError, ValueError):
            raise ValueError(f"there is no charset {charset!r}; use a name such as 'UTF-8' or 'ISO-8859-1'") from None
        if codec in _NOT_BY_LINE:
            raise ValueError(f"charset {charset!r} cannot be read line by line; convert the files to UTF-8")
        if codec == "utf-8-sig":
            codec = "utf-8"
        if codec in ("utf-16", "utf-32"):
            # Which end comes first is in the file; until it is opened, and if it does not say, the big one.
            return TextEncoding(codec, "\n".encode(f"{codec}-be"), b"")
        return TextEncoding(codec, "\n".encode(codec), _BOMS.get(codec, b""))

    def as_in(self, head: bytes) -> TextEncoding:
        """This encoding in a file that starts with these bytes."""
        if self.codec not in ("utf-16", "utf-32"):
            return self
        little = TextEncoding.of(f"{self.codec}-le")
        return little if head.startswith(little.bom) else TextEncoding.of(f"{self.codec}-be")


class LineReader:
    """The lines that start in a range of a stream.

    A line belongs to the range in which its first byte is, so ranges that follow one another have every line
    exactly once. Lines end with ``\\n`` or ``\\r\\n``; an empty last line is none.

    :param stream: Must be seekable, forwards only if the range starts at 0.
    :param name: What the stream is called in messages.
    :param start: The first byte of the range.
    :param end: The byte after the last one of the range; None for the end of the stream.
    :param position: Where to go on: a position that another reader of the same range gave.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        encoding: TextEncoding,
        start: int = 0,
        end: int | None = None,
        position: int | None = None,
        chunk_size: int = CHUNK_SIZE,
    ) -> None:
        self._stream = stream
        self._name = name
        head = self._read_up_to(4) if not start or encoding.as_in(b"") is not encoding else b""
        self._encoding = encoding.as_in(head)
        self._newline = self._encoding.newline
        self._width = width = len(self._newline)
        self._chunk_size = max(chunk_size - chunk_size % width, width)
        # Characters of several bytes are at multiples of their size, whatever a range says.
        start += -start % width
        self._end = end if end is None else end + -end % width
        self._ahead = b""
        """What was read of the stream but not looked at."""
        self._lines: list[str] = []
        self._next = 0
        self._block = b""
        self._block_start = 0
        self._line: list[bytes] = []
        """What was read of a line whose end was not."""
        text_start = len(self._encoding.bom) if head.startswith(self._encoding.bom) else 0
        if position is None:
            position = self._first_line(start) if start else text_start
        if not start and position <= len(head):
            self._ahead = head[position:]
        else:
            stream.seek(position)
        self._read_at = position
        """Up to where bytes were looked at."""
        self._block_end = position
        self._exhausted = self._end is not None and position >= self._end
        if not start and self._end and position <= text_start:
            self._exhausted = False  # the mark at the start is a part of the first line

    def read(self, max_records: int) -> Sequence[str]:
        """The next lines, at most so many; none at the end of the range."""
        if self._next == len(self._lines) and not self._fill():
            return ()
        start, self._next = self._next, min(self._next + max_records, len(self._lines))
        return self._lines[start : self._next]

    def position(self) -> int:
        """Where the first line starts that was not read yet."""
        if self._next == len(self._lines):
            return self._block_end
        if not self._next:
            return self._block_start
        if self._width == 1:
            rest = self._block.split(self._newline, self._next)[-1]
        else:
            codec = self._encoding.codec
            rest = self._block.decode(codec).split("\n", self._next)[-1].encode(codec)
        return self._block_end - len(rest)

    def close(self) -> None:
        self._stream.close()

    def _read_up_to(self, size: int) -> bytes:
        """So many bytes, fewer only at the end: a stream may give less than it has."""
        data = self._stream.read(size) or b""
        while data and len(data) < size and (more := self._stream.read(size - len(data))):
            data += more
        return data

    def _chunk(self) -> bytes:
        data = self._ahead or self._stream.read(self._chunk_size) or b""
        self._ahead = b""
        if len(data) % self._width:
            data += self._read_up_to(self._width - len(data) % self._width)
        return data

    def _first_line(self, start: int) -> int:
        """The start of the first line at or after this byte; the range's end if there is none before it."""
        at = start - self._width
        self._stream.seek(at)
        while self._end is None or at < self._end:
            data = self._chunk()
            if not data:
                return at
            newline = self._find(data, 0)
            if newline >= 0:
                return at + newline + self._width
            at += len(data)
        return at

    def _find(self, data: bytes, start: int) -> int:
        at = data.find(self._newline, start)
        while at >= 0 and at % self._width:
            at = data.find(self._newline, at + 1)
        return at

    def _find_last(self, data: bytes) -> int:
        at = data.rfind(self._newline)
        while at >= 0 and at % self._width:
            at = data.rfind(self._newline, 0, at + self._width - 1)
        return at

    def _fill(self) -> bool:
        """Read on until there is at least one line; False at the end."""
        while not self._exhausted:
            data = self._chunk()
            if not data:
                self._exhausted = True
                block = b"".join(self._line)
                self._line = []
                return bool(block) and self._take(block)
            newline = -1
            if self._end is not None and self._read_at + len(data) >= self._end:
                # The range ends with the first line that ends at or after its last byte.
                newline = self._find(data, max(self._end - self._width - self._read_at, 0))
                self._exhausted = newline >= 0
            if newline < 0:
                newline = self._find_last(data)
            self._read_at += len(data)
            if newline < 0:
                self._line.append(data)
                continue
            cut = newline + self._width
            block = b"".join((*self._line, data[:cut])) if self._line else data[:cut]
            self._line = [data[cut:]] if cut < len(data) else []
            return self._take(block)
        return False

    def _take(self, block: bytes) -> bool:
        self._block, self._block_start = block, self._block_end
        self._block_end += len(block)
        try:
            text = block.decode(self._encoding.codec)
        except UnicodeDecodeError as e:
            wrong, at, codec = (
                block[e.start : e.end][:8],
                self._block_start + e.start,
                self._encoding.codec.upper(),
            )
            raise UnicodeError(
                f"{self._name}: the bytes {wrong!r} at byte {at} are not {codec} ({e.reason}); "
                "name the charset in which the file is written"
            ) from None
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        self._lines, self._next = lines, 0
        return True
