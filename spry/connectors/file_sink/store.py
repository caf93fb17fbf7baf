"""Where part files are: hidden while they are written, then given their names."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, BinaryIO, cast

from spry.connectors.file_store import remote_file_system

__all__ = ["PartStore", "open_part_store"]

_COPY_SIZE = 1 << 20


class PartStore(ABC):
    """A file system, as far as writing part files needs it."""

    @abstractmethod
    def create(self, path: str) -> BinaryIO:
        """A new file, with the directories above it."""

    @abstractmethod
    def sync(self, path: str, stream: BinaryIO) -> None:
        """What was written to the file survives whatever happens."""

    @abstractmethod
    def copy_start(self, path: str, length: int, stream: BinaryIO) -> None:
        """Write so many bytes of a file's start to the stream."""

    @abstractmethod
    def rename(self, hidden: str, final: str) -> bool:
        """Give a file its name, in one step. False if there is no such file, but one of that name."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""

    @abstractmethod
    def names(self, directory: str) -> list[str]:
        """The names of the files in a directory; none if it is not there."""


def open_part_store(root: str) -> PartStore:
    """The store of a :class:`spry.connectors.file_store.Location`'s root."""
    return _RemoteParts(*remote_file_system(root)) if root else _LocalParts()


class _LocalParts(PartStore):
    def create(self, path: str) -> BinaryIO:
        _make_directory(os.path.dirname(path))
        return open(path, "xb", buffering=1 << 16)

    def sync(self, path: str, stream: BinaryIO) -> None:
        stream.flush()
        os.fsync(stream.fileno())
        _sync_directory(os.path.dirname(path))

    def copy_start(self, path: str, length: int, stream: BinaryIO) -> None:
        with open(path, "rb", buffering=0) as source:
            size = os.fstat(source.fileno()).st_size
            if size < length:
                raise OSError(f"it has {size} bytes, but {length} had been written when the checkpoint was taken")
            while length > 0:
                chunk = source.read(min(length, _COPY_SIZE))
                stream.write(chunk)
                length -= len(chunk)

    def rename(self, hidden: str, final: str) -> bool:
        try:
            os.replace(hidden, final)
        except FileNotFoundError:
            if os.path.exists(final):
                return False
            raise
        _sync_directory(os.path.dirname(final))
        return True

    def remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass

    def names(self, directory: str) -> list[str]:
        try:
            return os.listdir(directory)
        except FileNotFoundError:
            return []


def _make_directory(path: str) -> None:
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    _make_directory(parent)
    try:
        os.mkdir(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise NotADirectoryError(f"{path} is a file, not a directory") from None
    _sync_directory(parent)


def _sync_directory(path: str) -> None:
    """A new name in a directory survives whatever happens."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _RemoteParts(PartStore):
    """A file system with fsspec's interface. A file is durable when it is closed, and not before.

    :param base: What comes before a path in it.
    """

    def __init__(self, file_system: Any, base: str) -> None:
        self._fs = file_system
        self._base = base

    def create(self, path: str) -> BinaryIO:
        full = self._base + path
        self._fs.makedirs(full.rpartition("/")[0], exist_ok=True)
        return cast("BinaryIO", self._fs.open(full, "wb"))

    def sync(self, path: str, stream: BinaryIO) -> None:
        stream.flush()

    def copy_start(self, path: str, length: int, stream: BinaryIO) -> None:
        raise OSError("a file in this store cannot be gone on with")

    def rename(self, hidden: str, final: str) -> bool:
        fs = self._fs
        fs.invalidate_cache()
        if not fs.exists(self._base + hidden):
            if fs.exists(self._base + final):
                return False
            raise FileNotFoundError(self._base + hidden)
        # Where a file cannot be renamed, this copies it and removes it. If it ends in between, it is done once more.
        fs.mv(self._base + hidden, self._base + final)
        return True

    def remove(self, path: str) -> None:
        if self._fs.exists(self._base + path):
            self._fs.rm_file(self._base + path)

    def names(self, directory: str) -> list[str]:
        self._fs.invalidate_cache()
        try:
            return [entry.rstrip("/").rpartition("/")[2] for entry in self._fs.ls(self._base + directory, detail=False)]
        except FileNotFoundError:
            return []
