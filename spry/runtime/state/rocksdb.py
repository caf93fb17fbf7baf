"""The ``rocksdb`` backend: tables in a database of the slot's local disk, which may be larger than memory."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocksdict import AccessType, Checkpoint, Options, Rdict

from spry.common.configuration import Configuration
from spry.common.keys import key_group_of
from spry.common.options import SpryOptions
from spry.common.state import StateDescriptor
from spry.runtime.clock import Clock
from spry.runtime.state.keyed import KeyContext, KeyedStateBackend, Table
from spry.runtime.state.meta import StateKind, StateMeta
from spry.runtime.state.rocksdb_lists import ListStateOfRocks, RocksListTable, TtlListStateOfRocks
from spry.runtime.state.rocksdb_maps import MapStateOfRocks, RocksMapTable, TtlMapStateOfRocks
from spry.runtime.state.rocksdb_options import RocksDBSettings
from spry.runtime.state.rocksdb_tables import RocksTable, Rows, scan
from spry.runtime.state.schema import StateEncoder, check_classes
from spry.runtime.state.ttl import Ttl

__all__ = ["FrozenView", "RocksDBKeyedStateBackend"]

_IDENTITY_FILE = "SPRY"
"""A file in a snapshot: which database it is of, and which of its files came from others."""
_SWEEP_SECONDS = 0.002
"""How long, at the end of an epoch, is looked for what has expired."""
_TABLES: dict[StateKind, type[RocksTable]] = {StateKind.LIST: RocksListTable, StateKind.MAP: RocksMapTable}


class RocksDBKeyedStateBackend(KeyedStateBackend):
    """Keeps one database per operator's subtask, with a column family per state."""

    has_files = True

    def __init__(
        self,
        current: KeyContext,
        clock: Clock,
        max_parallelism: int,
        directory: Path,
        configuration: dict[str, str],
        name: str = "",
        namespaced: bool = False,
    ) -> None:
        super().__init__(current, clock, name, namespaced)
        self.encoder = StateEncoder()
        """Knows the classes of all values that were written."""
        self.directory = directory
        self.database_id = uuid.uuid4().hex
        self._inherited: dict[str, str] = {}
        """Files that another database has made -> what identifies them."""
        self._max_parallelism = max_parallelism
        self._bound = Configuration.from_dict(configuration).get(SpryOptions.STATE_ROCKSDB_CACHE_ENTRIES)
        self._settings = RocksDBSettings(configuration)
        self._database: Any = None
        self._families: list[str] = []
        """The column families that there are."""
        self._rocks: dict[str, RocksTable] = {}
        self._swept: list[tuple[RocksTable, Ttl]] = []

    # Tables

    def table(self, name: str, kind: StateKind = StateKind.INTERNAL) -> Table:
        self._metas.setdefault(name, StateMeta(name, kind))
        return super().table(name, kind)

    def create_table(self, name: str) -> Table:
        where = f"operator '{self.operator}', state '{name}'"
        rows = Rows(partial(self._connect, name), self._group_of(), self._max_parallelism, self.encoder, where)
        table = _TABLES.get(self._metas[name].kind, RocksTable)(rows, self._bound)
        self._rocks[name] = table
        return table

    @cached_property
    def _all_options(self) -> tuple[Options, Options]:
        return self._settings.options()

    def _open(self) -> None:
        if self._database is None:
            path = str(self.directory)
            self._families = Rdict.list_cf(path) if (self.directory / "CURRENT").exists() else []
            options = dict.fromkeys(self._families, self._all_options[1])
            self._database = Rdict(path, self._all_options[0], options or None)

    def _connect(self, name: str) -> tuple[Any, Any, Any]:
        """The database, opened if need be, and the column family of a state."""
        self._open()
        family = _family_of(name)
        if family not in self._families:
            self._database.create_column_family(family, self._all_options[1]).close()
            self._families.append(family)
        return self._database, self._database.get_column_family(family), self._database.get_column_family_handle(family)

    def _group_of(self) -> Callable[[Any], int]:
        max_parallelism = self._max_parallelism
        if self.namespaced:
            return lambda key: key_group_of(key[0], max_parallelism)
        return partial(key_group_of, max_parallelism=max_parallelism)

    # States

    def create_state(self, descriptor: StateDescriptor, kind: StateKind) -> Any:
        table: Any = self.table(descriptor.name, kind)
        if kind is StateKind.LIST:
            return ListStateOfRocks(table, self.current)
        if kind is StateKind.MAP:
            return MapStateOfRocks(table, self.current)
        return super().create_state(descriptor, kind)

    def create_ttl_state(self, descriptor: StateDescriptor, kind: StateKind, ttl: Ttl) -> Any:
        table: Any = self.table(descriptor.name, kind)
        if kind is StateKind.LIST:
            return TtlListStateOfRocks(ttl, table, self.current)
        if kind is StateKind.MAP:
            return TtlMapStateOfRocks(ttl, table, self.current)
        return super().create_ttl_state(descriptor, kind, ttl)

    def clean_up(self, ttl: Ttl, name: str) -> None:
        """As in Flink, the incremental strategy is for state in memory, and the one of compactions is for RocksDB."""
        self.table(name)
        if ttl.cleans_in_compaction:
            self._swept.append((self._rocks[name], ttl))

    def convert(self, name: str, fit: Callable[[Any], Any]) -> None:
        table = self.table(name)
        for key, value in table.items():
            table[key] = fit(value)

    def count(self, name: str) -> int:
        return self._rocks[name].estimate()

    # Snapshots

    def prepare(self) -> None:
        """Write what is in the caches: the part of a snapshot that cannot be done beside the job."""
        for table in self._rocks.values():
            table.flush()

    def native_snapshot(self, directory: Path) -> list[str]:
        """Put the database as it is now into a new directory, by hard links. Gives the names of the files there.

        Those that end with ``.sst`` never change; :meth:`unique_name` says what identifies them.
        """
        self.prepare()
        if self._database is None:
            directory.mkdir()
            return []
        Checkpoint(self._database).create_checkpoint(str(directory))
        identity = {"database": self.database_id, "inherited": self._inherited, "classes": self.encoder.classes}
        (directory / _IDENTITY_FILE).write_text(json.dumps(identity))
        return sorted(os.listdir(directory))

    def unique_name(self, file: str) -> str:
        """A name for one of the database's ``.sst`` files that no other file has, in any database of any attempt."""
        return self._inherited.get(file) or f"{self.database_id}-{file}"

    def frozen(self) -> FrozenView:
        """What there is now, to be read in another thread while the owner goes on writing."""
        self.prepare()
        return FrozenView(self)

    def adopt(self, directory: Path, metas: list[StateMeta], key_groups: range, all_groups: bool) -> None:
        """Take in a native snapshot: as this database if it is all of it, else the rows of some key groups.

        All parts are in before the first state is asked for.
        """
        for meta in metas:
            self._metas[meta.name] = self._restored[meta.name] = meta
            self.table(meta.name, meta.kind)
        if not (directory / "CURRENT").exists():
            return  # Nothing was ever kept.
        identity = json.loads((directory / _IDENTITY_FILE).read_text())
        check_classes(f"operator '{self.operator}'", identity["classes"])
        self.encoder.classes.update(identity["classes"])
        if all_groups and self._database is None:
            self._take_over(directory, identity)
        else:
            self._copy(directory, metas, key_groups)

    def _take_over(self, directory: Path, identity: dict[str, Any]) -> None:
        for file in directory.iterdir():
            if file.suffix == ".sst":
                self._inherited[file.name] = (
                    identity["inherited"].get(file.name) or f"{identity['database']}-{file.name}"
                )
                _link(file, self.directory / file.name)
            elif file.name != _IDENTITY_FILE:
                shutil.copy(file, self.directory / file.name)
        self._open()

    def _copy(self, directory: Path, metas: list[StateMeta], key_groups: range) -> None:
        path = str(directory)
        families = dict.fromkeys(Rdict.list_cf(path), self._all_options[1])
        old: Any = Rdict(path, self._all_options[0], families, AccessType.read_only(False))
        start, end = key_groups.start.to_bytes(2, "big"), key_groups.stop.to_bytes(2, "big")
        for meta in metas:
            if _family_of(meta.name) not in families:
                continue
            family = old.get_column_family(_family_of(meta.name))
            self._rocks[meta.name].copy(scan(family, start, end))
            family.close()
        old.close()

    # Life

    def end_epoch(self) -> None:
        until = time.perf_counter() + _SWEEP_SECONDS
        for table, ttl in self._swept:
            table.sweep(ttl, until)
        tables, bound = self._rocks.values(), self._bound
        if sum(table.cached() for table in tables) > bound:
            for table in tables:
                table.flush()
            if sum(table.cached() for table in tables) > bound:
                for table in tables:
                    table.trim(bound // len(tables))

    def dispose(self) -> None:
        for table in self._rocks.values():
            table.forget()
            table.rows.close()
        if self._database is not None:
            self._database.close()
            self._database = None


class FrozenView:
    """A backend's state as it was at one moment."""

    def __init__(self, backend: RocksDBKeyedStateBackend) -> None:
        self._metas = backend.metas()
        self._tables = dict(backend._rocks)
        unused = backend._database is None
        self._snapshots = {} if unused else {name: t.rows.family.snapshot() for name, t in self._tables.items()}
        self._ttls = dict(backend._ttls)

    def metas(self) -> list[StateMeta]:
        """The states that there were."""
        return self._metas

    def entries(self, name: str) -> Iterator[tuple[Any, Any]]:
        """All (key, value) of a state, in the form that every backend restores from."""
        if name not in self._snapshots:
            return iter(())
        items = self._tables[name].decoded(scan(self._snapshots[name]))
        ttl = self._ttls.get(name)
        return ttl.unexpired(items) if ttl is not None and ttl.cleans_full_snapshots else items

    def close(self) -> None:
        """Let the database forget how it was."""
        self._snapshots.clear()
        self._tables.clear()


def _family_of(name: str) -> str:
    # "default" is a column family of RocksDB's own, and its OPTIONS files have a syntax.
    return "state-" + quote(name, safe="")


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)  # Another file system, or one without links.
