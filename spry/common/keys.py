"""Keys: how a key is taken from a record, how it is hashed, and which subtask owns it.

A key belongs to a *key group*, ``stable_hash(key) mod max_parallelism``; a contiguous range of key groups belongs to
a subtask. The hash is equal in all slots: PySpark fixes ``PYTHONHASHSEED``, and what Python hashes by identity
(None, plain objects) is either given a fixed hash here or refused.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from spry.common.errors import InvalidKeyError
from spry.common.type_checks import TypeMismatch, compile_enforcer
from spry.common.typeinfo import BasicType, BasicTypeInfo, PickledBytesTypeInfo, TypeInformation
from spry.common.types import Row, values_by_name

__all__ = [
    "KeySelection",
    "field_getter",
    "key_group_of",
    "key_group_range",
    "stable_hash",
    "subtask_of_key_group",
]

_NUMBERS = (int, float, bool, complex)
_MIX = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


class KeySelection:
    """A key selector, as the user gave it (callable, KeySelector or fields), ready to be called.

    >>> KeySelection.of_fields((0,))(("a", 1))
    'a'
    >>> KeySelection.of_fields((0, 1))(("a", 1))
    ('a', 1)
    """

    __slots__ = ("call", "check", "description", "function")

    def __init__(
        self,
        call: Callable[[Any], Any],
        description: str,
        function: Any = None,
        check: Callable[[Any], Any] | None = None,
    ) -> None:
        self.call = call
        self.description = description
        self.check = check
        """Raises if a key is not of the declared type; asked for a key's first record."""
        self.function = function
        """The user's KeySelector, which is opened and closed; None if a plain function or fields were given."""

    @staticmethod
    def of_selector(selector: Any) -> KeySelection:
        return KeySelection(selector.get_key, type(selector).__name__, selector)

    @staticmethod
    def of_callable(function: Callable[[Any], Any]) -> KeySelection:
        return KeySelection(function, getattr(function, "__name__", type(function).__name__))

    @staticmethod
    def of_fields(fields: tuple[int | str, ...]) -> KeySelection:
        getters = [field_getter(field) for field in fields]
        description = ", ".join(str(field) for field in fields)
        if len(getters) == 1:
            return KeySelection(getters[0], description)
        if all(isinstance(field, int) for field in fields):
            return KeySelection(itemgetter(*fields), description)
        return KeySelection(_Composite(getters), description)

    def of_type(self, key_type: TypeInformation | None) -> KeySelection:
        """The same selection, held to the type that was declared for its keys."""
        if key_type is None or isinstance(key_type, PickledBytesTypeInfo):
            return self
        if isinstance(key_type, BasicTypeInfo) and key_type.basic_type in _EQUAL_IN_ANY_FORM:
            return KeySelection(self.call, self.description, self.function, _OfType(_itself, key_type))
        return KeySelection(_OfType(self.call, key_type), self.description, self.function)

    def __call__(self, value: Any) -> Any:
        return self.call(value)


_EQUAL_IN_ANY_FORM = (
    BasicType.STRING,
    BasicType.BYTE,
    BasicType.SHORT,
    BasicType.INT,
    BasicType.LONG,
    BasicType.BIG_INT,
)
"""What fits one of these is equal to the form that it is brought into: it is enough to look at a key's first record."""


def _itself(key: Any) -> Any:
    return key


class _OfType:
    """A selector whose keys are brought into the form of a type."""

    __slots__ = ("_enforce", "_select", "_type")

    def __init__(self, select: Callable[[Any], Any], key_type: TypeInformation) -> None:
        self._select = select
        self._type = key_type
        self._enforce = compile_enforcer(key_type) or _itself

    def __call__(self, value: Any) -> Any:
        key = self._select(value)
        try:
            return self._enforce(key)
        except TypeMismatch as error:
            raise InvalidKeyError(f"the key is not of the type that key_by declares: {error}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return _OfType, (self._select, self._type)


class _Composite:
    """A key of several fields."""

    __slots__ = ("getters",)

    def __init__(self, getters: list[Callable[[Any], Any]]) -> None:
        self.getters = getters

    def __call__(self, value: Any) -> tuple[Any, ...]:
        return tuple([getter(value) for getter in self.getters])


class _NamedField:
    """A field by name: of a dict, or of anything with attributes (Row, dataclass, named tuple)."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, value: Any) -> Any:
        if value.__class__ is dict:
            return value[self.name]
        return getattr(value, self.name)


def field_getter(field: int | str) -> Callable[[Any], Any]:
    """A callable that takes the field, by index or by name, from a record."""
    if isinstance(field, bool) or not isinstance(field, int | str):
        raise TypeError(f"a field is an index or a name, not {field!r}")
    if isinstance(field, int):
        if field < 0:
            raise ValueError(f"a field index cannot be negative: {field}")
        # Written out, not closed over, so that it can be inlined (see spry.runtime.inlining).
        getter: Callable[[Any], Any] = eval(compile(f"lambda record: record[{field}]", "<spry field>", "eval"))
        return getter
    return _NamedField(field)


def stable_hash(key: Any) -> int:
    """A hash that is the same in every slot, mixed so that any run of keys spreads over the key groups.

    Raises :class:`InvalidKeyError` for keys that have no such hash.
    """
    value = _raw_hash(key) * _MIX & _MASK
    return value >> 32


def _raw_hash(key: Any) -> int:
    cls = key.__class__
    if cls is str or cls is int or cls is bytes:
        return hash(key)
    if key is None:
        return 0x6E6F6E65
    if isinstance(key, _NUMBERS):
        if key != key:
            raise _unequal(key)
        return hash(key)
    if isinstance(key, tuple) and cls.__hash__ is tuple.__hash__:
        value = 0x345678
        for element in key:
            value = (value * 1000003 ^ _raw_hash(element)) & _MASK
        return value
    if isinstance(key, Row):
        return _raw_hash(values_by_name(key))
    if isinstance(key, frozenset):
        value = 0
        for element in key:
            value ^= _raw_hash(element) * _MIX & _MASK
        return value
    if isinstance(key, enum.Enum) and cls.__hash__ is enum.Enum.__hash__:
        return hash(key.name)  # Members that are strings or numbers, too, are equal to these and are hashed as these.
    if cls.__hash__ is None:
        hint = {"list": "tuple(...)", "dict": "tuple(sorted(d.items()))", "set": "frozenset(...)"}.get(cls.__name__)
        raise InvalidKeyError(
            f"the key {_short(key)} is a {cls.__name__}, which cannot be hashed: "
            + (f"return {hint} from the key selector" if hint else f"give {cls.__name__} __eq__ and __hash__")
        )
    if cls.__hash__ is object.__hash__:
        raise InvalidKeyError(
            f"the key {_short(key)} is a {cls.__name__}, which is hashed by identity: every copy would be a key of its "
            f"own. Give {cls.__name__} __eq__ and __hash__ (a frozen dataclass has both), or select a field of it"
        )
    code = getattr(cls.__hash__, "__code__", None)
    if dataclasses.is_dataclass(cls) and code is not None and code.co_filename == "<string>":
        # The hash that dataclass has generated; one that the class defines itself is taken as it is.
        fields = [f.name for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash)]
        return _raw_hash(tuple([getattr(key, name) for name in fields]))
    try:
        value = hash(key)
    except TypeError as error:
        raise InvalidKeyError(f"the key {_short(key)} cannot be hashed: {error}") from None
    if key != key:
        raise _unequal(key)  # Decimal("NaN") is hashed by identity.
    return value


def _unequal(key: Any) -> InvalidKeyError:
    return InvalidKeyError(
        f"the key {_short(key)} is not equal to itself: replace NaN by None or a number in the selector"
    )


def _short(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= 100 else text[:97] + "..."


def key_group_of(key: Any, max_parallelism: int) -> int:
    """The key group that the key belongs to."""
    return stable_hash(key) % max_parallelism


def subtask_of_key_group(key_group: int, max_parallelism: int, parallelism: int) -> int:
    """The subtask that owns the key group."""
    return key_group * parallelism // max_parallelism


def key_group_range(subtask: int, max_parallelism: int, parallelism: int) -> range:
    """The key groups that the subtask owns.

    >>> key_group_range(0, 128, 2), key_group_range(1, 128, 2)
    (range(0, 64), range(64, 128))
    """
    start = (subtask * max_parallelism + parallelism - 1) // parallelism
    end = ((subtask + 1) * max_parallelism - 1) // parallelism + 1
    return range(start, end)
