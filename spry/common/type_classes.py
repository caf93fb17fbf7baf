"""The classes of types. Make types with :class:`spry.common.typeinfo.Types`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "ExternalTypeInfo",
    "GenericTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "LocalTimeTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PojoTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SequenceTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
]


class TypeInformation:
    """The type of a value. Equal types compare equal and have the same hash."""

    def _parts(self) -> tuple[Any, ...]:
        """What makes this type differ from others of its class."""
        return ()

    def schema_key(self) -> tuple[Any, ...]:
        """A hashable key of everything in this type, also of the field names that equality leaves out."""
        return (type(self), *(_key_of(part) for part in self._parts()))

    def describe(self) -> str:
        """The type as one writes it with ``Types``, for messages: ``ROW<name STRING, age INT>``."""
        return repr(self)

    def need_conversion(self) -> bool:
        """Whether values have another form inside of the system: never, they are what users see."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """The form of this value inside of the system, which is the value."""
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        """The value of this form inside of the system, which is the value."""
        return obj

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeInformation):
            return NotImplemented
        return type(self) is type(other) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((type(self), self._parts()))

    def __repr__(self) -> str:
        return type(self).__name__


def _key_of(part: Any) -> Any:
    if isinstance(part, TypeInformation):
        return part.schema_key()
    if isinstance(part, tuple):
        return tuple(_key_of(element) for element in part)
    return part


def _checked(owner: str, type_info: Any) -> TypeInformation:
    if not isinstance(type_info, TypeInformation):
        name = getattr(type_info, "__qualname__", "")
        hint = f"; did you mean {name}()?" if name.startswith("Types.") else ""
        raise TypeError(f"{owner} takes types such as Types.INT(), got {type_info!r}{hint}")
    return type_info


class BasicType(Enum):
    """The types that have no parts."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


class BasicTypeInfo(TypeInformation):
    """A type that has no parts, such as a number or a string."""

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type

    @property
    def basic_type(self) -> BasicType:
        return self._basic_type

    def _parts(self) -> tuple[Any, ...]:
        return (self._basic_type,)

    def describe(self) -> str:
        return self._basic_type.name

    def __repr__(self) -> str:
        return self._basic_type.value

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> InstantTypeInfo:
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo):
    """A moment: :class:`~spry.common.time.Instant`."""


class SqlTimeTypeInfo(TypeInformation):
    """Dates and times without a time zone."""

    _name: ClassVar[str] = "SQL_TIME_TYPE"

    def describe(self) -> str:
        return self._name

    @staticmethod
    def DATE() -> DateTypeInfo:
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        return TimestampTypeInfo()


class DateTypeInfo(SqlTimeTypeInfo):
    """A day: ``datetime.date``."""

    _name = "SQL_DATE"


class TimeTypeInfo(SqlTimeTypeInfo):
    """A time of day: ``datetime.time``."""

    _name = "SQL_TIME"


class TimestampTypeInfo(SqlTimeTypeInfo):
    """A day and a time of day: ``datetime.datetime``."""

    _name = "SQL_TIMESTAMP"


class LocalTimeTypeInfo(TypeInformation):
    """Dates and times without a time zone, in the flavour of Java's ``LocalDate`` and its kin."""

    class TimeType(Enum):
        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: LocalTimeTypeInfo.TimeType) -> None:
        self._time_type = time_type

    @property
    def time_type(self) -> LocalTimeTypeInfo.TimeType:
        return self._time_type

    def _parts(self) -> tuple[Any, ...]:
        return (self._time_type,)

    def describe(self) -> str:
        return self._time_type.name

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"


class PickledBytesTypeInfo(TypeInformation):
    """Any Python object that can be pickled. It is the type of whatever has no declared type."""

    def describe(self) -> str:
        return "PICKLED_BYTE_ARRAY"

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"


class GenericTypeInfo(TypeInformation):
    """Any object of one class."""

    def __init__(self, cls: type) -> None:
        if not isinstance(cls, type):
            raise TypeError(f"a generic type is made from a class, got {cls!r}")
        self._cls = cls

    @property
    def cls(self) -> type:
        return self._cls

    def _parts(self) -> tuple[Any, ...]:
        return (self._cls,)

    def describe(self) -> str:
        return self._cls.__qualname__

    def __repr__(self) -> str:
        return f"GenericTypeInfo<{self._cls.__qualname__}>"


class ExternalTypeInfo(TypeInformation):
    """A type at the border between streams and tables; it behaves as the type that it wraps."""

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = _checked("ExternalTypeInfo", type_info)

    @property
    def type_info(self) -> TypeInformation:
        return self._type_info

    def _parts(self) -> tuple[Any, ...]:
        return (self._type_info,)

    def describe(self) -> str:
        return self._type_info.describe()

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info!r}>"


_PRIMITIVES = frozenset(BasicType) - {
    BasicType.STRING,
    BasicType.BIG_INT,
    BasicType.BIG_DEC,
    BasicType.INSTANT,
}


class SequenceTypeInfo(TypeInformation):
    """Lists of all kinds: elements of one type."""

    _name: ClassVar[str]
    _element_types: ClassVar[frozenset[BasicType] | None] = None

    def __init__(self, element_type: TypeInformation) -> None:
        _checked(f"Types.{self._name}", element_type)
        allowed = self._element_types
        if allowed is not None and not (isinstance(element_type, BasicTypeInfo) and element_type.basic_type in allowed):
            names = ", ".join(sorted(basic_type.name for basic_type in allowed))
            raise TypeError(
                f"Types.{self._name} cannot hold {element_type.describe()}; its elements are one of {names}. "
                f"Use Types.OBJECT_ARRAY or Types.LIST for others"
            )
        self._element_type = element_type

    @property
    def element_type(self) -> TypeInformation:
        return self._element_type

    def _parts(self) -> tuple[Any, ...]:
        return (self._element_type,)

    def describe(self) -> str:
        return f"{self._name}<{self._element_type.describe()}>"

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self._element_type!r}>"


class PrimitiveArrayTypeInfo(SequenceTypeInfo):
    """A list of numbers, booleans or characters that are never ``None``; of bytes it is ``bytes``."""

    _name = "PRIMITIVE_ARRAY"
    _element_types = _PRIMITIVES


class BasicArrayTypeInfo(SequenceTypeInfo):
    """A list of numbers, booleans, characters or strings, any of which may be ``None``."""

    _name = "BASIC_ARRAY"
    _element_types = _PRIMITIVES | {BasicType.STRING}


class ObjectArrayTypeInfo(SequenceTypeInfo):
    """A list of elements of any one type, any of which may be ``None``."""

    _name = "OBJECT_ARRAY"


class ListTypeInfo(SequenceTypeInfo):
    """A list of elements of one type, any of which may be ``None``."""

    _name = "LIST"

    @property
    def elem_type(self) -> TypeInformation:
        return self._element_type


class MapTypeInfo(TypeInformation):
    """A dict with keys of one type and values of one type; a value may be ``None``, a key may not."""

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key_type = _checked("Types.MAP", key_type_info)
        self._value_type = _checked("Types.MAP", value_type_info)

    @property
    def key_type(self) -> TypeInformation:
        return self._key_type

    @property
    def value_type(self) -> TypeInformation:
        return self._value_type

    def _parts(self) -> tuple[Any, ...]:
        return (self._key_type, self._value_type)

    def describe(self) -> str:
        return f"MAP<{self._key_type.describe()}, {self._value_type.describe()}>"

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type!r}, {self._value_type!r}>"


class TupleTypeInfo(TypeInformation):
    """A tuple of fixed length whose fields are never ``None``."""

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        self._field_types = tuple(_checked("Types.TUPLE", field_type) for field_type in field_types)

    def get_field_types(self) -> list[TypeInformation]:
        return list(self._field_types)

    def _parts(self) -> tuple[Any, ...]:
        return (self._field_types,)

    def describe(self) -> str:
        return f"TUPLE<{', '.join(field_type.describe() for field_type in self._field_types)}>"

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(repr, self._field_types))})"


class RowTypeInfo(TypeInformation):
    """A :class:`~spry.common.types.Row`; any of its fields may be ``None``.

    Two row types with the same field types are equal, whatever their fields are called.
    """

    def __init__(self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None) -> None:
        self._field_types = tuple(_checked("Types.ROW", field_type) for field_type in field_types)
        self._field_names = None if field_names is None else tuple(field_names)
        if self._field_names is not None:
            if len(self._field_names) != len(self._field_types):
                raise ValueError(
                    f"a row type needs a name for every field: there are {len(self._field_names)} names "
                    f"{list(self._field_names)} for {len(self._field_types)} types"
                )
            if len(set(self._field_names)) != len(self._field_names):
                raise ValueError(f"the field names of a row type must differ: {list(self._field_names)}")

    def get_field_names(self) -> list[str]:
        """The names of the fields: ``f0``, ``f1`` ... if none were given."""
        return list(self._field_names or (f"f{i}" for i in range(len(self._field_types))))

    def get_field_index(self, field_name: str) -> int:
        """The position of the field with this name."""
        names = self.get_field_names()
        if field_name not in names:
            raise ValueError(f"no field {field_name!r} in a row type with the fields {names}")
        return names.index(field_name)

    def get_field_types(self) -> list[TypeInformation]:
        return list(self._field_types)

    def _parts(self) -> tuple[Any, ...]:
        return (self._field_types,)

    def schema_key(self) -> tuple[Any, ...]:
        return (*super().schema_key(), tuple(self.get_field_names()))

    def describe(self) -> str:
        fields = (field_type.describe() for field_type in self._field_types)
        if self._field_names is not None:
            fields = (f"{name} {field}" for name, field in zip(self._field_names, fields, strict=True))
        return f"ROW<{', '.join(fields)}>"

    def __repr__(self) -> str:
        fields = map(repr, self._field_types)
        if self._field_names is None:
            return f"RowTypeInfo({', '.join(fields)})"
        named = (f"{name}: {field}" for name, field in zip(self._field_names, fields, strict=True))
        return f"RowTypeInfo({', '.join(named)})"


class PojoTypeInfo(TypeInformation):
    """A dataclass or a named tuple. The types of its fields come from its annotations."""

    def __init__(
        self,
        cls: type,
        field_names: Sequence[str],
        field_types: Sequence[TypeInformation],
        nullable: Sequence[bool],
    ) -> None:
        self._cls = cls
        self._field_names = tuple(field_names)
        self._field_types = tuple(field_types)
        self._nullable = tuple(nullable)

    @property
    def cls(self) -> type:
        return self._cls

    def get_field_names(self) -> list[str]:
        return list(self._field_names)

    def get_field_types(self) -> list[TypeInformation]:
        return list(self._field_types)

    def get_nullable(self) -> list[bool]:
        """For each field, whether its annotation allows ``None``."""
        return list(self._nullable)

    def _parts(self) -> tuple[Any, ...]:
        return (self._cls, self._field_names, self._field_types, self._nullable)

    def describe(self) -> str:
        return self._cls.__qualname__

    def __repr__(self) -> str:
        fields = zip(self._field_names, self._field_types, strict=True)
        inner = ", ".join(f"{name}: {field_type!r}" for name, field_type in fields)
        return f"PojoType<{self._cls.__qualname__}, ({inner})>"
