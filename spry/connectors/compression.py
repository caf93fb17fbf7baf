"""Files that are compressed as a whole; their names' ends say how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, cast

__all__ = ["decompressed", "is_compressed"]

_SKIP_SIZE = 1 << 20


def _gzip(stream: BinaryIO) -> BinaryIO:
    import gzip

    return cast("BinaryIO", gzip.GzipFile(fileobj=stream, mode="rb"))


def _bzip2(stream: BinaryIO) -> BinaryIO:
    import bz2

    return cast("BinaryIO", bz2.BZ2File(stream, "rb"))


def _xz(stream: BinaryIO) -> BinaryIO:
    import lzma

    return cast("BinaryIO", lzma.LZMAFile(stream, "rb"))


def _zstd(stream: BinaryIO) -> BinaryIO:
    import pyarrow

    source: Any = pyarrow.PythonFile(stream, mode="r")
    return cast("BinaryIO", pyarrow.CompressedInputStream(source, "zstd"))


_BY_ENDING: dict[str, Callable[[BinaryIO], BinaryIO]] = {
    ".gz": _gzip,
    ".gzip": _gzip,
    ".bz2": _bzip2,
    ".xz": _xz,
    ".zst": _zstd,
    ".zstd": _zstd,
}


def _opener(path: str) -> Callable[[BinaryIO], BinaryIO] | None:
    name = path.lower()
    return next((opener for ending, opener in _BY_ENDING.items() if name.endswith(ending)), None)


def is_compressed(path: str) -> bool:
    """Whether the file has to be read from its start.

    >>> is_compressed("access.log.GZ"), is_compressed("access.log")
    (True, False)
    """
    return _opener(path) is not None


def decompressed(path: str, stream: BinaryIO) -> BinaryIO:
    """What is in the file; the stream itself if it is not compressed."""
    opener = _opener(path)
    return cast("BinaryIO", _Decompressed(path, stream, opener)) if opener is not None else stream


class _Decompressed:
    """What is in a compressed file. It can be sought forwards, and names the file when it is damaged."""

    def __init__(self, path: str, stream: BinaryIO, opener: Callable[[BinaryIO], BinaryIO]) -> None:
        self._path = path
        self._stream = stream
        self._content = opener(stream)
        self._at = 0

    def read(self, size: int) -> bytes:
        try:
            data = self._content.read(size)
        except Exception as e:  # every library has errors of its own
            raise OSError(f"{self._path} cannot be decompressed: {e} (after byte {self._at} of its content)") from e
        self._at += len(data)
        return data

    def seek(self, position: int) -> int:
        if position < self._at:
            raise OSError(f"{self._path} is compressed: it cannot be read backwards")
        while self._at < position and self.read(min(position - self._at, _SKIP_SIZE)):
            pass
        return self._at

    def close(self) -> None:
        try:
            self._content.close()
        finally:
            self._stream.close()
