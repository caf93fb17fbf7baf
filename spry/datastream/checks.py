"""Checks of what users pass to the API; errors are raised where the mistake is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spry.common.keys import KeySelection
from spry.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from spry.datastream.functions import Function, KeySelector

__all__ = ["as_key", "as_row_type", "as_type", "check_field", "checked_function", "sets_timers"]


def checked_function(function: Any, base: type, where: str) -> None:
    """Raise unless it is a function of the right kind: an instance of the base class, or a plain callable."""
    method = {name for name in vars(base) if not name.startswith("_")} - {"open", "close", "finish", "Context"}
    if isinstance(function, type):
        # A class is a callable, too: map(str), filter(bool), map(Event). One that has the method is a mistake.
        if issubclass(function, Function) or any(hasattr(function, name) for name in method):
            name = function.__name__
            raise TypeError(f"{where} takes an instance, not the class {name}: write {name}()")
        return
    if isinstance(function, base) or any(hasattr(function, name) for name in method):
        return
    if isinstance(function, Function):
        raise TypeError(f"{where} takes a {base.__name__}, not a {type(function).__name__}")
    if not callable(function):
        raise TypeError(f"{where} takes a function or a {base.__name__}, not {function!r}")


def as_type(type_info: Any, where: str) -> TypeInformation | None:
    """The declared type; a list of types stands for a row of these."""
    if type_info is None or isinstance(type_info, TypeInformation):
        return type_info
    if isinstance(type_info, list):
        return RowTypeInfo(type_info)
    raise TypeError(f"{where}: the output type must be a type such as Types.INT(), not {type_info!r}")


def as_row_type(type_info: TypeInformation | None) -> TypeInformation | None:
    """The type if it is one of rows: a function over them may give rows without the names that they need."""
    return type_info if isinstance(type_info, RowTypeInfo) else None


def check_field(where: str, field: int | str, given: TypeInformation | None) -> None:
    """Raise if the stream's type is declared and has no such field."""
    if not isinstance(given, TupleTypeInfo | RowTypeInfo):
        return
    names = given.get_field_names() if isinstance(given, RowTypeInfo) else []
    if (isinstance(field, int) and field >= len(given.get_field_types())) or (
        isinstance(field, str) and names and field not in names
    ):
        raise ValueError(f"{where}({field!r}): the stream's type {given} has no such field")


def as_key(selector: Callable[[Any], Any] | KeySelector | int | str, more: tuple[int | str, ...]) -> KeySelection:
    """The key selection for whatever the user gave."""
    if isinstance(selector, KeySelector):
        return KeySelection.of_selector(selector)
    if isinstance(selector, int | str) and not isinstance(selector, bool):
        return KeySelection.of_fields((selector, *more))
    if more:
        raise TypeError("key_by takes either one selector function or field indexes and names, not both")
    if not callable(selector) or (isinstance(selector, type) and hasattr(selector, "get_key")):
        raise TypeError(
            f"a key is selected by a function, a KeySelector, a field index or a field name, not {selector!r}"
        )
    if hasattr(selector, "get_key"):
        return KeySelection.of_selector(selector)
    return KeySelection.of_callable(selector)


_TIMER_METHODS = {"register_event_time_timer", "register_processing_time_timer"}


def sets_timers(function: Callable[..., Any]) -> bool:
    """Whether a function certainly sets timers: it calls the timer service's methods by their names."""
    code = getattr(function, "__code__", None)
    return code is not None and bool(_TIMER_METHODS & set(code.co_names))
