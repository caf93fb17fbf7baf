"""The registry of options: groups of them, how configurations are checked against it, and the reference.

The options themselves are in :mod:`spry.common.options`.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import Any

from spry.common.config_options import ConfigOption, ConfigurationError, ValueType, format_value
from spry.common.configuration import Configuration

__all__ = [
    "OptionGroup",
    "all_options",
    "find_option",
    "load_config_file",
    "option_groups",
    "reference",
    "validate",
]

USER_PREFIXES = ("user.", "job.")
"""Keys with these prefixes belong to users' programs: any value goes."""

SPARK_PREFIX = "spark."
"""Keys with this prefix are handed to Spark as they are."""


_GROUPS: dict[str, type[OptionGroup]] = {}
_OPTIONS: dict[str, ConfigOption[Any]] = {}


class OptionGroup:
    """Options that belong together: a subclass registers all options that are its attributes.

    The docstring of the subclass introduces them in the reference.
    """

    def __init_subclass__(cls) -> None:
        keys = {key: option for option in cls.options() for key in (option.key, *option.fallback_keys)}
        for key in keys:
            if key in _OPTIONS:
                raise ValueError(f"option '{key}' of {cls.__name__} is registered already: {_OPTIONS[key]}")
        _OPTIONS.update(keys)
        _GROUPS[cls.__name__] = cls

    @classmethod
    def options(cls) -> list[ConfigOption[Any]]:
        """The options of this group in the order of their definition."""
        return [value for value in vars(cls).values() if isinstance(value, ConfigOption)]


def option_groups() -> list[type[OptionGroup]]:
    """All groups of options in the order of the reference."""
    return list(_GROUPS.values())


def all_options() -> list[ConfigOption[Any]]:
    """All options in the order of the reference."""
    return [option for group in option_groups() for option in group.options()]


def find_option(key: str) -> ConfigOption[Any] | None:
    """The option with this key, or with this older name of its key."""
    return _OPTIONS.get(key)


def validate(configuration: Configuration) -> None:
    """Check that all keys are known and all values are what they should be.

    Keys under ``user.`` and ``job.`` belong to the program and keys under ``spark.`` to Spark.

    :raises ConfigurationError: For the first that is wrong; it names the key, the value and what is expected.
    """
    for key in sorted(configuration.key_set()):
        if key.startswith((*USER_PREFIXES, SPARK_PREFIX)):
            continue
        option = find_option(key)
        if option is None:
            raise ConfigurationError(_unknown(key))
        configuration.get_optional(option)
        if key != option.key and configuration.contains_key(option.key):
            raise ConfigurationError(f"option '{key}' is an older name of '{option.key}': set only one of them")


def _unknown(key: str) -> str:
    message = f"there is no option '{key}'"
    near = difflib.get_close_matches(key, _OPTIONS, n=3, cutoff=0.6)
    if not near:
        # Someone who remembers the end of a key, but not where it is.
        last = key.rpartition(".")[2]
        near = [known for known in _OPTIONS if known.rpartition(".")[2] == last][:3]
    if near:
        message += "; did you mean " + " or ".join(f"'{known}'" for known in near) + "?"
    prefixes = " or ".join(f"'{prefix}'" for prefix in USER_PREFIXES)
    return (
        f"{message} Options of your own begin with {prefixes}."
        if near
        else (f"{message}; options of your own begin with {prefixes}")
    )


def load_config_file(path: str | os.PathLike[str]) -> Configuration:
    """Read a ``config.yaml``. Keys may be flat (``parallelism.default: 4``), nested, or both.

    Whether the options are known and valid is up to :func:`validate`.

    :raises ConfigurationError: If the file is not YAML or not made of keys and values.
    """
    import yaml

    with open(path, encoding="utf-8") as file:
        try:
            content = yaml.safe_load(file)
        except yaml.YAMLError as e:
            raise ConfigurationError(f"{os.fspath(path)} is not valid YAML: {e}") from None
    if content is None:
        return Configuration()
    if not isinstance(content, Mapping):
        raise ConfigurationError(f"{os.fspath(path)} must hold 'key: value' lines, got {content!r:.200}")
    values: dict[str, Any] = {}
    for key, value in _flattened(content, ""):
        if key in values:
            raise ConfigurationError(f"{os.fspath(path)} sets option '{key}' more than once")
        if value is None:
            raise ConfigurationError(f"{os.fspath(path)} gives option '{key}' no value; remove it or set one")
        values[key] = value
    return Configuration.from_dict(values)


def _flattened(mapping: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in mapping.items():
        key = f"{prefix}{name}"
        option = find_option(key)
        is_map = option is not None and option.value_type is ValueType.MAP
        if isinstance(value, Mapping) and not is_map:
            yield from _flattened(value, key + ".")
        else:
            yield key, value


def reference() -> str:
    """The reference of all options as Markdown."""
    lines = ["# Configuration", ""]
    for group in option_groups():
        title = group.__name__.removesuffix("Options")
        lines += [f"## {title}", "", (group.__doc__ or "").strip(), ""]
        lines += ["| Key | Default | Type | Description |", "|---|---|---|---|"]
        for option in group.options():
            description = option.description
            if option.fallback_keys:
                older = ", ".join(f"`{key}`" for key in option.fallback_keys)
                description += f" Also written {older}."
            cells = [f"`{option.key}`", _default(option), option.expected(), description]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _default(option: ConfigOption[Any]) -> str:
    if option.default is None:
        return option.default_text or "none"
    if option.value_type is ValueType.MEMORY and option.default % (1 << 20) == 0:
        return f"`{option.default >> 20} mb`"
    if option.value_type is ValueType.MEMORY and option.default % (1 << 10) == 0:
        return f"`{option.default >> 10} kb`"
    if option.value_type is ValueType.DURATION and option.default.to_millis() % 1000 == 0:
        return f"`{option.default.to_millis() // 1000} s`"
    text = format_value(option.default)
    return f"`{text.lower() if option.value_type is ValueType.ENUM else text}`"
