"""The ``hashmap`` backend: every table is a dict of the slot's process."""

from __future__ import annotations

from spry.runtime.state.keyed import KeyedStateBackend, Table

__all__ = ["HeapKeyedStateBackend"]


class HeapKeyedStateBackend(KeyedStateBackend):
    """Keeps objects as they are: quick, and as large as memory."""

    def create_table(self, name: str) -> Table:
        return {}
