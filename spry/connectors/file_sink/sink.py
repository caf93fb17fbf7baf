"""The file sink, and how one is made."""

from __future__ import annotations

import os
from typing import Any, Generic, TypeVar

from spry.common.errors import InvalidProgramError
from spry.common.serialization import BulkWriterFactory, Encoder
from spry.common.sink import CommitterInitContext, TwoPhaseCommittingSink, WriterInitContext
from spry.connectors.file_sink.buckets import BucketAssigner
from spry.connectors.file_sink.rolling import (
    CheckpointRollingPolicy,
    DefaultRollingPolicy,
    OnCheckpointRollingPolicy,
    RollingPolicy,
)
from spry.connectors.file_sink.settings import FileSinkSettings, OutputFileConfig, RowFormat
from spry.connectors.file_sink.writer import FileCommitter, FileWriter, PartFile
from spry.connectors.file_store import Location

__all__ = ["FileSink", "OutputFileConfig", "StreamingFileSink"]

Path = str | os.PathLike[str]
SinkT_co = TypeVar("SinkT_co", bound="FileSink", covariant=True)
BuilderT = TypeVar("BuilderT", bound="_Builder[Any]")

_CHECK_INTERVAL = 60 * 1000


class _Builder(Generic[SinkT_co]):
    """Makes a file sink."""

    def __init__(
        self, sink: type[SinkT_co], base_path: Path, file_format: BulkWriterFactory[Any], policy: RollingPolicy
    ) -> None:
        self._sink = sink
        self._base = Location.of(base_path)
        self._format = file_format
        self._policy = policy
        self._assigner = BucketAssigner.date_time_bucket_assigner()
        self._files = OutputFileConfig.builder().build()
        self._check_interval = _CHECK_INTERVAL

    def with_bucket_check_interval(self: BuilderT, interval: int) -> BuilderT:
        """How often the rolling policy is asked about time, in ms. Default: a minute."""
        given: object = interval
        if isinstance(given, bool) or not isinstance(given, int) or interval <= 0:
            raise ValueError(f"{self._name}: the bucket check interval is a number of ms above 0, got {interval!r}")
        self._check_interval = interval
        return self

    def with_bucket_assigner(self: BuilderT, bucket_assigner: BucketAssigner) -> BuilderT:
        """Which directory a record goes to. Default: one for every hour."""
        self._assigner = self._of(BucketAssigner, bucket_assigner)
        return self

    def with_rolling_policy(self: BuilderT, rolling_policy: RollingPolicy) -> BuilderT:
        """When a file is closed. Formats that write records in bulk take only those that close at every checkpoint."""
        self._policy = self._of(RollingPolicy, rolling_policy)
        return self

    def with_output_file_config(self: BuilderT, output_file_config: OutputFileConfig) -> BuilderT:
        """How the files' names begin and end."""
        self._files = self._of(OutputFileConfig, output_file_config)
        return self

    def enable_compact(self: BuilderT, strategy: Any, compactor: Any) -> BuilderT:
        """Refused, with what to do instead."""
        raise InvalidProgramError(
            f"{self._name}.enable_compact: finished files are not merged; fewer and larger ones come of a rolling "
            "policy with larger limits, longer checkpoint intervals, or a smaller parallelism of the sink"
        )

    def disable_compact(self: BuilderT) -> BuilderT:
        """As it is anyway."""
        return self

    def build(self) -> SinkT_co:
        """The sink. The base path may be there already, but must not be a file."""
        whole = isinstance(self._policy, CheckpointRollingPolicy)
        if not whole and not isinstance(self._format, RowFormat):
            raise InvalidProgramError(
                f"{self._name}: a bulk format cannot go on with a file that it had not finished: "
                f"give it RollingPolicy.on_checkpoint_rolling_policy(), not {type(self._policy).__name__}"
            )
        if not whole and not self._base.is_local:
            raise InvalidProgramError(
                f"{self._name}: files at '{self._base.given}' cannot be gone on with after a failure: "
                f"give it RollingPolicy.on_checkpoint_rolling_policy(), not {type(self._policy).__name__}"
            )
        if self._base.is_local and os.path.exists(self._base.path) and not os.path.isdir(self._base.path):
            raise NotADirectoryError(f"{self._name}: the base path '{self._base.given}' is a file")
        return self._sink(
            FileSinkSettings(self._base, self._format, self._assigner, self._policy, self._files, self._check_interval)
        )

    @property
    def _name(self) -> str:
        return self._sink.__name__

    def _of(self, kind: type[Any], given: Any) -> Any:
        if not isinstance(given, kind):
            raise TypeError(f"{self._name}: this takes a {kind.__name__}, got {given!r}")
        return given


class FileRowFormatBuilder(_Builder[SinkT_co]):
    """Makes a file sink that writes one record after the other."""

    def __init__(self, sink: type[SinkT_co], base_path: Path, encoder: Encoder[Any]) -> None:
        given: object = encoder
        if not isinstance(given, Encoder):
            raise TypeError(f"{sink.__name__}.for_row_format takes an Encoder, got {encoder!r}")
        local = Location.of(base_path).is_local
        policy = DefaultRollingPolicy() if local else OnCheckpointRollingPolicy()
        super().__init__(sink, base_path, RowFormat(encoder), policy)


class FileBulkFormatBuilder(_Builder[SinkT_co]):
    """Makes a file sink whose format writes records in bulk."""

    def __init__(self, sink: type[SinkT_co], base_path: Path, writer_factory: BulkWriterFactory[Any]) -> None:
        given: object = writer_factory
        if not isinstance(given, BulkWriterFactory):
            raise TypeError(f"{sink.__name__}.for_bulk_format takes a BulkWriterFactory, got {writer_factory!r}")
        super().__init__(sink, base_path, writer_factory, OnCheckpointRollingPolicy())


class FileSink(TwoPhaseCommittingSink[Any, PartFile]):
    """Writes files; make one with :meth:`for_row_format` or :meth:`for_bulk_format`.

    Below the base path, in buckets (directories), every subtask writes part files under hidden names. With the
    checkpoint that follows the end of a file it gets its name, ``part-<writer>-<number>``, in one step. So who reads
    the directory sees every record once, whatever fails. Without checkpoints files get their names when the input ends.

    The base path is a path that all slots share, or a URL that pyarrow or fsspec opens; there, files end at every
    checkpoint.

    ::

        sink = (
            FileSink.for_row_format("/data/orders", Encoder.simple_string_encoder())
            .with_bucket_assigner(BucketAssigner.date_time_bucket_assigner("yyyy-MM-dd"))
            .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
            .build()
        )
        orders.sink_to(sink)
    """

    BaseBuilder = _Builder
    RowFormatBuilder = FileRowFormatBuilder
    BulkFormatBuilder = FileBulkFormatBuilder

    def __init__(self, settings: FileSinkSettings) -> None:
        self._settings = settings

    @staticmethod
    def for_row_format(base_path: Path, encoder: Encoder[Any]) -> FileRowFormatBuilder[FileSink]:
        """One record after the other, as the encoder writes it."""
        return FileRowFormatBuilder(FileSink, base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: Path, writer_factory: BulkWriterFactory[Any]) -> FileBulkFormatBuilder[FileSink]:
        """Formats of which only whole files can be read. A file ends with every checkpoint."""
        return FileBulkFormatBuilder(FileSink, base_path, writer_factory)

    def create_writer(self, context: WriterInitContext) -> FileWriter:
        return FileWriter(self._settings, context)

    def restore_writer(self, context: WriterInitContext, state: list[Any]) -> FileWriter:
        return FileWriter(self._settings, context, state)

    def create_committer(self, context: CommitterInitContext) -> FileCommitter:
        return FileCommitter(self._settings.open_store())


class StreamingFileSink(FileSink):
    """The :class:`FileSink` under its older name; give it to ``add_sink``."""

    DefaultRowFormatBuilder = FileRowFormatBuilder
    DefaultBulkFormatBuilder = FileBulkFormatBuilder

    @staticmethod
    def for_row_format(base_path: Path, encoder: Encoder[Any]) -> FileRowFormatBuilder[StreamingFileSink]:
        return FileRowFormatBuilder(StreamingFileSink, base_path, encoder)

    @staticmethod
    def for_bulk_format(
        base_path: Path, writer_factory: BulkWriterFactory[Any]
    ) -> FileBulkFormatBuilder[StreamingFileSink]:
        return FileBulkFormatBuilder(StreamingFileSink, base_path, writer_factory)
