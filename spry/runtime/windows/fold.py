"""What a window keeps of its elements: all of them, or one value that they are folded into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from spry.common.optional_methods import has_method
from spry.common.type_checks import compile_enforcer
from spry.common.typeinfo import TypeInformation
from spry.runtime.blocks import detach
from spry.runtime.codegen import CodeWriter
from spry.runtime.operators.base import user_method

__all__ = ["Fold", "create_fold"]


class Fold(ABC):
    """How elements become a window's contents. The contents may change when an element is added."""

    can_merge = True
    """Whether the contents of two windows can become those of one."""

    @abstractmethod
    def first(self, value: Any) -> Any:
        """The contents of a window with one element."""

    @abstractmethod
    def add(self, contents: Any, value: Any) -> Any:
        """The contents with one more element."""

    @abstractmethod
    def merge(self, one: Any, other: Any) -> Any:
        """The contents of two windows as those of one; both are given up."""

    def result(self, contents: Any) -> Any:
        """What the contents amount to."""
        return contents

    def copy(self, contents: Any) -> Any:
        """Contents that can be given up, while the original stays as it is."""
        return detach(contents)

    # The same as code, for generated loops.

    def write_first(self, g: CodeWriter, value: str) -> str:
        """The expression for ``first``."""
        return f"{g.bind(self.first, 'first')}({value})"

    def write_add(self, g: CodeWriter, place: str, value: str) -> str:
        """The statement that adds the value to the contents at a place (a variable, attribute or item)."""
        return f"{place} = {g.bind(self.add, 'add')}({place}, {value})"


class _Elements(Fold):
    """All elements, in a list."""

    def first(self, value: Any) -> Any:
        return [value]

    def add(self, contents: Any, value: Any) -> Any:
        contents.append(value)
        return contents

    def merge(self, one: Any, other: Any) -> Any:
        one.extend(other)
        return one

    def copy(self, contents: Any) -> Any:
        return contents[:]

    def write_first(self, g: CodeWriter, value: str) -> str:
        return f"[{value}]"

    def write_add(self, g: CodeWriter, place: str, value: str) -> str:
        return f"{place}.append({value})"


class _Reduction(Fold):
    """The elements reduced to one of their kind."""

    def __init__(self, function: Any, row_type: TypeInformation | None) -> None:
        reduce = user_method(function, "reduce")
        enforce = compile_enforcer(row_type) if row_type is not None else None
        # A row that is given without names gets those of its type, as the function expects them next time.
        self._reduce: Callable[[Any, Any], Any] = (
            reduce if enforce is None else lambda one, other: enforce(reduce(one, other))
        )

    def first(self, value: Any) -> Any:
        return value

    def add(self, contents: Any, value: Any) -> Any:
        return self._reduce(contents, value)

    def merge(self, one: Any, other: Any) -> Any:
        return self._reduce(one, other)

    def write_first(self, g: CodeWriter, value: str) -> str:
        return value

    def write_add(self, g: CodeWriter, place: str, value: str) -> str:
        return f"{place} = {g.bind(self._reduce, 'reduce')}({place}, {value})"


class _Aggregation(Fold):
    """The elements in the accumulator of an AggregateFunction."""

    def __init__(self, function: Any) -> None:
        self._create = function.create_accumulator
        self._add = function.add
        self._merge = function.merge if has_method(function, "merge") else None
        self.result = function.get_result  # type: ignore[method-assign]
        self.can_merge = self._merge is not None

    def first(self, value: Any) -> Any:
        return self._add(value, self._create())

    def add(self, contents: Any, value: Any) -> Any:
        return self._add(value, contents)

    def merge(self, one: Any, other: Any) -> Any:
        assert self._merge is not None
        return self._merge(one, other)

    def write_first(self, g: CodeWriter, value: str) -> str:
        return f"{g.bind(self._add, 'add')}({value}, {g.bind(self._create, 'create')}())"

    def write_add(self, g: CodeWriter, place: str, value: str) -> str:
        return f"{place} = {g.bind(self._add, 'add')}({value}, {place})"


def create_fold(aggregation: Any, row_type: TypeInformation | None = None) -> Fold:
    """The fold for what a window operator's description says: None, a reduce function or an AggregateFunction."""
    if aggregation is None:
        return _Elements()
    if hasattr(aggregation, "create_accumulator"):
        return _Aggregation(aggregation)
    return _Reduction(aggregation, row_type)
