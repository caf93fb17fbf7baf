"""State values as bytes, so that a program whose classes have changed can still read them.

Values are pickled, with three exceptions: dataclasses and named tuples are written with the names of their fields, and
rows with a declared type are fitted to it. So fields may be added, if they have a default, and removed. What classes
looked like is noted beside the values; a field whose type has changed is an error, not a surprise later on.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import cloudpickle

from spry.common.errors import CheckpointError, StateMigrationError
from spry.common.state import MapStateDescriptor, StateDescriptor
from spry.common.typeinfo import RowTypeInfo
from spry.common.types import Row, make_row, share_names
from spry.runtime.state.meta import StateKind

__all__ = ["StateEncoder", "adapt_rows", "check_classes", "decode_shown", "decode_state"]

_PREFIXES = re.compile(r"\b(?:\w+|<locals>)\.|['\"\s]")
"""In an annotation: the modules and classes that names are in, quotes and blanks."""

Classes = dict[str, dict[str, str]]
"""A class's module and name -> its fields, with their annotations."""


class StateEncoder:
    """Turns state into bytes, and notes the classes in it."""

    def __init__(self) -> None:
        self.classes: Classes = {}
        self._seen: dict[type, bool] = {}

    def encode(self, value: Any) -> bytes:
        """The value as bytes; :class:`CheckpointError` if it cannot be pickled."""
        buffer = io.BytesIO()
        try:
            _Pickler(buffer, self).dump(value)
            return buffer.getvalue()
        except Exception:
            pass
        try:
            payload: bytes = cloudpickle.dumps(value, 5)  # Instances of classes that are defined inside a function.
            return payload
        except Exception as error:
            raise CheckpointError(f"it cannot be pickled: {type(error).__name__}: {error}") from None

    def by_fields(self, cls: type) -> bool:
        """Whether instances of the class are written field by field."""
        known = self._seen.get(cls)
        if known is None:
            known = self._seen[cls] = _is_plain(cls)
            if known:
                self.classes[f"{cls.__module__}:{cls.__qualname__}"] = _annotations(cls)
        return known


def _is_plain(cls: Any) -> bool:
    """Whether it is a dataclass or named tuple that does not say itself how it is pickled."""
    if cls.__reduce__ is not object.__reduce__ or cls.__reduce_ex__ is not object.__reduce_ex__:
        return False
    if "<locals>" in cls.__qualname__:
        return False
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields") and cls.__new__.__module__.startswith("namedtuple_")
    if not dataclasses.is_dataclass(cls):
        return False
    getstate = getattr(cls, "__getstate__", None)
    own = getattr(getstate, "__name__", "") not in ("__getstate__", "_dataclass_getstate")
    return not own and (
        getstate is getattr(object, "__getstate__", None) or getattr(getstate, "__name__", "") == "_dataclass_getstate"
    )


def _annotations(cls: Any) -> dict[str, str]:
    if dataclasses.is_dataclass(cls):
        given = {field.name: field.type for field in dataclasses.fields(cls)}
    else:
        hints = getattr(cls, "__annotations__", {})
        given = {name: hints.get(name, "") for name in cls._fields}
    return {name: _annotation(hint) for name, hint in given.items()}


def _annotation(hint: Any) -> str:
    """An annotation as text, whether it is evaluated or not, and however its names are imported."""
    text = hint if isinstance(hint, str) else hint.__qualname__ if isinstance(hint, type) else str(hint)
    return _PREFIXES.sub("", text)


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, encoder: StateEncoder) -> None:
        super().__init__(buffer, 5)
        self._encoder = encoder

    def reducer_override(self, value: Any) -> Any:
        # Asked for what is neither a number, a text nor a container of Python's own.
        cls = type(value)
        if cls is type or not self._encoder.by_fields(cls):
            return NotImplemented
        if issubclass(cls, tuple):
            return _named_tuple, (cls, cls._fields, tuple(value))  # type: ignore[attr-defined]
        names = [field.name for field in dataclasses.fields(value)]
        present = tuple([name for name in names if hasattr(value, name)])
        state = (present, tuple([getattr(value, name) for name in present]), _extras(value, names))
        return _blank, (cls,), state, None, None, _fill


def _extras(value: Any, names: list[str]) -> dict[str, Any] | None:
    """What an instance holds that is no field."""
    known = getattr(value, "__dict__", None)
    if not known or (len(known) <= len(names) and all(name in names for name in known)):
        return None
    return {name: held for name, held in known.items() if name not in names}


def _blank(cls: Any) -> Any:
    return cls.__new__(cls)


def _fill(value: Any, state: tuple[tuple[str, ...], tuple[Any, ...], dict[str, Any] | None]) -> None:
    names, values, extras = state
    fields = type(value).__dataclass_fields__
    held = dict(zip(names, values, strict=True))
    if extras:
        held.update(extras)
    if len(fields) != len(names) or any(name not in fields for name in names):
        for name in names:
            if name not in fields:
                del held[name]
        for name, field in fields.items():
            if name not in held and field._field_type is dataclasses._FIELD:  # type: ignore[attr-defined]
                held[name] = _default(type(value), field)
    for name, one in held.items():
        object.__setattr__(value, name, one)


def _default(cls: type, field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    raise StateMigrationError(
        f"class {cls.__qualname__} has a new field '{field.name}' that the state in the checkpoint does not have: "
        "give the field a default"
    )


def _named_tuple(cls: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    if cls._fields == names:
        return tuple.__new__(cls, values)
    held = {name: value for name, value in zip(names, values, strict=True) if name in cls._fields}
    missing = [name for name in cls._fields if name not in held and name not in cls._field_defaults]
    if missing:
        raise StateMigrationError(
            f"class {cls.__qualname__} has a new field '{missing[0]}' that the state in the checkpoint does not have: "
            "give the field a default"
        )
    return cls(**held)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return super().find_class(module, name)
        except (ImportError, AttributeError) as error:
            raise StateMigrationError(
                f"the state holds objects of {module}.{name}, which is not there now ({error}): "
                "bring the class back where it was"
            ) from None


def decode_state(payload: bytes) -> Any:
    """What :meth:`StateEncoder.encode` was given."""
    return _Unpickler(io.BytesIO(payload)).load()


def check_classes(where: str, classes: Classes) -> None:
    """Compare classes as they were with what they are now; an incompatible change is a :class:`StateMigrationError`."""
    for path, before in classes.items():
        module, _, qualname = path.partition(":")
        try:
            found: Any = import_module(module)
        except Exception:
            continue  # Decoding says so if that matters.
        for part in qualname.split("."):
            found = getattr(found, part, None)
        if not isinstance(found, type) or not (dataclasses.is_dataclass(found) or hasattr(found, "_fields")):
            continue
        now = _annotations(found)
        for name, text in before.items():
            if name in now and now[name] != text:
                raise StateMigrationError(
                    f"{where}: field '{name}' of class {qualname} was {text or 'untyped'} in the checkpoint and is "
                    f"{now[name] or 'untyped'} now: give the field another name, or the state"
                )


# Rows


def adapt_rows(
    where: str, before: Any, now: Any, descriptor: StateDescriptor, kind: StateKind, ttl: bool
) -> Callable[[Any], Any] | None:
    """How values of a state become values of the type that is declared now; None if they are that already.

    Types that do not fit are a :class:`StateMigrationError`.
    """
    if isinstance(descriptor, MapStateDescriptor):
        if isinstance(before, dict) and "key" in before:
            _compare(where, before["key"], now["key"] if isinstance(now, dict) and "key" in now else None)
            before = before["value"]
        if isinstance(now, dict) and "key" in now:
            now = now["value"]
    _compare(where, before, now)
    fit = _row_fitter(before, descriptor.type_info)
    if fit is None:
        return None
    one = (lambda value: (fit(value[0]), value[1])) if ttl else fit
    if kind is StateKind.LIST:
        return lambda values: [one(value) for value in values]
    if kind is StateKind.MAP:
        return lambda entries: {key: one(value) for key, value in entries.items()}
    return one


def _row_fitter(before: Any, type_info: Any) -> Callable[[Any], Any] | None:
    """How rows that had these fields become rows of a type; None if they are that already, or no rows."""
    if not isinstance(type_info, RowTypeInfo) or not isinstance(before, dict):
        return None
    known: dict[str, Any] = before["row"]
    names = share_names(tuple(type_info.get_field_names()))
    types = zip(names, type_info.get_field_types(), strict=True)
    inner = {name: fit for name, kind in types if (fit := _row_fitter(known.get(name), kind)) is not None}
    if list(known) == list(names) and not inner:
        return None

    def fit_row(value: Any) -> Any:
        if not isinstance(value, Row):
            return value
        held = dict(zip(value.get_field_names() or list(known), value._values, strict=False))
        for name, fit in inner.items():
            held[name] = fit(held.get(name))
        return make_row(names, [held.get(name) for name in names], value.get_row_kind())

    return fit_row


def _compare(where: str, before: Any, now: Any) -> None:
    if before is None or now is None or before == now:
        return
    if isinstance(before, dict) and isinstance(now, dict):
        for name, inner in before["row"].items():
            if name in now["row"]:
                _compare(f"{where}, field '{name}'", inner, now["row"][name])
        return
    if _is_class(before) and _is_class(now):
        return  # Fields are compared one by one.
    raise StateMigrationError(
        f"{where}: its type was {_shown(before)} in the checkpoint and is {_shown(now)} now: "
        "keep the type, or give the state another name"
    )


def _is_class(text: Any) -> bool:
    return isinstance(text, str) and text.startswith("Pojo")


def _shown(text: Any) -> str:
    return f"Row of {', '.join(text['row'])}" if isinstance(text, dict) else str(text)


# For people


class _Shown:
    """Stands for an object whose class is not there."""

    _shown_class = "?"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = object.__new__(cls)
        made.__dict__["_shown"] = args
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.__dict__["_shown"] = (state,)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        held = self.__dict__
        fields = [f"{name}={value!r}" for name, value in held.items() if name != "_shown"]
        return f"{self._shown_class}({', '.join([*map(repr, held.get('_shown', ())), *fields])})"


def _stand_in(module: str, name: str) -> type:
    return type(name.rpartition(".")[2], (_Shown,), {"_shown_class": name})


def _show_named_tuple(cls: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    if not issubclass(cls, _Shown):
        return _named_tuple(cls, names, values)
    made = _blank(cls)
    made.__dict__.update(zip(names, values, strict=True))
    return made


def _show_fill(value: Any, state: tuple[tuple[str, ...], tuple[Any, ...], dict[str, Any] | None]) -> None:
    if not isinstance(value, _Shown):
        _fill(value, state)
        return
    value.__dict__.update(zip(state[0], state[1], strict=True))
    value.__dict__.update(state[2] or {})


class _ShowingUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == __name__ and name in ("_blank", "_fill", "_named_tuple"):
            return {"_blank": _blank, "_fill": _show_fill, "_named_tuple": _show_named_tuple}[name]
        if module.partition(".")[0] in _SAFE_MODULES:
            return super().find_class(module, name)
        return _stand_in(module, name)


_SAFE_MODULES = frozenset(
    {"spry", "builtins", "collections", "datetime", "decimal", "array", "copyreg", "uuid", "fractions", "enum"}
)


def decode_shown(payload: bytes) -> Any:
    """State for people to read: objects of the program's own classes are shown by their fields."""
    return _ShowingUnpickler(io.BytesIO(payload)).load()
