"""The input gate of a subtask: its channels, their order, and the watermark and end they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field

from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP, ControlElement, EndOfInput, Watermark, WatermarkStatus
from spry.runtime.blocks import Block

__all__ = ["InputGate"]


@dataclass(slots=True)
class _Channel:
    """One source subtask of one edge."""

    sequence: int = 0
    watermark: int = MIN_TIMESTAMP
    idle: bool = False
    ended: bool = False
    waiting: dict[int, Block] = field(default_factory=dict)
    """Blocks that came before their turn."""


class InputGate:
    """Takes in blocks channel by channel and says what the control elements in them amount to.

    The gate's watermark is the smallest of its active channels', and never goes back. It is idle when all channels
    are; it has ended when all have.
    """

    def __init__(self, channels: list[tuple[int, int]]) -> None:
        self._channels = {channel: _Channel() for channel in channels}
        self.watermark = MIN_TIMESTAMP
        self.idle = False

    def restore(self, watermark: int, idle: bool) -> None:
        """Go on from a checkpoint: nothing before this watermark comes again."""
        self.watermark = watermark
        self.idle = idle
        for channel in self._channels.values():
            channel.watermark = watermark
            channel.idle = idle

    @property
    def ended(self) -> bool:
        """Whether every channel has ended."""
        return all(channel.ended for channel in self._channels.values())

    def in_order(self, block: Block) -> list[Block]:
        """The blocks whose turn it now is: none, this one, or this one and those that waited for it."""
        channel = self._channels[(block.edge, block.source)]
        if block.sequence != channel.sequence:
            channel.waiting[block.sequence] = block
            return []
        channel.sequence += 1
        if not channel.waiting:
            return [block]
        ready = [block]
        while (following := channel.waiting.pop(channel.sequence, None)) is not None:
            ready.append(following)
            channel.sequence += 1
        return ready

    def missing(self) -> str | None:
        """Names a channel that lost a block, which must not happen at the end of an epoch."""
        for (edge, source), channel in self._channels.items():
            if channel.waiting:
                return f"edge {edge}, source subtask {source}: block {channel.sequence} is missing"
        return None

    def control(self, edge: int, source: int, element: ControlElement) -> list[ControlElement]:
        """What the gate as a whole says, now that one channel has said this."""
        channel = self._channels[(edge, source)]
        if isinstance(element, Watermark):
            if element.timestamp <= channel.watermark:
                return []
            channel.watermark = element.timestamp
            return self._advance() if not channel.idle else []
        if isinstance(element, WatermarkStatus):
            channel.idle = element.idle
            return self._status()
        if isinstance(element, EndOfInput):
            channel.ended = True
            channel.watermark = MAX_WATERMARK
            return self._status()
        return []

    def _status(self) -> list[ControlElement]:
        idle = all(channel.idle for channel in self._channels.values() if not channel.ended) and not self.ended
        out: list[ControlElement] = []
        if idle != self.idle and not idle:
            self.idle = False
            out.append(WatermarkStatus(False))
        out.extend(self._advance())
        if idle != self.idle:
            self.idle = True
            out.append(WatermarkStatus(True))
        return out

    def _advance(self) -> list[ControlElement]:
        marks = [channel.watermark for channel in self._channels.values() if not channel.idle]
        if not marks:
            # All are idle: what any of them has reached holds.
            marks = [max(channel.watermark for channel in self._channels.values())]
        lowest = min(marks)
        if lowest <= self.watermark:
            return []
        self.watermark = lowest
        return [Watermark(lowest)]
