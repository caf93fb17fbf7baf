"""Backends for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spry.runtime.state.keyed import KeyContext
from spry.runtime.state.rocksdb import RocksDBKeyedStateBackend
from spry.runtime.testing import ManualClock

GROUPS = 16


class Databases:
    """Makes backends in directories of their own, and forgets them all at the end."""

    def __init__(self, root: Path, clock: Callable[[], int] | None = None, **configuration: Any) -> None:
        self.root = root
        self.clock = clock if clock is not None else ManualClock()
        self.configuration = {key: str(value) for key, value in configuration.items()}
        self._made: list[RocksDBKeyedStateBackend] = []
        self._count = 0

    def directory(self) -> Path:
        """The name of a directory that is not there yet."""
        self._count += 1
        return self.root / str(self._count)

    def create(
        self, current: KeyContext | None = None, namespaced: bool = False, **configuration: Any
    ) -> RocksDBKeyedStateBackend:
        directory = self.directory()
        directory.mkdir()
        given = {**self.configuration, **{key: str(value) for key, value in configuration.items()}}
        backend = RocksDBKeyedStateBackend(
            current or KeyContext(), self.clock, GROUPS, directory, given, namespaced=namespaced
        )
        self._made.append(backend)
        return backend

    def close(self) -> None:
        for backend in self._made:
            backend.dispose()


CACHE = "spry.state.rocksdb.cache-entries"
