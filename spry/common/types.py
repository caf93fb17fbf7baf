"""Rows: the values of tables and of structured streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from operator import itemgetter
from typing import Any

__all__ = ["Row", "RowKind", "make_row", "share_names", "values_by_name"]


class RowKind(Enum):
    """What a row says about the table that it belongs to: one kind of change."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return _SHORT_NAMES[self.value]


_SHORT_NAMES = ("+I", "-U", "+U", "-D")
_KINDS = (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)
_INSERT = RowKind.INSERT

# Rows of one schema share one tuple of names, also after they travelled to another process: rows stay
# small there too, and comparing the names of two rows is then mostly a comparison of identities.
_SHARED_NAMES: dict[tuple[str, ...], tuple[str, ...]] = {}
_MAX_SHARED_NAMES = 4096


def share_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The one tuple of these names that all rows share."""
    shared = _SHARED_NAMES.get(names)
    if shared is None:
        if len(_SHARED_NAMES) >= _MAX_SHARED_NAMES:
            _SHARED_NAMES.clear()
        shared = _SHARED_NAMES[names] = names
    return shared


class Row:
    """A fixed number of values, by position or by name, each of which may be ``None``.

    >>> person = Row(name="Ada", age=36)
    >>> person.name, person["age"], person[0], len(person)
    ('Ada', 36, 'Ada', 2)
    >>> Row("Ada", 36)
    <Row('Ada', 36)>

    A row of names makes rows with these names when it is called:

    >>> Person = Row("name", "age")
    >>> Person("Ada", 36)
    Row(name='Ada', age=36)

    Rows are equal if their kinds and values are; of rows with names, whatever the order of the names:

    >>> Row(name="Ada", age=36) == Row(age=36, name="Ada")
    True

    Values can be replaced (``row[0] = ...``, ``row["name"] = ...``), but none can be added.
    """

    __slots__ = ("_fields", "_row_kind", "_values")

    _values: list[Any]
    _fields: tuple[str, ...] | None
    _row_kind: RowKind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            if args:
                raise ValueError("a Row takes either positional or named values, not both")
            self._values = list(kwargs.values())
            self._fields = share_names(tuple(kwargs))
        else:
            self._values = list(args)
            self._fields = None
        self._row_kind = _INSERT

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """A row of this kind of change, with values given as for ``Row(...)``."""
        row = Row(*args, **kwargs)
        row.set_row_kind(row_kind)
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The values by name. With ``recursive``, rows inside of values become dicts too."""
        if self._fields is None:
            raise TypeError(
                f"cannot convert {self!r} into a dict: its fields have no names; "
                "make it with Row(name=value, ...) or call set_field_names first"
            )
        if recursive:
            return {name: _unrowed(value) for name, value in zip(self._fields, self._values, strict=False)}
        return dict(zip(self._fields, self._values, strict=False))

    def get_row_kind(self) -> RowKind:
        """The kind of change that this row stands for (``RowKind.INSERT`` unless set otherwise)."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set the kind of change that this row stands for."""
        if not isinstance(row_kind, RowKind):
            raise TypeError(f"row_kind must be a RowKind, got {row_kind!r} ({type(row_kind).__name__})")
        self._row_kind = row_kind

    def set_field_names(self, field_names: Sequence[str] | None) -> None:
        """Name the fields, in their order. ``None`` takes the names away."""
        self._fields = None if field_names is None else share_names(tuple(field_names))

    def get_field_names(self) -> list[str] | None:
        """The names of the fields in their order, ``None`` if they have none."""
        return None if self._fields is None else list(self._fields)

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """The values in the order of these names. If the fields have no names: all values as they are."""
        fields = self._fields
        if fields is None or fields == tuple(names):
            return list(self._values)
        missing = [name for name in names if name not in fields]
        if missing:
            raise ValueError(f"no fields {missing} in a Row with the fields {list(fields)}")
        return [self._values[fields.index(name)] for name in names]

    def _is_retract_msg(self) -> bool:
        return self._row_kind is RowKind.UPDATE_BEFORE or self._row_kind is RowKind.DELETE

    def _is_accumulate_msg(self) -> bool:
        return not self._is_retract_msg()

    def _index(self, name: str) -> int:
        if self._fields is None:
            raise ValueError(f"no field {name!r}: the fields of {self!r} have no names")
        try:
            index = self._fields.index(name)
        except ValueError:
            raise ValueError(f"no field {name!r} in a Row with the fields {list(self._fields)}") from None
        if index >= len(self._values):
            raise ValueError(f"field {name!r} of {self!r} has no value")
        return index

    def __call__(self, *args: Any) -> Row:
        if len(args) > len(self._values):
            raise ValueError(
                f"cannot make a Row with the fields {self!r}: it takes {len(self._values)} values, "
                f"but {len(args)} were given: {args!r}"
            )
        return _named_row(tuple(self._values), args)

    def __contains__(self, item: Any) -> bool:
        if self._fields is not None:
            return item in self._fields
        return item in self._values

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, str):
            return self._values[self._index(item)]
        return self._values[item]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self._values[self._index(key)] = value
        elif isinstance(key, slice):
            raise TypeError("a slice of a Row cannot be assigned; assign its fields one by one")
        else:
            self._values[key] = value

    def __getattr__(self, name: str) -> Any:
        # Python calls this for what it did not find as an attribute: mostly for fields. A row that is only
        # being made may not have the slot yet that this looks into.
        if name == "_fields" or name == "_values":
            raise AttributeError(name)
        try:
            return self._values[self._fields.index(name)]  # type: ignore[union-attr]
        except (AttributeError, ValueError, IndexError):
            pass
        try:
            self._index(name)
        except ValueError as e:
            raise AttributeError(str(e)) from None
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._row_kind is not _INSERT:
            return _row_of_kind, (self._row_kind.value, self._fields, self._values)
        if self._fields is not None:
            return _named_row, (self._fields, self._values)
        return Row, tuple(self._values)

    def __repr__(self) -> str:
        if self._fields is not None:
            pairs = zip(self._fields, self._values, strict=False)
            return f"Row({', '.join(f'{name}={value!r}' for name, value in pairs)})"
        return f"<Row({', '.join(map(repr, self._values))})>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        if self._row_kind is not other._row_kind:
            return False
        if self._fields == other._fields:
            return self._values == other._values
        if self._fields is None or other._fields is None or set(self._fields) != set(other._fields):
            return False
        complete = len(self._values) == len(self._fields) and len(other._values) == len(other._fields)
        return complete and values_by_name(self) == values_by_name(other)

    def __hash__(self) -> int:
        return hash(values_by_name(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


_NAME = itemgetter(0)
_new_row = Row.__new__


def make_row(fields: tuple[str, ...] | None, values: Sequence[Any], row_kind: RowKind = _INSERT) -> Row:
    """A row of names (which should come from :func:`share_names`) and values, quickly."""
    row = _new_row(Row)
    row._values = list(values)
    row._fields = fields
    row._row_kind = row_kind
    return row


def values_by_name(row: Row) -> tuple[Any, ...]:
    """The row's values, sorted by name if they have names: in an order that all rows share that are equal."""
    fields, values = row._fields, row._values
    if fields is None or len(fields) != len(values):
        return tuple(values)
    return tuple([value for _, value in sorted(zip(fields, values, strict=True), key=_NAME)])


# Rows are pickled as calls of these two, or of Row itself.


def _named_row(fields: tuple[str, ...], values: Sequence[Any]) -> Row:
    return make_row(_SHARED_NAMES.get(fields) or share_names(fields), values)


def _row_of_kind(kind: int, fields: tuple[str, ...] | None, values: Sequence[Any]) -> Row:
    return make_row(None if fields is None else share_names(fields), values, _KINDS[kind])


def _unrowed(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True) if value._fields is not None else value
    if isinstance(value, list):
        return [_unrowed(element) for element in value]
    if isinstance(value, tuple):
        # A named tuple takes its fields one by one, a plain tuple takes them in one.
        elements = (_unrowed(element) for element in value)
        return type(value)(*elements) if hasattr(value, "_fields") else tuple(elements)
    if isinstance(value, dict):
        return {key: _unrowed(element) for key, element in value.items()}
    return value
