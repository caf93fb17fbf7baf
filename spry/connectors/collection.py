"""A source of elements that the program holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spry.common.source import (
    Boundedness,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from spry.connectors.static_splits import SequentialReader, StaticSplitEnumerator

__all__ = ["CollectionSource", "CollectionSplit"]


@dataclass(frozen=True, slots=True)
class CollectionSplit:
    """All elements from an offset on."""

    offset: int = 0

    def split_id(self) -> str:
        return "collection"


class CollectionSource(Source[CollectionSplit, list[CollectionSplit]]):
    """The elements of a collection, in their order; it is bounded and runs in one subtask.

    >>> CollectionSource(["to", "be"]).elements
    ['to', 'be']

    :param elements: Any iterable that ends. It is read once, here; later changes to it have no effect.
    """

    def __init__(self, elements: Iterable[Any]) -> None:
        self.elements: list[Any] = list(elements)

    def gives_timestamps(self) -> bool:
        return False

    def get_boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def default_parallelism(self) -> int | None:
        return 1

    def create_enumerator(
        self, context: SplitEnumeratorContext[CollectionSplit]
    ) -> SplitEnumerator[CollectionSplit, list[CollectionSplit]]:
        return StaticSplitEnumerator(context, [CollectionSplit()])

    def restore_enumerator(
        self, context: SplitEnumeratorContext[CollectionSplit], checkpoint: list[CollectionSplit]
    ) -> SplitEnumerator[CollectionSplit, list[CollectionSplit]]:
        return StaticSplitEnumerator(context, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[CollectionSplit]:
        return _Reader(self.elements)


class _Reader(SequentialReader[CollectionSplit]):
    def __init__(self, elements: list[Any]) -> None:
        super().__init__()
        self._elements = elements

    def read(self, split: CollectionSplit, output: ReaderOutput) -> tuple[CollectionSplit | None, bool]:
        batch = self._elements[split.offset : split.offset + output.max_records]
        output.collect_batch(batch)
        offset = split.offset + len(batch)
        return (CollectionSplit(offset) if offset < len(self._elements) else None), True
