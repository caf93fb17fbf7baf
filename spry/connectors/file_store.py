"""Finding and opening files: on this machine, or behind a URL that pyarrow or fsspec opens."""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO, cast

__all__ = ["FileStore", "FoundFile", "Location", "open_store", "remote_file_system"]

_ARROW_SCHEMES = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "hdfs": "hdfs",
    "viewfs": "viewfs",
    "abfs": "abfs",
    "abfss": "abfss",
}
"""URL schemes for which pyarrow is asked first, and what it calls them."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file in a store."""

    path: str
    size: int | None
    """In bytes; None if the store does not know."""
    modified: float = 0.0
    """Seconds since 1970, or 0 if the store does not know."""


@dataclass(frozen=True, slots=True)
class Location:
    """What a user calls a path: a file, a directory, or a pattern for either.

    >>> Location.of("s3://bucket/logs/*.gz?region=eu-west-1")
    Location(root='s3://bucket/?region=eu-west-1', path='logs/*.gz', given='s3://bucket/logs/*.gz?region=eu-west-1')
    """

    root: str
    """What it takes to open the store: empty for this machine, else a URL."""
    path: str
    """Below the root."""
    given: str
    """As the user wrote it, for messages."""

    @staticmethod
    def of(path: str | os.PathLike[str]) -> Location:
        given = os.fspath(path)
        if not given:
            raise ValueError("a path must not be empty")
        scheme, separator, rest = given.partition("://")
        if given.startswith("file:/") and not separator:
            return Location("", given.removeprefix("file:"), given)
        if not separator:
            return Location("", os.path.abspath(given), given)
        if scheme == "file":
            host, _, path_in_host = rest.partition("/")
            if host not in ("", "localhost"):
                raise ValueError(f"'{given}' names the host '{host}': a local file is file:///path, with three slashes")
            return Location("", "/" + path_in_host, given)
        if scheme in _ARROW_SCHEMES:
            rest, question, query = rest.partition("?")
            host, _, below = rest.partition("/")
            return Location(f"{_ARROW_SCHEMES[scheme]}://{host}/{question}{query}", below, given)
        return Location(f"{scheme}://", rest, given)

    @property
    def is_local(self) -> bool:
        return not self.root


class FileStore(ABC):
    """A file system, as far as reading needs it."""

    @abstractmethod
    def find(self, path: str) -> list[FoundFile]:
        """The file, all files below the directory, or those that match the pattern, in order of their paths.

        Files and directories whose names start with ``.`` or ``_`` are left out, unless they are named.
        Nothing is found where there is nothing.
        """

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Whether there is such a file or directory, or anything that matches the pattern."""

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """The file, for reading."""


@lru_cache(maxsize=64)
def open_store(root: str) -> FileStore:
    """The store of a :class:`Location`'s root."""
    return _RemoteStore(*remote_file_system(root)) if root else _LocalStore()


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _visible_below(path: str, base: str) -> bool:
    """Whether no part of the path below the base is hidden."""
    return not any(_is_hidden(part) for part in path[len(base) :].strip("/").split("/"))


def _plain_part(pattern: str, magic: str) -> str:
    """The directory in which a pattern starts to be one."""
    first = min((pattern.find(character) for character in magic if character in pattern), default=len(pattern))
    return pattern[: pattern.rfind("/", 0, first) + 1]


class _LocalStore(FileStore):
    def exists(self, path: str) -> bool:
        return os.path.exists(path) or (glob.has_magic(path) and any(glob.iglob(path, recursive=True)))

    def find(self, path: str) -> list[FoundFile]:
        found: dict[str, FoundFile] = {}
        if os.path.exists(path):
            self._walk(path, found, set())
        elif glob.has_magic(path):
            for match in glob.iglob(path, recursive=True):
                # What the pattern itself calls hidden was meant; what it happens to match was not.
                if _is_hidden(os.path.basename(path)) or _visible_below(match, _plain_part(path, "*?[")):
                    self._walk(match, found, set())
        return sorted(found.values(), key=lambda file: file.path)

    def _walk(self, path: str, found: dict[str, FoundFile], above: set[str]) -> None:
        if not os.path.isdir(path):
            try:
                status = os.stat(path)
            except FileNotFoundError:
                return  # deleted while we looked
            found[path] = FoundFile(path, status.st_size, status.st_mtime)
            return
        real = os.path.realpath(path)
        if real in above:
            return  # a symbolic link to a directory above it
        with os.scandir(path) as entries:
            children = [entry.path for entry in entries if not _is_hidden(entry.name)]
        for child in children:
            self._walk(child, found, above | {real})

    def open(self, path: str) -> BinaryIO:
        return cast("BinaryIO", open(path, "rb", buffering=0))


class _RemoteStore(FileStore):
    """A file system with fsspec's interface.

    :param base: What comes before a path in it.
    """

    def __init__(self, file_system: Any, base: str) -> None:
        self._fs = file_system
        self._base = base

    def _full(self, path: str) -> str:
        return self._base + path

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(self._full(path))) or bool(self.find(path))

    def find(self, path: str) -> list[FoundFile]:
        fs, full = self._fs, self._full(path)
        fs.invalidate_cache()
        if fs.exists(full):
            roots = [full]
        elif "*" in path or "[" in path:
            base = _plain_part(fs._strip_protocol(full), "*[")
            meant = _is_hidden(full.rsplit("/", 1)[-1])
            roots = [match for match in fs.glob(full) if meant or _visible_below(match, base)]
        else:
            roots = []
        found: dict[str, dict[str, Any]] = {}
        for below in roots:
            info = fs.info(below)
            if info["type"] != "directory":
                found[info["name"]] = info
                continue
            for name, child in fs.find(below, detail=True).items():
                if child["type"] != "directory" and _visible_below(name, info["name"]):
                    found[name] = child
        return [FoundFile(name, info.get("size"), _modified(info)) for name, info in sorted(found.items())]

    def open(self, path: str) -> BinaryIO:
        return cast("BinaryIO", self._fs.open(path, "rb"))


def _modified(info: dict[str, Any]) -> float:
    for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = info.get(key)
        if isinstance(value, int | float):
            return float(value)
        if hasattr(value, "timestamp"):
            return float(cast("Any", value).timestamp())
    return 0.0


def remote_file_system(root: str) -> tuple[Any, str]:
    """The file system of a root, and what comes before a path in it."""
    import fsspec

    scheme, _, rest = root.partition("://")
    cause: Exception | None = None
    if scheme in _ARROW_SCHEMES.values():
        from fsspec.implementations.arrow import ArrowFSWrapper
        from pyarrow.fs import FileSystem

        try:
            file_system, base = FileSystem.from_uri(root)
            return ArrowFSWrapper(file_system), base.rstrip("/") + "/"
        except (ImportError, NotImplementedError, ValueError, OSError) as e:
            cause = e  # pyarrow may have been built without it; fsspec may have it
    base = f"{scheme}://{rest.partition('?')[0]}"
    try:
        return fsspec.core.url_to_fs(base)[0], base
    except (ImportError, ValueError) as e:
        also = f" (pyarrow: {cause})" if cause is not None else ""
        raise ValueError(
            f"files at {base} cannot be opened: {e}{also}; install the fsspec package for '{scheme}', "
            "also where Spark's executors run"
        ) from e
