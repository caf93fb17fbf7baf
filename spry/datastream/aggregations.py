"""Aggregations of one field, rolling or per window: sum, min, max, min_by, max_by.

Each is a reduce function of two records. ``sum``, ``min`` and ``max`` change only the field, in a copy of the first
record; ``min_by`` and ``max_by`` keep the whole record that has the extreme.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import date, time, timedelta
from numbers import Number
from operator import add, gt, lt
from typing import TYPE_CHECKING, Any

from spry.common.keys import field_getter
from spry.common.types import Row

if TYPE_CHECKING:
    from spry.datastream.data_stream import DataStream

__all__ = ["FieldAggregations"]

_PLAIN = (Number, str, date, time, timedelta)
"""Values without fields: what a stream of them has is field 0."""


class FieldAggregations(ABC):
    """The aggregations of a keyed stream, where they are rolling, and of a windowed one, where they are per window."""

    @abstractmethod
    def _aggregate_field(self, name: str, field: int | str, fold: Callable[[Any, Any], Any]) -> DataStream:
        """The stream of the records that the fold makes of pairs of records."""

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """The sum of a field; the other fields are those of the first record of the key or window."""
        return self._aggregate_field("sum", position_to_sum, FieldFold("sum", position_to_sum, add))

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """The minimum of a field; the other fields are those of the first record of the key or window."""
        return self._aggregate_field("min", position_to_min, FieldFold("min", position_to_min, min))

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """The maximum of a field; the other fields are those of the first record of the key or window."""
        return self._aggregate_field("max", position_to_max, FieldFold("max", position_to_max, max))

    def min_by(self, position_to_min_by: int | str = 0, first: bool = True) -> DataStream:
        """The record with the smallest field; of equals the first, or the last."""
        fold = ExtremeBy("min_by", position_to_min_by, True, first)
        return self._aggregate_field("min_by", position_to_min_by, fold)

    def max_by(self, position_to_max_by: int | str = 0, first: bool = True) -> DataStream:
        """The record with the largest field; of equals the first, or the last."""
        fold = ExtremeBy("max_by", position_to_max_by, False, first)
        return self._aggregate_field("max_by", position_to_max_by, fold)


class FieldFold:
    """Folds one field of the new record into the kept one.

    >>> FieldFold("sum", 1, lambda a, b: a + b)(("a", 1, "x"), ("a", 2, "y"))
    ('a', 3, 'x')
    """

    fresh_results = True
    """The result is a new record (or the kept one as it was): nobody changes it later."""

    def __init__(self, name: str, field: int | str, fold: Callable[[Any, Any], Any]) -> None:
        self._name = name
        self._field = field
        self._get = field_getter(field)
        self._fold = fold

    def __call__(self, kept: Any, new: Any) -> Any:
        if kept.__class__ is tuple:
            index: Any = self._field
            try:
                return (*kept[:index], self._fold(kept[index], new[index]), *kept[index + 1 :])
            except (TypeError, IndexError) as error:
                raise self._error(kept, error) from None
        return self._general(kept, new)

    def _general(self, kept: Any, new: Any) -> Any:
        if isinstance(kept, _PLAIN) and self._field == 0:
            return self._fold(kept, new)  # A stream of plain values has one field.
        try:
            result = self._fold(self._get(kept), self._get(new))
        except (TypeError, IndexError, KeyError, AttributeError) as error:
            raise self._error(kept, error) from None
        return _replaced(kept, self._field, result)

    def _error(self, kept: Any, error: Exception) -> TypeError:
        return TypeError(f"{self._name}({self._field!r}) cannot be taken of {kept!r}: {error}")


class ExtremeBy:
    """Keeps the record with the smallest or largest field; of equals, the first (or the last)."""

    fresh_results = True

    def __init__(self, name: str, field: int | str, smallest: bool, first: bool) -> None:
        self._name = name
        self._field = field
        self._get = field_getter(field)
        self._better = lt if smallest else gt
        self._first = first

    def __call__(self, kept: Any, new: Any) -> Any:
        try:
            old, candidate = self._value(kept), self._value(new)
            if self._better(candidate, old) or (not self._first and candidate == old):
                return new
        except (TypeError, IndexError, KeyError, AttributeError) as error:
            raise TypeError(f"{self._name}({self._field!r}) cannot be taken of {kept!r}: {error}") from None
        return kept

    def _value(self, record: Any) -> Any:
        if isinstance(record, _PLAIN) and self._field == 0:
            return record
        return self._get(record)


def _replaced(record: Any, field: int | str, value: Any) -> Any:
    """A copy of the record with one field replaced."""
    if isinstance(record, tuple) and hasattr(record, "_replace"):
        name = field if isinstance(field, str) else record._fields[field]  # type: ignore[attr-defined]
        return record._replace(**{name: value})
    result = copy.copy(record)
    if isinstance(record, Row | list | dict):
        result[field] = value
    else:
        name = field if isinstance(field, str) else list(record.__dataclass_fields__)[field]
        object.__setattr__(result, name, value)
    return result
