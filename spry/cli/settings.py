"""What a command line says about the configuration: a file, ``-D`` and ``-p``, in rising order."""

from __future__ import annotations

import os
from pathlib import Path

from spry.common.configuration import Configuration, ConfigurationError
from spry.common.options import CoreOptions, SpryOptions, find_option, load_config_file, validate

__all__ = ["CONF_DIR_VARIABLE", "overrides"]

CONF_DIR_VARIABLE = "SPRY_CONF_DIR"
"""Names the directory whose ``config.yaml`` is read if the command line names no file."""


def overrides(
    config_file: str | None = None,
    definitions: list[str] | None = None,
    parallelism: int | None = None,
    progress: str | None = None,
    recovery: dict[str, str] | None = None,
) -> Configuration:
    """The configuration that programs start from.

    :raises ConfigurationError: For an unknown option or a value that is not valid; it says where it is written.
    """
    merged = Configuration()
    path = _config_path(config_file)
    if path is not None:
        try:
            layer = load_config_file(path)
        except OSError as error:
            raise ConfigurationError(f"configuration file '{path}': {error.strerror}") from None
        _add(merged, layer, f"in {path}")
    for text in definitions or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigurationError(f"-D {text}: write -D key=value")
        _add(merged, Configuration.from_dict({key.strip(): value}), f"-D {text}")
    if parallelism is not None:
        _add(merged, Configuration.from_dict({CoreOptions.DEFAULT_PARALLELISM.key: parallelism}), f"-p {parallelism}")
    if progress is not None:
        _add(merged, Configuration.from_dict({SpryOptions.PROGRESS.key: progress}), f"--progress {progress}")
    for key, value in (recovery or {}).items():
        _add(merged, Configuration.from_dict({key: value}), f"{key} {value}")
    return merged


def _config_path(named: str | None) -> Path | None:
    if named is not None:
        return Path(named)
    directory = os.environ.get(CONF_DIR_VARIABLE)
    if not directory:
        return None
    path = Path(directory) / "config.yaml"
    if not path.is_file():
        raise ConfigurationError(f"{CONF_DIR_VARIABLE} is '{directory}', but there is no file '{path}'")
    return path


def _add(merged: Configuration, layer: Configuration, where: str) -> None:
    """A later layer wins, also over an older name of its option."""
    try:
        validate(layer)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    values: dict[str, object] = {}
    layer.add_all_to_dict(values)
    for key, value in values.items():
        option = find_option(key)
        if option is None:
            merged.add_all(Configuration.from_dict({key: value}))
        else:
            merged.set(option, option.parse(value))
