"""Settings that programs hand over as an object."""

from __future__ import annotations

from typing import Any, ClassVar

from spry.common.config_options import ConfigOption
from spry.common.configuration import Configuration

__all__ = ["SettingObject"]


class SettingObject:
    """An object that stands for some options. Once it is handed over, it is a view of the program's configuration."""

    _options: ClassVar[tuple[ConfigOption[Any], ...]] = ()

    def __init__(self) -> None:
        self._configuration = Configuration()

    def apply_to(self, configuration: Configuration) -> None:
        """Write what is set here into a configuration, and be a view of it from now on."""
        for option in self._options:
            value = self._configuration.get_optional(option)
            if value is not None:
                configuration.set(option, value)
        self._configuration = configuration

    def __repr__(self) -> str:
        values = {option.key: self._configuration.get_optional(option) for option in self._options}
        said = ", ".join(f"{key}={value}" for key, value in values.items() if value is not None)
        return f"{type(self).__name__}({said})"
