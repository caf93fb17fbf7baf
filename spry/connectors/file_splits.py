"""Parts of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spry.connectors.compression import is_compressed
from spry.connectors.file_store import FoundFile
from spry.connectors.static_splits import even_ranges

__all__ = ["MAX_SPLIT_SIZE", "MIN_SPLIT_SIZE", "FileSourceSplit", "cut_into_splits"]

MIN_SPLIT_SIZE = 16 << 20
MAX_SPLIT_SIZE = 128 << 20
_SPLITS_PER_READER = 4


@dataclass(frozen=True, slots=True)
class FileSourceSplit:
    """A range of a file."""

    root: str
    """The file store; see :class:`~spry.connectors.file_store.Location`."""
    path: str
    start: int = 0
    end: int | None = None
    """The byte after the last one; None for the end of the file, wherever that is."""
    size: int = 0
    """What there is to read, in bytes, as far as known."""
    position: int | None = None
    """Where to go on; None if nothing was read yet."""

    def split_id(self) -> str:
        return f"{self.root}{self.path}:{self.start}"


def cut_into_splits(
    root: str,
    files: Iterable[FoundFile],
    readers: int,
    splittable: bool,
    min_split_size: int = MIN_SPLIT_SIZE,
) -> Iterator[FileSourceSplit]:
    """Splits of files, several for each reader as long as they do not become too small.

    A file that is compressed, or whose size is not known, is not cut.
    """
    files = [file for file in files if file.size != 0]
    total = sum(file.size or 0 for file in files)
    size_of_split = max(min(total // (readers * _SPLITS_PER_READER), MAX_SPLIT_SIZE), min_split_size, 1)
    for file in files:
        if file.size is None or not splittable or is_compressed(file.path):
            yield FileSourceSplit(root, file.path, size=file.size or 0)
            continue
        for part in even_ranges(range(file.size), -(-file.size // size_of_split)):
            yield FileSourceSplit(root, file.path, part.start, part.stop, len(part))
