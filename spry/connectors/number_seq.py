"""A source of consecutive numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spry.common.source import (
    Boundedness,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from spry.common.typeinfo import TypeInformation, Types
from spry.connectors.static_splits import SequentialReader, StaticSplitEnumerator, even_ranges

__all__ = ["NumberSequenceSource", "NumberSequenceSplit"]

_LONGS = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True, slots=True)
class NumberSequenceSplit:
    """Numbers that are still to come."""

    id: str
    numbers: range

    def split_id(self) -> str:
        return self.id


class NumberSequenceSource(Source[NumberSequenceSplit, list[NumberSequenceSplit]]):
    """The numbers from ``start`` to ``end``, both included; bounded.

    Every subtask emits a part of the sequence, in order: with a parallelism of one, all of it in order.

    >>> NumberSequenceSource(1, 1000).get_produced_type()
    Long

    :param start: The first number.
    :param end: The last number; not less than ``start``.
    """

    def __init__(self, start: int, end: int) -> None:
        bounds: dict[str, object] = {"start": start, "end": end}
        for name, value in bounds.items():
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"NumberSequenceSource: {name} must be an int, got {value!r} ({type(value).__name__})")
            if value not in _LONGS:
                raise ValueError(f"NumberSequenceSource: {name} must be a number of 64 bits, got {value}")
        if start > end:
            raise ValueError(f"NumberSequenceSource: start must not be greater than end, got {start} and {end}")
        self.start = start
        self.end = end

    def gives_timestamps(self) -> bool:
        return False

    def get_boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def get_produced_type(self) -> TypeInformation:
        return Types.LONG()

    def create_enumerator(
        self, context: SplitEnumeratorContext[NumberSequenceSplit]
    ) -> SplitEnumerator[NumberSequenceSplit, list[NumberSequenceSplit]]:
        parts = even_ranges(range(self.start, self.end + 1), context.current_parallelism())
        return StaticSplitEnumerator(context, [NumberSequenceSplit(str(i), part) for i, part in enumerate(parts)])

    def restore_enumerator(
        self, context: SplitEnumeratorContext[NumberSequenceSplit], checkpoint: list[NumberSequenceSplit]
    ) -> SplitEnumerator[NumberSequenceSplit, list[NumberSequenceSplit]]:
        return StaticSplitEnumerator(context, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[NumberSequenceSplit]:
        return _Reader()


class _Reader(SequentialReader[NumberSequenceSplit]):
    def read(self, split: NumberSequenceSplit, output: ReaderOutput) -> tuple[NumberSequenceSplit | None, bool]:
        # A range knows its numbers without holding them: nothing is copied here.
        output.collect_batch(split.numbers[: output.max_records])
        rest = split.numbers[output.max_records :]
        return (replace(split, numbers=rest) if rest else None), True
