"""Writers: the sending end of an edge. They buffer records per target subtask and cut them into blocks.

A chain's generated code appends straight into a writer's buffers (see :meth:`Writer.generate`); everything that is
per block, not per record, is here.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from typing import Any, Protocol

from spry.common.elements import NO_TIMESTAMP, ControlElement
from spry.common.keys import KeySelection, key_group_of, subtask_of_key_group
from spry.common.partitioning import (
    Broadcast,
    Custom,
    Forward,
    Global,
    KeyGroups,
    Partitioning,
    Rebalance,
    Rescale,
    Shuffle,
    rescale_targets,
)
from spry.common.plan import EdgePlan
from spry.runtime.blocks import Block, BlockEncoder, decode_block
from spry.runtime.codegen import CodeWriter

__all__ = ["Transport", "Writer", "create_writer"]

_BLOCK_BYTES = 256 * 1024
_MIN_RECORDS = 16
_MAX_RECORDS = 16 * 1024
_FIRST_RECORDS = 1024
_LIVE_RECORDS = 2048
_CACHED_ROUTES = 1 << 18


class Transport(Protocol):
    """Carries blocks to their target subtask: within the slot, or through Spark."""

    def is_in_slot(self, edge: EdgePlan, target: int) -> bool:
        """Whether the target subtask lives in this process."""

    def deliver(self, edge: EdgePlan, target: int, block: Block) -> None:
        """Hand a block to a subtask of this slot."""

    def send(self, edge: EdgePlan, target: int, payload: bytes) -> None:
        """Send an encoded block to a subtask of another slot."""


class _Buffer:
    """What waits for one target subtask."""

    __slots__ = ("controls", "in_slot", "sequence", "target", "timestamps", "values")

    def __init__(self, target: int, in_slot: bool) -> None:
        self.target = target
        self.in_slot = in_slot
        self.values: list[Any] = []
        self.timestamps: list[int] = []
        self.controls: list[tuple[int, ControlElement]] = []
        self.sequence = 0


class Writer:
    """The sending end of an edge in one subtask. Subclasses say how records are spread."""

    def __init__(self, edge: EdgePlan, subtask: int, targets: list[int], transport: Transport) -> None:
        self.edge = edge
        self.subtask = subtask
        self.transport = transport
        self.timestamped = False
        self.buffers = [_Buffer(target, transport.is_in_slot(edge, target)) for target in targets]
        self.records = 0
        self._encoder = BlockEncoder()
        self._limit = _FIRST_RECORDS

    def generate(self, g: CodeWriter, value: str, timestamp: str | None) -> None:
        """Write the code that takes in one record."""
        raise NotImplementedError(type(self).__name__)

    def switch_to_timestamps(self) -> None:
        """From now on every record comes with a timestamp; what waits gets the mark for 'none'."""
        self.timestamped = True
        for buffer in self.buffers:
            buffer.timestamps.extend([NO_TIMESTAMP] * (len(buffer.values) - len(buffer.timestamps)))

    def spread(self) -> None:
        """Move records from where the generated code puts them to the targets' buffers."""

    def control(self, element: ControlElement) -> None:
        """A control element goes to every target, behind the records so far."""
        self.spread()
        for buffer in self.buffers:
            buffer.controls.append((len(buffer.values), element))

    def flush(self, everything: bool) -> None:
        """Pass on the blocks that are large enough, or all."""
        self.spread()
        for buffer in self.buffers:
            waiting = len(buffer.values)
            if buffer.in_slot:
                if waiting >= _LIVE_RECORDS or ((waiting or buffer.controls) and (everything or self.edge.local)):
                    self._deliver(buffer)
            elif waiting >= self._limit or (everything and (waiting or buffer.controls)):
                self._send(buffer)

    def _deliver(self, buffer: _Buffer) -> None:
        """Within the slot nothing is pickled: the lists change hands."""
        values, stamps = buffer.values[:], array("q", buffer.timestamps) if self.timestamped else None
        block = Block(self.edge.edge_id, self.subtask, buffer.sequence, values, stamps, buffer.controls)
        self._reset(buffer)
        self.transport.deliver(self.edge, buffer.target, block)

    def _send(self, buffer: _Buffer) -> None:
        payload = self._encode(buffer)
        self._reset(buffer)
        self.transport.send(self.edge, buffer.target, payload)

    def _encode(self, buffer: _Buffer) -> bytes:
        stamps = buffer.timestamps if self.timestamped else None
        values = buffer.values
        payload = self._encoder.encode(
            self.edge.edge_id, self.subtask, buffer.sequence, values, stamps, buffer.controls
        )
        if values:
            self._limit = int(min(_MAX_RECORDS, max(_MIN_RECORDS, _BLOCK_BYTES * len(values) / len(payload))))
        return payload

    def _reset(self, buffer: _Buffer) -> None:
        """Empty the buffer in place: generated code holds on to its lists."""
        self.records += len(buffer.values)
        buffer.values.clear()
        buffer.timestamps.clear()
        buffer.controls = []
        buffer.sequence += 1


class _InboxWriter(Writer):
    """A writer that does not look at the records: they are taken in as a run and spread per block."""

    def __init__(self, edge: EdgePlan, subtask: int, targets: list[int], transport: Transport) -> None:
        super().__init__(edge, subtask, targets, transport)
        self.inbox = self.buffers[0].values if len(targets) == 1 else []
        self.inbox_timestamps = self.buffers[0].timestamps if len(targets) == 1 else []

    def generate(self, g: CodeWriter, value: str, timestamp: str | None) -> None:
        g.line(f"{g.bind(self.inbox.append, 'put')}({value})")
        if timestamp is not None:
            g.line(f"{g.bind(self.inbox_timestamps.append, 'stamp')}({timestamp})")

    def switch_to_timestamps(self) -> None:
        self.spread()
        super().switch_to_timestamps()


class _SingleWriter(_InboxWriter):
    """Forward and global: one target. With global, the other subtasks only learn of time and of the end."""

    def __init__(self, edge: EdgePlan, subtask: int, targets: list[int], transport: Transport) -> None:
        super().__init__(edge, subtask, targets, transport)
        self.inbox = self.buffers[0].values
        self.inbox_timestamps = self.buffers[0].timestamps


class _RoundRobinWriter(_InboxWriter):
    """Rebalance and rescale: each target in turn, going on where the last block ended."""

    def __init__(self, edge: EdgePlan, subtask: int, targets: list[int], transport: Transport) -> None:
        super().__init__(edge, subtask, targets, transport)
        # Subtasks start at different targets, so that short streams spread too.
        self._next = random.Random(f"{edge.edge_id}/{subtask}").randrange(len(targets))

    def spread(self) -> None:
        count, inbox = len(self.buffers), self.inbox
        if count == 1 or not inbox:
            return
        for offset in range(count):
            buffer = self.buffers[(self._next + offset) % count]
            buffer.values.extend(inbox[offset::count])
            if self.timestamped:
                buffer.timestamps.extend(self.inbox_timestamps[offset::count])
        self._next = (self._next + len(inbox)) % count
        inbox.clear()
        self.inbox_timestamps.clear()


class _ShuffleWriter(_InboxWriter):
    """Shuffle: a random target per record."""

    def spread(self) -> None:
        count, inbox = len(self.buffers), self.inbox
        if count == 1 or not inbox:
            return
        choices = random.choices(self.buffers, k=len(inbox))
        for buffer, value in zip(choices, inbox, strict=True):
            buffer.values.append(value)
        if self.timestamped:
            for buffer, stamp in zip(choices, self.inbox_timestamps, strict=True):
                buffer.timestamps.append(stamp)
        inbox.clear()
        self.inbox_timestamps.clear()


class _BroadcastWriter(_InboxWriter):
    """Broadcast: one buffer, encoded once, sent to every target."""

    def __init__(self, edge: EdgePlan, subtask: int, targets: list[int], transport: Transport) -> None:
        super().__init__(edge, subtask, targets, transport)
        self._targets = targets
        self.buffers = [_Buffer(targets[0], False)]
        self.inbox = self.buffers[0].values
        self.inbox_timestamps = self.buffers[0].timestamps

    def _send(self, buffer: _Buffer) -> None:
        payload = self._encode(buffer)
        sequence, count = buffer.sequence, len(buffer.values)
        self._reset(buffer)
        self.records += count * (len(self._targets) - 1)
        for target in self._targets:
            if self.transport.is_in_slot(self.edge, target):
                # Decoded anew, so that no two subtasks share a mutable record.
                block = decode_block(payload)
                block.sequence = sequence
                self.transport.deliver(self.edge, target, block)
            else:
                self.transport.send(self.edge, target, payload)


class _Routes(dict[Any, Any]):
    """Key -> how to append to its target's buffer.

    A plain dict look-up per record, which also hashes the key; only a key's first record pays for checking it and for
    computing its key group. Bounded: past that many keys the rest is computed each time.
    """

    __slots__ = ("_appenders", "_target_of")

    def __init__(self, target_of: Callable[[Any], int], appenders: list[Any]) -> None:
        super().__init__()
        self._target_of = target_of
        self._appenders = appenders

    def __missing__(self, key: Any) -> Any:
        appender = self._appenders[self._target_of(key)]
        if len(self) < _CACHED_ROUTES:
            self[key] = appender
        return appender


class _KeyedWriter(Writer):
    """Key groups: the record goes to the subtask that owns its key."""

    def __init__(
        self,
        edge: EdgePlan,
        subtask: int,
        targets: list[int],
        transport: Transport,
        key: KeySelection,
        max_parallelism: int,
    ) -> None:
        super().__init__(edge, subtask, targets, transport)
        self._key = key.call
        self._check = key.check
        parallelism = len(targets)
        self._owner = [subtask_of_key_group(group, max_parallelism, parallelism) for group in range(max_parallelism)]
        self._max_parallelism = max_parallelism

    def _target_of(self, key: Any) -> int:
        if self._check is not None:
            self._check(key)
        return self._owner[key_group_of(key, self._max_parallelism)]

    def generate(self, g: CodeWriter, value: str, timestamp: str | None) -> None:
        if timestamp is None:
            routes = g.bind(_Routes(self._target_of, [b.values.append for b in self.buffers]), "route")
            g.line(f"{routes}[{g.call(self._key, value, 'key')}]({value})", self._key)
        else:
            pairs = [(b.values.append, b.timestamps.append) for b in self.buffers]
            routes, put, stamp = g.bind(_Routes(self._target_of, pairs), "route"), g.fresh("put"), g.fresh("stamp")
            g.line(f"{put}, {stamp} = {routes}[{g.call(self._key, value, 'key')}]", self._key)
            g.line(f"{put}({value}); {stamp}({timestamp})")


class _CustomWriter(Writer):
    """The user's function names the target."""

    def __init__(
        self, edge: EdgePlan, subtask: int, targets: list[int], transport: Transport, partitioning: Custom
    ) -> None:
        super().__init__(edge, subtask, targets, transport)
        self._partitioning = partitioning

    def _pick(self, value: Any) -> _Buffer:
        count = len(self.buffers)
        target = self._partitioning.partition(self._partitioning.key(value), count)
        if not isinstance(target, int) or not 0 <= target < count:
            raise ValueError(
                f"the partitioner returned {target!r}; it must return an int from 0 to {count - 1} ({count} partitions)"
            )
        return self.buffers[target]

    def generate(self, g: CodeWriter, value: str, timestamp: str | None) -> None:
        pick, buffer = g.bind(self._pick, "pick"), g.fresh("buffer")
        g.line(f"{buffer} = {pick}({value})")
        g.line(f"{buffer}.values.append({value})")
        if timestamp is not None:
            g.line(f"{buffer}.timestamps.append({timestamp})")


_INBOX_WRITERS: dict[type[Partitioning], type[_InboxWriter]] = {
    Forward: _SingleWriter,
    Global: _SingleWriter,
    Rebalance: _RoundRobinWriter,
    Rescale: _RoundRobinWriter,
    Shuffle: _ShuffleWriter,
    Broadcast: _BroadcastWriter,
}


def target_subtasks(
    partitioning: Partitioning, subtask: int, source_parallelism: int, target_parallelism: int
) -> list[int]:
    """The target subtasks that a source subtask has a channel to."""
    if isinstance(partitioning, Forward):
        return [subtask]
    if isinstance(partitioning, Rescale):
        return list(rescale_targets(subtask, source_parallelism, target_parallelism))
    return list(range(target_parallelism))


def create_writer(
    edge: EdgePlan,
    subtask: int,
    source_parallelism: int,
    target_parallelism: int,
    target_max_parallelism: int,
    transport: Transport,
) -> Writer:
    """The writer for an edge."""
    partitioning = edge.partitioning
    targets = target_subtasks(partitioning, subtask, source_parallelism, target_parallelism)
    if isinstance(partitioning, KeyGroups):
        return _KeyedWriter(edge, subtask, targets, transport, partitioning.key, target_max_parallelism)
    if isinstance(partitioning, Custom):
        return _CustomWriter(edge, subtask, targets, transport, partitioning)
    return _INBOX_WRITERS[type(partitioning)](edge, subtask, targets, transport)
