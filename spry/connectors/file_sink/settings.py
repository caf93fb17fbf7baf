"""What a file sink was told: where its files are, how they are named, what is in them, when they roll."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from spry.common.serialization import BulkWriter, BulkWriterFactory, Encoder
from spry.connectors.file_sink.buckets import BucketAssigner
from spry.connectors.file_sink.rolling import RollingPolicy
from spry.connectors.file_sink.store import PartStore, open_part_store
from spry.connectors.file_store import Location

__all__ = ["FileSinkSettings", "OutputFileConfig", "RowFormat"]


@dataclass(frozen=True)
class OutputFileConfig:
    """How the names of part files begin and end.

    >>> OutputFileConfig.builder().with_part_prefix("orders").with_part_suffix(".csv").build()
    OutputFileConfig(part_prefix='orders', part_suffix='.csv')
    """

    part_prefix: str
    part_suffix: str

    def __post_init__(self) -> None:
        for name, value in (("prefix", self.part_prefix), ("suffix", self.part_suffix)):
            given: object = value
            if not isinstance(given, str) or "/" in given or "\0" in given:
                raise ValueError(f"OutputFileConfig: a part {name} is part of a file's name, got {value!r}")

    def get_part_prefix(self) -> str:
        return self.part_prefix

    def get_part_suffix(self) -> str:
        return self.part_suffix

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Starts with ``part`` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    class OutputFileConfigBuilder:
        """Makes an :class:`OutputFileConfig`."""

        def __init__(self) -> None:
            self._prefix = "part"
            self._suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            self._prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            self._suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            return OutputFileConfig(self._prefix, self._suffix)


class RowFormat(BulkWriterFactory[Any]):
    """A file as one record after the other."""

    def __init__(self, encoder: Encoder[Any]) -> None:
        self._encoder = encoder

    def create(self, stream: IO[bytes]) -> BulkWriter[Any]:
        return _RowWriter(self._encoder, stream)


class _RowWriter(BulkWriter[Any]):
    def __init__(self, encoder: Encoder[Any], stream: IO[bytes]) -> None:
        self._encode = encoder.encode
        self._stream = stream

    def add_element(self, element: Any) -> None:
        self._encode(element, self._stream)

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        pass


@dataclass(frozen=True)
class FileSinkSettings:
    """All that the writers and the committers of a file sink need."""

    base: Location
    format: BulkWriterFactory[Any]
    bucket_assigner: BucketAssigner
    rolling_policy: RollingPolicy
    files: OutputFileConfig
    check_interval: int
    """In ms."""

    def open_store(self) -> PartStore:
        return open_part_store(self.base.root)

    def create_writer(self, stream: BinaryIO) -> BulkWriter[Any]:
        return self.format.create(stream)

    def directory(self, bucket: str) -> str:
        base = self.base.path.rstrip("/")
        return os.path.join(base, bucket) if bucket else base

    def file_name(self, writer: str, number: int) -> str:
        """The name of a writer's file with this number."""
        return f"{self.files.part_prefix}-{writer}-{number}{self.files.part_suffix}"

    def number_of(self, name: str, writer: str) -> int | None:
        """The number of a file if it is this writer's."""
        before = f"{self.files.part_prefix}-{writer}-"
        number = name.removeprefix(before).removesuffix(self.files.part_suffix)
        return int(number) if number.isdecimal() and name == self.file_name(writer, int(number)) else None
