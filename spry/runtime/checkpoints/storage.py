"""Where checkpoints are kept: a directory of this machine, or behind a URL that fsspec opens."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from spry.common.errors import CheckpointError

__all__ = ["CheckpointStore", "absolute", "location", "open_checkpoint_store"]


class CheckpointStore(ABC):
    """A directory. Names are paths below it, with slashes."""

    url: str
    """The directory, as it is written in options."""

    @abstractmethod
    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all: after a crash it is there with all of its contents, or not there."""

    @abstractmethod
    def upload(self, local: Path, name: str) -> None:
        """Copy a local file, whole or not at all: what has that name already stays if copying fails."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """A file, for reading. :class:`FileNotFoundError` if there is none."""

    @abstractmethod
    def names(self, below: str = "") -> list[str]:
        """What is in a directory, in no order; nothing if there is no such directory."""

    @abstractmethod
    def size(self, name: str) -> int | None:
        """The size of a file in bytes, None if there is none."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file or a directory with all that is in it; it need not be there."""

    @property
    def local_path(self) -> Path | None:
        """The directory's path if it is one of this machine."""
        return None

    def read(self, name: str) -> bytes:
        """The contents of a file."""
        with self.open(name) as file:
            return file.read()


class _LocalStore(CheckpointStore):
    def __init__(self, url: str, path: str) -> None:
        self.url = url
        self._path = Path(path)

    def _full(self, name: str) -> Path:
        # "../" is what it means by name: the directory itself may be gone.
        return Path(os.path.normpath(self._path / name))

    @property
    def local_path(self) -> Path:
        return self._path

    def write(self, name: str, data: bytes) -> None:
        self._put(name, io.BytesIO(data))

    def upload(self, local: Path, name: str) -> None:
        with open(local, "rb") as source:
            self._put(name, source)

    def _put(self, name: str, source: BinaryIO) -> None:
        target = self._full(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Somebody whose checkpoint was given up may still be copying the same file: neither sees the other's half.
        beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.inprogress")
        try:
            with open(beside, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
        _sync_directory(target.parent)

    def open(self, name: str) -> BinaryIO:
        return open(self._full(name), "rb")

    def names(self, below: str = "") -> list[str]:
        try:
            return os.listdir(self._full(below))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def size(self, name: str) -> int | None:
        try:
            return os.stat(self._full(name)).st_size
        except OSError:
            return None

    def remove(self, name: str) -> None:
        target = self._full(name)
        if target.is_dir():
            shutil.rmtree(target, ignore_errors=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                target.unlink()


def _sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class _RemoteStore(CheckpointStore):
    def __init__(self, url: str) -> None:
        import fsspec

        self.url = url
        try:
            self._fs, self._path = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise CheckpointError(f"the checkpoint directory '{url}' cannot be opened: {error}") from None

    def _full(self, name: str) -> str:
        # Object stores know no "../".
        path: str = self._path
        while name.startswith("../"):
            path, name = path.rstrip("/").rpartition("/")[0], name.removeprefix("../")
        return f"{path.rstrip('/')}/{name}" if name else path

    def write(self, name: str, data: bytes) -> None:
        # Object stores show an object when it is complete. Others get it under another name first.
        path = self._full(name)
        self._fs.makedirs(self._fs._parent(path), exist_ok=True)
        self._fs.pipe_file(f"{path}.inprogress", data)
        self._fs.mv(f"{path}.inprogress", path)

    def upload(self, local: Path, name: str) -> None:
        path = self._full(name)
        self._fs.makedirs(self._fs._parent(path), exist_ok=True)
        self._fs.put_file(str(local), path)

    def open(self, name: str) -> BinaryIO:
        return cast(BinaryIO, self._fs.open(self._full(name), "rb"))

    def names(self, below: str = "") -> list[str]:
        self._fs.invalidate_cache()
        try:
            found: list[Any] = self._fs.ls(self._full(below), detail=False)
        except FileNotFoundError:
            return []
        return [path.rstrip("/").rpartition("/")[2] for path in found]

    def size(self, name: str) -> int | None:
        try:
            return int(self._fs.info(self._full(name))["size"])
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm(self._full(name), recursive=True)


def absolute(url: str) -> str:
    """A path on this machine as it is for processes that are in other directories; URLs as they are."""
    return url if ":/" in url else os.path.abspath(os.path.expanduser(url))


def open_checkpoint_store(url: str) -> CheckpointStore:
    """The directory behind a URL or a path."""
    path = _local_path(url)
    return _LocalStore(url, path) if path is not None else _RemoteStore(url)


def location(directory: str, name: str) -> str:
    """Where a file is: the same for the same file, from whatever directory it is named, however that is written."""
    path = _local_path(directory)
    if path is None:
        directory = directory.rstrip("/")
        while name.startswith("../"):
            directory, name = directory.rpartition("/")[0], name.removeprefix("../")
        return f"{directory}/{name}"
    parent, _, last = os.path.normpath(os.path.join(path, name)).rpartition("/")
    return f"{_real_path(parent)}/{last}"


@lru_cache(64)
def _real_path(path: str) -> str:
    return os.path.realpath(path)


def _local_path(url: str) -> str | None:
    """The path of a directory of this machine, None if it is elsewhere."""
    scheme, separator, rest = url.partition("://")
    if url.startswith("file:/") and not (separator and rest.startswith("localhost")):
        return "/" + url.removeprefix("file:").lstrip("/")
    if not separator:
        return os.path.abspath(os.path.expanduser(url))
    return rest.removeprefix("localhost") if scheme == "file" else None
