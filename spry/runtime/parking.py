"""Parking: blocks that wait in a slot for a deeper level of the epoch.

Up to a limit they wait in memory; the rest goes to a file, as encoded blocks, and comes back in order.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

from spry.runtime.blocks import Block, BlockEncoder

__all__ = ["Parking"]

_LENGTH = struct.Struct("<q")
_OBJECT_BYTES = 100
"""What a live record takes beyond its contents."""


class Parking:
    """The blocks that wait for one level, first in, first out."""

    def __init__(self, limit: int, directory: str | None) -> None:
        self._limit = limit
        self._directory = directory
        self._items: deque[tuple[Block | bytes, int]] = deque()
        self._bytes = 0
        self._file: BinaryIO | None = None
        self._spilled = 0
        self._encoder = BlockEncoder()

    def __len__(self) -> int:
        return len(self._items) + self._spilled

    def put(self, block: Block | bytes, record_bytes: float = 0.0) -> None:
        """Park a block, live or encoded."""
        if isinstance(block, bytes):
            size = len(block)
        else:
            size = int(len(block.values) * (record_bytes * 1.5 + _OBJECT_BYTES))
        if self._file is not None or (self._bytes + size > self._limit and self._items):
            self._spill(block)
        else:
            self._bytes += size
            self._items.append((block, size))

    def _spill(self, block: Block | bytes) -> None:
        if self._file is None:
            handle, path = tempfile.mkstemp(prefix="spry-parked-", dir=self._directory)
            self._file = os.fdopen(handle, "w+b")
            os.unlink(path)
        if not isinstance(block, bytes):
            block = self._encoder.encode(
                block.edge, block.source, block.sequence, block.values, block.timestamps, block.controls
            )
        self._file.write(_LENGTH.pack(len(block)))
        self._file.write(block)
        self._spilled += 1

    def take(self) -> Iterator[Block | bytes]:
        """Take out everything, in order."""
        while self._items:
            item, size = self._items.popleft()
            self._bytes -= size
            yield item
        if self._file is not None:
            file, self._file = self._file, None
            count, self._spilled = self._spilled, 0
            with file:
                file.seek(0)
                for _ in range(count):
                    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
                    yield file.read(length)

    def clear(self) -> None:
        """Forget everything."""
        self._items.clear()
        self._bytes = self._spilled = 0
        if self._file is not None:
            self._file.close()
            self._file = None
