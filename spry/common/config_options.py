"""Options: a key, what type its value has and how that is written, and a default."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, TypeVar

from spry.common.time import Duration

__all__ = [
    "ConfigOption",
    "ConfigOptions",
    "ConfigurationError",
    "ValueType",
    "format_value",
    "parse_duration",
    "parse_list",
    "parse_map",
    "parse_memory_size",
]

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


class ConfigurationError(ValueError):
    """An option is not known, or its value is not what it should be."""


class ValueType(Enum):
    """The types of the values of options; the value says how it is written."""

    BOOLEAN = "true or false"
    INT = "a whole number of 32 bits"
    LONG = "a whole number of 64 bits"
    FLOAT = "a number"
    DOUBLE = "a decimal number"
    STRING = "a text"
    DURATION = "a duration such as '10 s', '100 ms' or '1 min'"
    MEMORY = "a memory size such as '64 mb', '512 kb' or '1 gb'"
    ENUM = "one of a few names"
    LIST = "a list such as 'a;b;c'"
    MAP = "pairs such as 'key1:value1,key2:value2'"


_INT_RANGES = {
    ValueType.INT: (-(1 << 31), (1 << 31) - 1),
    ValueType.LONG: (-(1 << 63), (1 << 63) - 1),
}

_NANOS = {
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000_000_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000_000_000),
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1_000_000),
    **dict.fromkeys(("\u00b5s", "\u03bcs", "micro", "micros", "microsecond", "microseconds"), 1_000),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1),
}

_BYTES = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}

_NUMBER_AND_UNIT = re.compile(r"([0-9]+)\s*(\D*)", re.ASCII)


def _number_with_unit(text: str, units: Mapping[str, int]) -> int:
    match = _NUMBER_AND_UNIT.fullmatch(text.strip())
    factor = units.get(match[2].strip().lower()) if match else None
    if match is None or factor is None:
        raise ValueError(text)
    return int(match[1]) * factor


def parse_duration(text: str) -> Duration:
    """A number and a unit; milliseconds if there is no unit.

    >>> parse_duration("2 min") == parse_duration("120s") == parse_duration("120000")
    True
    """
    try:
        return Duration(_number_with_unit(text, _NANOS))
    except ValueError:
        raise ConfigurationError(f"{text!r} is not {ValueType.DURATION.value}") from None


def parse_memory_size(text: str) -> int:
    """The bytes that a number and a unit stand for; bytes if there is no unit.

    >>> parse_memory_size("64 mb")
    67108864
    """
    try:
        return _number_with_unit(text, _BYTES)
    except ValueError:
        raise ConfigurationError(f"{text!r} is not {ValueType.MEMORY.value}") from None


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators, as they are written.

    A part, or what follows a ``:`` in it, may be quoted; inside of quotes a separator is text.
    """
    parts, quote, start = [], "", 0
    for i, character in enumerate(text):
        if quote:
            # A doubled quote, which stands for one, ends the quotes and begins them again.
            quote = "" if character == quote else quote
        elif character in "'\"":
            before = text[start:i].rstrip()
            if not before or before[-1] in (":", character):
                quote = character
        elif character == separator:
            parts.append(text[start:i])
            start = i + 1
    if quote:
        raise ValueError(f"a quote {quote} is not closed")
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


def _quoted(text: str, special: str) -> str:
    """The text such that it is read back as it is, in quotes if it has to be."""
    if text and not any(c in text for c in special + "'\"") and text[0] not in "[{" and text == text.strip():
        return text
    return "'" + text.replace("'", "''") + "'"


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as e:
        raise ValueError(str(e)) from None


def parse_list(text: str, separator: str = ";") -> list[str]:
    """The elements of a list.

    >>> parse_list("a;'b;c'; d")
    ['a', 'b;c', 'd']
    >>> parse_list("[a, b]")
    ['a', 'b']
    """
    text = text.strip()
    try:
        if text.startswith("[") and text.endswith("]"):
            return [format_value(element) for element in _yaml(text)]
        return [_unquoted(element) for element in _split(text, separator)]
    except ValueError as e:
        raise ConfigurationError(f"{text!r} is not {ValueType.LIST.value}: {e}") from None


def parse_map(text: str) -> dict[str, str]:
    """The pairs of a map.

    >>> parse_map("a:1,b:'x,y'")
    {'a': '1', 'b': 'x,y'}
    """
    text = text.strip()
    try:
        if text.startswith("{") and text.endswith("}"):
            return {format_value(key): format_value(value) for key, value in _yaml(text).items()}
        pairs = {}
        for pair in _split(text, ","):
            key, colon, value = _unquoted(pair).partition(":")
            if not colon:
                raise ValueError(f"{pair!r} has no ':'")
            pairs[key.strip()] = _unquoted(value)
        return pairs
    except ValueError as e:
        raise ConfigurationError(f"{text!r} is not {ValueType.MAP.value}: {e}") from None


def format_value(value: Any) -> str:
    """How a value is written in a configuration file.

    >>> format_value(True), format_value(Duration.of_seconds(1)), format_value(["a", "b"])
    ('true', '1000 ms', 'a;b')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name
    if isinstance(value, datetime.timedelta):
        value = _duration_of(value)
    if isinstance(value, Mapping):
        return ",".join(f"{format_value(k)}:{_quoted(format_value(v), ',:')}" for k, v in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return ";".join(_quoted(format_value(element), ";") for element in value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return str(value)


def _duration_of(delta: datetime.timedelta) -> Duration:
    return Duration((delta.days * 86_400_000_000 + delta.seconds * 1_000_000 + delta.microseconds) * 1_000)


@dataclass(frozen=True)
class ConfigOption(Generic[T]):
    """An option that a :class:`~spry.common.configuration.Configuration` may hold.

    :param key: The key as it is written in configuration files.
    :param value_type: The type of the value.
    :param default: The value if the key is not set; ``None`` if there is no default.
    :param description: What the option does, for the reference.
    :param default_text: What the reference says of a default that is no constant.
    :param fallback_keys: Older names of the key, looked up in this order.
    :param choices: The members that an option of type ``ENUM`` takes.
    :param separator: What divides the elements of an option of type ``LIST``.
    :param minimum: The smallest number (of a duration: of milliseconds) that is accepted.
    """

    key: str
    value_type: ValueType
    default: T | None = None
    description: str = ""
    default_text: str = ""
    fallback_keys: tuple[str, ...] = ()
    choices: tuple[Enum, ...] = field(default=(), repr=False)
    separator: str = ";"
    minimum: float | None = None

    def with_description(self, description: str) -> ConfigOption[T]:
        return replace(self, description=description)

    def with_fallback_keys(self, *keys: str) -> ConfigOption[T]:
        return replace(self, fallback_keys=keys)

    def with_minimum(self, minimum: float) -> ConfigOption[T]:
        return replace(self, minimum=minimum)

    def has_default_value(self) -> bool:
        return self.default is not None

    def expected(self) -> str:
        """What a value of this option looks like."""
        if self.value_type is ValueType.ENUM:
            text = "one of " + ", ".join(format_value(choice).lower() for choice in self.choices)
        elif self.value_type is ValueType.LIST and self.separator != ";":
            text = f"a list such as 'a{self.separator}b{self.separator}c'"
        else:
            text = self.value_type.value
        if self.minimum is not None:
            unit = " ms" if self.value_type is ValueType.DURATION else ""
            text += f", at least {self.minimum:g}{unit}"
        return text

    def parse(self, raw: Any) -> T:
        """The value that a text, or a value that is typed already, stands for."""
        try:
            value: Any = _PARSERS[self.value_type](self, raw)
            if self.minimum is not None:
                size = value.to_nanos() / 1_000_000 if isinstance(value, Duration) else value
                if size < self.minimum:
                    raise ValueError("too small")
        except (ValueError, TypeError, KeyError, AttributeError):
            text = repr(format_value(raw) if not isinstance(raw, str) else raw)
            raise ConfigurationError(
                f"the value {text[:200]} of option '{self.key}' is not valid: it must be {self.expected()}"
            ) from None
        return value  # type: ignore[no-any-return]


def _as_boolean(option: ConfigOption[Any], raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    return {"true": True, "false": False}[raw.lower()]


def _as_int(option: ConfigOption[Any], raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        raise ValueError(raw)
    value = raw if isinstance(raw, int) else int(raw.strip())
    low, high = _INT_RANGES[option.value_type]
    if not low <= value <= high:
        raise ValueError(raw)
    return value


def _as_float(option: ConfigOption[Any], raw: Any) -> float:
    if isinstance(raw, bool):
        raise ValueError(raw)
    return float(raw)


def _as_string(option: ConfigOption[Any], raw: Any) -> str:
    return format_value(raw)


def _as_duration(option: ConfigOption[Any], raw: Any) -> Duration:
    if isinstance(raw, Duration):
        return raw
    if isinstance(raw, datetime.timedelta):
        return _duration_of(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        raise ValueError(raw)
    return parse_duration(str(raw))


def _as_memory(option: ConfigOption[Any], raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        raise ValueError(raw)
    return parse_memory_size(str(raw))


def _as_enum(option: ConfigOption[Any], raw: Any) -> Enum:
    wanted = format_value(raw).strip().lower().replace("_", "-")
    for choice in option.choices:
        if wanted in (format_value(choice).lower().replace("_", "-"), choice.name.lower().replace("_", "-")):
            return choice
    raise ValueError(raw)


def _as_list(option: ConfigOption[Any], raw: Any) -> list[str]:
    if isinstance(raw, str):
        return parse_list(raw, option.separator)
    if isinstance(raw, Mapping) or not isinstance(raw, Iterable):
        raise ValueError(raw)
    return [format_value(element) for element in raw]


def _as_map(option: ConfigOption[Any], raw: Any) -> dict[str, str]:
    if isinstance(raw, Mapping):
        return {format_value(key): format_value(value) for key, value in raw.items()}
    if not isinstance(raw, str):
        raise ValueError(raw)
    return parse_map(raw)


_PARSERS: dict[ValueType, Callable[[ConfigOption[Any], Any], Any]] = {
    ValueType.BOOLEAN: _as_boolean,
    ValueType.INT: _as_int,
    ValueType.LONG: _as_int,
    ValueType.FLOAT: _as_float,
    ValueType.DOUBLE: _as_float,
    ValueType.STRING: _as_string,
    ValueType.DURATION: _as_duration,
    ValueType.MEMORY: _as_memory,
    ValueType.ENUM: _as_enum,
    ValueType.LIST: _as_list,
    ValueType.MAP: _as_map,
}


class ConfigOptions:
    """Makes options.

    >>> option = ConfigOptions.key("job.retries").int_type().default_value(3)
    >>> option.key, option.default
    ('job.retries', 3)
    """

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Starts with the key of the option."""
        if not key:
            raise ValueError("the key of an option must not be empty")
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """Goes on with the type of its values."""

        def __init__(self, key: str) -> None:
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            return self._typed(ValueType.BOOLEAN)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            return self._typed(ValueType.INT)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            return self._typed(ValueType.LONG)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            return self._typed(ValueType.FLOAT)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            return self._typed(ValueType.DOUBLE)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            return self._typed(ValueType.STRING)

        def duration_type(self) -> ConfigOptions.TypedConfigOptionBuilder[Duration]:
            return self._typed(ValueType.DURATION)

        def memory_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Values are numbers of bytes."""
            return self._typed(ValueType.MEMORY)

        def enum_type(self, enum_class: type[E]) -> ConfigOptions.TypedConfigOptionBuilder[E]:
            return ConfigOptions.TypedConfigOptionBuilder(
                ConfigOption(self._key, ValueType.ENUM, choices=tuple(enum_class))
            )

        def list_type(self, separator: str = ";") -> ConfigOptions.TypedConfigOptionBuilder[list[str]]:
            return ConfigOptions.TypedConfigOptionBuilder(ConfigOption(self._key, ValueType.LIST, separator=separator))

        def map_type(self) -> ConfigOptions.TypedConfigOptionBuilder[dict[str, str]]:
            return self._typed(ValueType.MAP)

        def _typed(self, value_type: ValueType) -> ConfigOptions.TypedConfigOptionBuilder[Any]:
            return ConfigOptions.TypedConfigOptionBuilder(ConfigOption(self._key, value_type))

    class TypedConfigOptionBuilder(Generic[T]):
        """Ends with the default."""

        def __init__(self, option: ConfigOption[T]) -> None:
            self._option = option

        def default_value(self, value: T) -> ConfigOption[T]:
            """The option, with a default of its type (or a text that stands for one)."""
            return replace(self._option, default=self._option.parse(value))

        def no_default_value(self, means: str = "") -> ConfigOption[T]:
            """The option without a default; the reference may say what this ``means``."""
            return replace(self._option, default_text=means)
