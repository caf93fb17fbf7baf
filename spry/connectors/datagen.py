"""A source of records that a function makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from spry.common.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from spry.common.typeinfo import TypeInformation
from spry.connectors.rate_limiter import RateLimiter, RateLimiterStrategy
from spry.connectors.static_splits import SequentialReader, StaticSplitEnumerator, even_ranges

__all__ = ["DataGeneratorSource", "DataGeneratorSplit", "GeneratorFunction", "RateLimiterStrategy"]

T = TypeVar("T")

_LONG_MAX = (1 << 63) - 1


class GeneratorFunction(ABC, Generic[T]):
    """Makes a record of its index; a class, for generators that need to open something first."""

    def open(self, reader_context: SourceReaderContext) -> None:
        """Called once in every subtask, before the first record."""

    @abstractmethod
    def map(self, value: int) -> T:
        """The record with this index."""

    def close(self) -> None:
        """Called once, at the end, also after a failure."""


@dataclass(frozen=True, slots=True)
class DataGeneratorSplit:
    """Indices that are still to come."""

    id: str
    indices: range

    def split_id(self) -> str:
        return self.id


class DataGeneratorSource(Source[DataGeneratorSplit, list[DataGeneratorSplit]]):
    """Records that a function makes of their indices 0, 1, 2 ..., for tests, demonstrations and load.

    >>> source = DataGeneratorSource(lambda index: f"user-{index % 10}", count=1000, records_per_second=100)
    >>> source.get_boundedness().name
    'BOUNDED'

    Every subtask makes a share of the records, in the order of their indices. After a failure it goes on with
    the index after the last one in the checkpoint, so a function that depends on nothing else makes the same
    records again.

    :param generator_function: A function of the index, or a :class:`GeneratorFunction`.
    :param count: How many records there are; None for a source that never ends.
    :param records_per_second: How many all subtasks together may emit in a second, or a
        :class:`RateLimiterStrategy`; None for as many as possible.
    :param type_info: The type of the records.
    """

    def __init__(
        self,
        generator_function: Callable[[int], Any] | GeneratorFunction[Any],
        count: int | None,
        records_per_second: float | RateLimiterStrategy | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        function: object = generator_function
        if not callable(getattr(function, "map", function)):
            raise TypeError(
                "DataGeneratorSource: generator_function must be a function of the index or a "
                f"GeneratorFunction, got {function!r}"
            )
        number: object = count
        if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
            raise TypeError(f"DataGeneratorSource: count must be an int or None, got {count!r}")
        if count is not None and not 0 <= count <= _LONG_MAX:
            raise ValueError(f"DataGeneratorSource: count must be from 0 to 2**63 - 1, got {count}")
        if records_per_second is None:
            self.rate = RateLimiterStrategy.no_op()
        elif isinstance(records_per_second, RateLimiterStrategy):
            self.rate = records_per_second
        else:
            self.rate = RateLimiterStrategy.per_second(records_per_second)
        self.generator_function = generator_function
        self.count = count
        self.type_info = type_info

    def gives_timestamps(self) -> bool:
        return False

    def get_boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED if self.count is None else Boundedness.BOUNDED

    def get_produced_type(self) -> TypeInformation | None:
        return self.type_info

    def create_enumerator(
        self, context: SplitEnumeratorContext[DataGeneratorSplit]
    ) -> SplitEnumerator[DataGeneratorSplit, list[DataGeneratorSplit]]:
        parallelism = context.current_parallelism()
        if self.count is None:
            # Turn by turn, so that all together have made about the first n at any time.
            shares = [range(subtask, _LONG_MAX, parallelism) for subtask in range(parallelism)]
        else:
            shares = even_ranges(range(self.count), parallelism)
        return StaticSplitEnumerator(context, [DataGeneratorSplit(str(i), share) for i, share in enumerate(shares)])

    def restore_enumerator(
        self, context: SplitEnumeratorContext[DataGeneratorSplit], checkpoint: list[DataGeneratorSplit]
    ) -> SplitEnumerator[DataGeneratorSplit, list[DataGeneratorSplit]]:
        return StaticSplitEnumerator(context, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[DataGeneratorSplit]:
        return _Reader(self, context)


class _Reader(SequentialReader[DataGeneratorSplit]):
    def __init__(self, source: DataGeneratorSource, context: SourceReaderContext) -> None:
        super().__init__()
        function: Any = source.generator_function
        self._function = function
        self._context = context
        self._has_map = callable(getattr(function, "map", None))
        self._make: Callable[[int], Any] = function.map if self._has_map else function
        self._endless = source.count is None
        self._limiter: RateLimiter | None = source.rate.create_rate_limiter(context.current_parallelism())

    def start(self) -> None:
        if self._has_map and hasattr(self._function, "open"):
            self._function.open(self._context)

    def close(self) -> None:
        if self._has_map and hasattr(self._function, "close"):
            self._function.close()

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        status = super().poll_next(output)
        if self._endless:
            # After a change of parallelism a reader may have several splits, and none of them ends.
            self._splits.rotate(-1)
        return status

    def read(self, split: DataGeneratorSplit, output: ReaderOutput) -> tuple[DataGeneratorSplit | None, bool]:
        count, go_on = output.max_records, True
        if self._limiter is not None:
            available = self._limiter.available()
            if available <= count:
                count, go_on = available, False
            if not count:
                return split, False
        indices = split.indices[:count]
        output.collect_batch(list(map(self._make, indices)))
        if self._limiter is not None:
            self._limiter.take(len(indices))
        rest = split.indices[count:]
        return (replace(split, indices=rest) if rest else None), go_on
