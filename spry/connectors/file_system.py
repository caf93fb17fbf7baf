"""Sources that read files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from spry.common.errors import InvalidProgramError
from spry.common.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from spry.common.time import Duration
from spry.common.typeinfo import TypeInformation
from spry.connectors.compression import decompressed
from spry.connectors.file_enumerator import FileDiscovery, FileEnumerator, PendingFiles, check_local_paths
from spry.connectors.file_splits import MIN_SPLIT_SIZE, FileSourceSplit
from spry.connectors.file_store import Location, open_store
from spry.connectors.stream_format import RecordReader, StreamFormat, TextLineFormat
from spry.connectors.text_lines import CHUNK_SIZE
from spry.pyflink_alias import FILES

__all__ = [
    "FileEnumeratorProvider",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "StreamFormat",
    "TextLineSource",
]

_MANY_FILES_SECONDS = 0.01
"""How long one poll may go on opening small files."""

_SMALL_SPLIT = 1 << 16

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class FileEnumeratorProvider:
    """Whether files are cut into several splits."""

    splittable: bool

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Files are cut if they are not compressed and the format can read from any byte on. The default."""
        return FileEnumeratorProvider(True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Every file is read by one subtask, from its start to its end."""
        return FileEnumeratorProvider(False)


@dataclass(frozen=True)
class FileSplitAssignerProvider:
    """Which reader is given which split."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Splits go to the readers that ask first. The default, and the only one."""
        return FileSplitAssignerProvider()


class FileSource(Source[FileSourceSplit, PendingFiles]):
    """Reads files; make one with :meth:`for_record_stream_format`.

    A path may be a file, a directory (with all that is below it), a pattern with ``*``, ``**``, ``?`` and
    ``[...]`` (``*``, ``**`` and ``[...]`` in URLs), or a URL that pyarrow or fsspec opens, such as ``s3://``
    and ``hdfs://``. In directories and patterns, names that start with ``.`` or ``_`` are left out.
    Files that end with ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` are decompressed.

    ::

        source = (
            FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/data/logs")
            .monitor_continuously(Duration.of_seconds(10))
            .build()
        )
        env.from_source(source, WatermarkStrategy.no_watermarks(), "logs")
    """

    def __init__(
        self,
        stream_format: StreamFormat,
        paths: Iterable[Path],
        discovery_interval: Duration | None = None,
        splittable: bool = True,
        min_split_size: int = MIN_SPLIT_SIZE,
    ) -> None:
        self.stream_format = stream_format
        name = type(self).__name__
        locations = tuple(Location.of(path) for path in paths)
        if not locations:
            raise ValueError(f"{name}: there must be at least one path")
        self._discovery = FileDiscovery(
            name,
            locations,
            splittable and stream_format.is_splittable(),
            min_split_size,
            _seconds(name, discovery_interval),
        )
        check_local_paths(self._discovery)

    @staticmethod
    def for_bulk_file_format(*arguments: Any) -> FileSourceBuilder:
        """Refused, with what to do instead."""
        raise InvalidProgramError(f"FileSource.for_bulk_file_format: {FILES}")

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: Path) -> FileSourceBuilder:
        """Starts with how the files are written and where they are."""
        return FileSourceBuilder(stream_format, *paths)

    def gives_timestamps(self) -> bool:
        return False

    def get_boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED if self._discovery.interval is None else Boundedness.CONTINUOUS_UNBOUNDED

    def get_produced_type(self) -> TypeInformation | None:
        return self.stream_format.get_produced_type()

    def create_enumerator(
        self, context: SplitEnumeratorContext[FileSourceSplit]
    ) -> SplitEnumerator[FileSourceSplit, PendingFiles]:
        return FileEnumerator(context, self._discovery)

    def restore_enumerator(
        self, context: SplitEnumeratorContext[FileSourceSplit], checkpoint: PendingFiles
    ) -> SplitEnumerator[FileSourceSplit, PendingFiles]:
        return FileEnumerator(context, self._discovery, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[FileSourceSplit]:
        return _Reader(self.stream_format, context)


class TextLineSource(FileSource):
    """The lines of text files, as strings without their ends (``\\n`` or ``\\r\\n``); bounded.

    See :class:`FileSource` for what a path may be.

    >>> TextLineSource(["/usr/share"]).monitor_continuously(Duration.of_seconds(5)).get_boundedness().name
    'CONTINUOUS_UNBOUNDED'

    :param paths: One path or several.
    :param charset: How the files are written, such as ``UTF-8`` or ``ISO-8859-1``.
    :param min_split_size: Files are not cut into parts of fewer bytes.
    :param chunk_size: How many bytes are read at once.
    """

    def __init__(
        self,
        paths: Path | Iterable[Path],
        charset: str = "UTF-8",
        *,
        min_split_size: int = MIN_SPLIT_SIZE,
        chunk_size: int = CHUNK_SIZE,
    ) -> None:
        super().__init__(
            TextLineFormat(charset, chunk_size),
            [paths] if isinstance(paths, str | os.PathLike) else paths,
            min_split_size=min_split_size,
        )

    def monitor_continuously(self, discovery_interval: Duration) -> TextLineSource:
        """The same, but unbounded: it looks for new files again and again, and reads each file once.

        A file must be complete when it appears: write it elsewhere, then move it.
        """
        source = copy(self)
        source._discovery = replace(
            self._discovery, interval=_seconds("TextLineSource.monitor_continuously", discovery_interval)
        )
        return source


class FileSourceBuilder:
    """Makes a :class:`FileSource`."""

    def __init__(self, stream_format: StreamFormat, *paths: Path) -> None:
        self._stream_format = stream_format
        self._paths = paths
        self._interval: Duration | None = None
        self._splittable = True

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Look for new files again and again, in this interval; the source is unbounded.

        Each file is read once. It must be complete when it appears: write it elsewhere, then move it.
        """
        _seconds("FileSource.monitor_continuously", discovery_interval)
        self._interval = discovery_interval
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that are there when the job starts; the source is bounded. The default."""
        self._interval = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Whether files are cut into several splits."""
        self._splittable = file_enumerator.splittable
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Which reader is given which split."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise TypeError(f"FileSource: split_assigner must be a FileSplitAssignerProvider, got {split_assigner!r}")
        return self

    def build(self) -> FileSource:
        """The source. A path on this machine must exist by now."""
        return FileSource(self._stream_format, self._paths, self._interval, self._splittable)


def _seconds(owner: str, interval: Duration | None) -> float | None:
    if interval is None:
        return None
    given: object = interval
    if not isinstance(given, Duration):
        raise TypeError(f"{owner}: discovery_interval must be a Duration, got {interval!r}")
    if interval.to_nanos() <= 0:
        raise ValueError(f"{owner}: discovery_interval must be greater than 0, got {interval}")
    return interval.to_nanos() / 1e9


class _Reader(SourceReader[FileSourceSplit]):
    """Reads one split after the other, and asks for more when it takes up its last one."""

    def __init__(self, stream_format: StreamFormat, context: SourceReaderContext) -> None:
        self._format = stream_format
        self._context = context
        self._splits: deque[FileSourceSplit] = deque()
        self._records: RecordReader | None = None
        """Of the first split; None if it was not opened yet."""
        self._asked = False
        self._no_more_splits = False

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        wanted = output.max_records
        deadline = 0.0
        while self._splits:
            split = self._splits[0]
            if self._records is None:
                now = monotonic()
                deadline = deadline or now + _MANY_FILES_SECONDS
                if now > deadline:
                    return InputStatus.MORE_AVAILABLE
                self._ask()
                self._records = self._open(split)
            batch = self._records.read(wanted)
            if batch:
                output.collect_batch(batch)
                wanted -= len(batch)
                # Small files fill a batch together. Long lines must not: they may be too much at once.
                if wanted <= 0 or split.size > _SMALL_SPLIT:
                    return InputStatus.MORE_AVAILABLE
            else:
                self._records.close()
                self._records = None
                self._splits.popleft()
        self._ask()
        return InputStatus.END_OF_INPUT if self._no_more_splits else InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: list[FileSourceSplit]) -> None:
        self._asked = False
        self._splits.extend(splits)

    def notify_no_more_splits(self) -> None:
        self._no_more_splits = True

    def snapshot_state(self, checkpoint_id: int) -> list[FileSourceSplit]:
        splits = list(self._splits)
        if self._records is not None:
            splits[0] = replace(splits[0], position=self._records.position())
        return splits

    def close(self) -> None:
        if self._records is not None:
            self._records.close()

    def _ask(self) -> None:
        if len(self._splits) <= 1 and not self._asked and not self._no_more_splits:
            self._asked = True
            self._context.send_split_request()

    def _open(self, split: FileSourceSplit) -> RecordReader:
        stream = open_store(split.root).open(split.path)
        try:
            return self._format.create_reader(decompressed(split.path, stream), split)
        except BaseException:
            stream.close()
            raise
