"""Which backend keeps keyed state: ``hashmap`` or ``rocksdb``, as ``state.backend.type`` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spry.runtime.state.heap import HeapKeyedStateBackend
from spry.runtime.state.keyed import KeyContext, KeyedStateBackend

if TYPE_CHECKING:
    from spry.runtime.context import SlotServices

__all__ = ["create_keyed_backend", "uses_rocksdb"]


def uses_rocksdb(configuration: dict[str, str]) -> bool:
    """Whether the configuration chooses the ``rocksdb`` backend."""
    chosen = configuration.get("state.backend.type", configuration.get("state.backend", "hashmap"))
    return chosen.lower() == "rocksdb"


def create_keyed_backend(
    services: SlotServices, current: KeyContext, max_parallelism: int, name: str, namespaced: bool
) -> KeyedStateBackend:
    """A backend of the kind that the job's configuration says."""
    if uses_rocksdb(services.job.configuration):
        from spry.runtime.state.rocksdb import RocksDBKeyedStateBackend

        directory = services.local_directory()
        return RocksDBKeyedStateBackend(
            current, services.clock, max_parallelism, directory, services.job.configuration, name, namespaced
        )
    return HeapKeyedStateBackend(current, services.clock, name, namespaced)
