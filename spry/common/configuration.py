"""The settings of a program: texts, numbers and more by key."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, overload

from spry.common.config_options import (
    ConfigOption,
    ConfigOptions,
    ConfigurationError,
    format_value,
    parse_list,
)

__all__ = ["Configuration", "ConfigurationError"]

T = TypeVar("T")
D = TypeVar("D")
_Str = TypeVar("_Str", bound=str | None)
_Int = TypeVar("_Int", bound=int | None)
_Bool = TypeVar("_Bool", bound=bool | None)
_Float = TypeVar("_Float", bound=float | None)


class Configuration:
    """Values by key. Values may be given as texts and read as what they stand for, and the other way round.

    >>> config = Configuration().set_string("parallelism.default", "4")
    >>> config.get_integer("parallelism.default", 1)
    4
    >>> from spry.common.options import PipelineOptions
    >>> config.get(PipelineOptions.AUTO_WATERMARK_INTERVAL)
    Duration(200 ms)

    ``Configuration(other)`` is a copy of the other.
    """

    def __init__(self, other: Configuration | None = None) -> None:
        self._values: dict[str, Any] = {} if other is None else dict(other._values)

    @classmethod
    def from_dict(cls, map: Mapping[str, Any]) -> Configuration:
        """A configuration with these values."""
        configuration = cls()
        for key, value in map.items():
            configuration._put(key, value, object)
        return configuration

    @staticmethod
    def parse_list_value(value: str) -> list[str]:
        """The elements of a text that stands for a list: ``a;b;c`` or ``[a, b, c]``."""
        return parse_list(value) if value else []

    @overload
    def get(self, option: ConfigOption[T]) -> T: ...

    @overload
    def get(self, option: ConfigOption[T], default: T) -> T: ...

    def get(self, option: ConfigOption[Any], default: Any = None) -> Any:
        """The value of this option; if it is not set: ``default`` if given, else the option's own default.

        An option that has no default at all and is not set gives ``None``: see :meth:`get_optional`.
        """
        value = self.get_optional(option)
        if value is not None:
            return value
        return option.default if default is None else default

    def get_optional(self, option: ConfigOption[T]) -> T | None:
        """The value of this option if it is set, else ``None``, whatever its default is."""
        for key in (option.key, *option.fallback_keys):
            if key in self._values:
                # Messages name the key that the user wrote.
                named = option if key == option.key else replace(option, key=key)
                return named.parse(self._values[key])
        return None

    def set(self, option: ConfigOption[T], value: T | str) -> Configuration:
        """Set this option. The value may be a text that stands for one."""
        self._values[option.key] = option.parse(value)
        for key in option.fallback_keys:
            self._values.pop(key, None)
        return self

    def contains(self, option: ConfigOption[Any]) -> bool:
        """Whether this option is set, under any of its keys."""
        return any(key in self._values for key in (option.key, *option.fallback_keys))

    def remove(self, option: ConfigOption[Any]) -> bool:
        """Forget this option; tells whether it was set."""
        removed = [self.remove_config(key) for key in (option.key, *option.fallback_keys)]
        return any(removed)

    def get_string(self, key: str, default_value: _Str) -> str | _Str:
        return self._read(key, ConfigOptions.key(key).string_type().no_default_value(), default_value)

    def set_string(self, key: str, value: str) -> Configuration:
        return self._put(key, value, str)

    def get_integer(self, key: str, default_value: _Int) -> int | _Int:
        return self._read(key, ConfigOptions.key(key).long_type().no_default_value(), default_value)

    def set_integer(self, key: str, value: int) -> Configuration:
        return self._put(key, value, int)

    def get_boolean(self, key: str, default_value: _Bool) -> bool | _Bool:
        return self._read(key, ConfigOptions.key(key).boolean_type().no_default_value(), default_value)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self._put(key, value, bool)

    def get_float(self, key: str, default_value: _Float) -> float | _Float:
        return self._read(key, ConfigOptions.key(key).double_type().no_default_value(), default_value)

    def set_float(self, key: str, value: float) -> Configuration:
        return self._put(key, float(value) if type(value) is int else value, float)

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        value = self._values.get(key)
        if value is None:
            return default_value
        if not isinstance(value, bytes):
            raise ConfigurationError(
                f"the value {format_value(value)[:200]!r} of option '{key}' is not valid: it must be bytes"
            )
        return bytearray(value)

    def set_bytearray(self, key: str, value: bytearray | bytes) -> Configuration:
        return self._put(key, bytes(value) if isinstance(value, bytearray) else value, bytes)

    def key_set(self) -> builtins.set[str]:
        """All keys."""
        return builtins.set(self._values)

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Put all values, as they are, into this dict."""
        target_dict.update(self._values)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Take over all values of another configuration, with this prefix before its keys."""
        for key, value in other._values.items():
            self._values[(prefix or "") + key] = value
        return self

    def contains_key(self, key: str) -> bool:
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        """All values as texts."""
        return {key: format_value(value) for key, value in self._values.items()}

    def remove_config(self, key: str) -> bool:
        """Forget this key; tells whether it was there."""
        return self._values.pop(key, None) is not None

    def validate(self) -> None:
        """Check that all keys are known and all values are what they should be.

        :raises ConfigurationError: It names the key, the value, and what was expected.
        """
        from spry.common.options import validate

        validate(self)

    def _read(self, key: str, option: ConfigOption[T], default_value: D) -> T | D:
        if key not in self._values:
            return default_value
        return option.parse(self._values[key])

    def _put(self, key: Any, value: Any, expected: type) -> Configuration:
        if not key or not isinstance(key, str):
            raise TypeError(f"the key of an option must be a string that is not empty, got {key!r}")
        if value is None or not isinstance(value, expected) or (isinstance(value, bool) and expected in (int, float)):
            wanted = "a value other than None" if expected is object else f"of type {expected.__name__}"
            raise TypeError(f"the value of option {key!r} must be {wanted}, got {value!r} ({type(value).__name__})")
        self._values[key] = value
        return self

    def __copy__(self) -> Configuration:
        return Configuration(self)

    def __deepcopy__(self, memodict: Any = None) -> Configuration:
        # Values are never changed in place, so that the copy may share them.
        return Configuration(self)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Configuration) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.to_dict().items()))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{key}={value}" for key, value in sorted(self.to_dict().items())) + "}"

    def __repr__(self) -> str:
        return f"Configuration({self})"
