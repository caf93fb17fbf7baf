"""What sources share whose splits are all known at the start: an enumerator and the frame of a reader."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import TypeVar

from spry.common.source import (
    InputStatus,
    ReaderOutput,
    SourceReader,
    SourceSplit,
    SplitEnumerator,
    SplitEnumeratorContext,
)

__all__ = ["SequentialReader", "StaticSplitEnumerator", "even_ranges"]

SplitT = TypeVar("SplitT", bound=SourceSplit)


def even_ranges(numbers: range, parts: int) -> list[range]:
    """Cut a range into this many that differ in length by one at most; none is empty.

    >>> even_ranges(range(1, 11), 3)
    [range(1, 5), range(5, 8), range(8, 11)]
    """
    # len() ends at 2**63 - 1, which the whole domain of a long exceeds.
    total = (numbers.stop - numbers.start + numbers.step - 1) // numbers.step if numbers else 0
    size, larger = divmod(total, parts)
    ranges, at = [], numbers.start
    for part in range(min(parts, total)):
        stop = at + (size + (part < larger)) * numbers.step
        ranges.append(range(at, min(stop, numbers.stop), numbers.step))
        at = stop
    return ranges


class StaticSplitEnumerator(SplitEnumerator[SplitT, list[SplitT]]):
    """Gives every reader its share of the splits as soon as it is there, and nothing after that."""

    def __init__(self, context: SplitEnumeratorContext[SplitT], splits: Sequence[SplitT]) -> None:
        self._context = context
        parallelism = context.current_parallelism()
        self._shares = {subtask: list(splits[subtask::parallelism]) for subtask in range(parallelism)}

    def add_reader(self, subtask: int) -> None:
        for split in self._shares.pop(subtask, ()):
            self._context.assign_split(split, subtask)
        self._context.signal_no_more_splits(subtask)

    def handle_split_request(self, subtask: int, requester_host: str | None) -> None:
        self._context.signal_no_more_splits(subtask)

    def add_splits_back(self, splits: list[SplitT], subtask: int) -> None:
        self._shares.setdefault(subtask, []).extend(splits)

    def snapshot_state(self, checkpoint_id: int) -> list[SplitT]:
        return [split for share in self._shares.values() for split in share]


class SequentialReader(SourceReader[SplitT]):
    """Reads one split after the other. Splits are immutable: one that was read further is another."""

    def __init__(self) -> None:
        self._splits: deque[SplitT] = deque()
        self._no_more_splits = False

    @abstractmethod
    def read(self, split: SplitT, output: ReaderOutput) -> tuple[SplitT | None, bool]:
        """Emit a batch; what is left of the split, or None if nothing is, and whether to go on at once."""

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        if self._splits:
            rest, go_on = self.read(self._splits[0], output)
            if rest is None:
                self._splits.popleft()
            else:
                self._splits[0] = rest
                return InputStatus.MORE_AVAILABLE if go_on else InputStatus.NOTHING_AVAILABLE
        if self._splits:
            return InputStatus.MORE_AVAILABLE
        return InputStatus.END_OF_INPUT if self._no_more_splits else InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: list[SplitT]) -> None:
        self._splits.extend(splits)

    def notify_no_more_splits(self) -> None:
        self._no_more_splits = True

    def snapshot_state(self, checkpoint_id: int) -> list[SplitT]:
        return list(self._splits)
