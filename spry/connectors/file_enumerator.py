"""Finds files, cuts them into splits and hands these to readers."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

from spry.common.source import SplitEnumerator, SplitEnumeratorContext
from spry.connectors.file_splits import FileSourceSplit, cut_into_splits
from spry.connectors.file_store import FoundFile, Location, open_store

__all__ = ["FileDiscovery", "FileEnumerator", "PendingFiles", "check_local_paths"]


@dataclass(frozen=True, slots=True)
class PendingFiles:
    """What an enumerator's checkpoint holds."""

    splits: tuple[FileSourceSplit, ...]
    """Not yet with a reader."""
    known: frozenset[tuple[str, str]] = frozenset()
    """Root and path of every file that was found so far; empty if the source is bounded."""


@dataclass(frozen=True, slots=True)
class FileDiscovery:
    """What an enumerator has to know of its source."""

    source: str
    """What the source is called in messages."""
    locations: tuple[Location, ...]
    splittable: bool
    min_split_size: int
    interval: float | None
    """Seconds between two looks for new files; None to look only once."""


def _not_found(source: str, location: Location) -> FileNotFoundError:
    return FileNotFoundError(f"{source}: there is no file, directory or match for the path '{location.given}'")


def check_local_paths(discovery: FileDiscovery) -> None:
    """Raise an error for the first path on this machine where nothing is.

    A pattern may match nothing as long as files may come.
    """
    for location in discovery.locations:
        if location.is_local and not open_store(location.root).exists(location.path):
            if discovery.interval is None or not any(character in location.path for character in "*?["):
                raise _not_found(discovery.source, location)


def _list_files(discovery: FileDiscovery) -> list[tuple[str, FoundFile]]:
    """All files there are now, each once, with their stores."""
    files: dict[tuple[str, str], FoundFile] = {}
    for location in discovery.locations:
        store = open_store(location.root)
        found = store.find(location.path)
        if not found and discovery.interval is None and not store.exists(location.path):
            raise _not_found(discovery.source, location)
        for file in found:
            files.setdefault((location.root, file.path), file)
    return [(root, file) for (root, _), file in files.items()]


class _Listing(threading.Thread):
    """Looks for files beside the job: a remote store may take long to answer."""

    def __init__(self, list_files: Callable[[], list[tuple[str, FoundFile]]]) -> None:
        super().__init__(name="spry-file-discovery", daemon=True)
        self._list_files = list_files
        self._files: list[tuple[str, FoundFile]] = []
        self._error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self._files = self._list_files()
        except Exception as e:
            self._error = e

    def result(self) -> list[tuple[str, FoundFile]]:
        if self._error is not None:
            raise self._error
        return self._files


class FileEnumerator(SplitEnumerator[FileSourceSplit, PendingFiles]):
    """Gives readers a few splits at once, and fewer as fewer are left, so that they end together."""

    def __init__(
        self,
        context: SplitEnumeratorContext[FileSourceSplit],
        discovery: FileDiscovery,
        checkpoint: PendingFiles | None = None,
    ) -> None:
        self._context = context
        self._discovery = discovery
        self._restored = checkpoint is not None
        self._pending = deque(checkpoint.splits if checkpoint is not None else ())
        self._known = set(checkpoint.known if checkpoint is not None else ())
        self._waiting: set[int] = set()
        """Readers that asked when there was nothing to give."""
        self._done: set[int] = set()
        """Readers that know that nothing more will come."""
        self._listing: _Listing | None = None
        self._list_at = 0.0

    def start(self) -> None:
        if self._restored:
            return
        self._add(_list_files(self._discovery))
        self._list_at = monotonic() + (self._discovery.interval or 0)

    def add_reader(self, subtask: int) -> None:
        self._give(subtask)

    def handle_split_request(self, subtask: int, requester_host: str | None) -> None:
        if not self._give(subtask):
            self._waiting.add(subtask)

    def add_splits_back(self, splits: list[FileSourceSplit], subtask: int) -> None:
        self._pending.extendleft(reversed(splits))
        self._done.discard(subtask)

    def discover(self) -> None:
        if self._discovery.interval is None:
            return
        if self._listing is None:
            if monotonic() >= self._list_at:
                discovery = self._discovery
                self._listing = _Listing(lambda: _list_files(discovery))
            return
        if self._listing.is_alive():
            return
        listing, self._listing = self._listing, None
        self._list_at = monotonic() + self._discovery.interval
        self._add(listing.result())
        for subtask in sorted(self._waiting):
            if self._give(subtask):
                self._waiting.discard(subtask)

    def snapshot_state(self, checkpoint_id: int) -> PendingFiles:
        return PendingFiles(tuple(self._pending), frozenset(self._known))

    def _add(self, files: Iterable[tuple[str, FoundFile]]) -> None:
        new = [(root, file) for root, file in files if (root, file.path) not in self._known]
        if self._discovery.interval is not None:
            # What is empty now may be about to be written, so it stays unknown.
            new = sorted((item for item in new if item[1].size != 0), key=lambda item: item[1].modified)
            self._known.update((root, file.path) for root, file in new)
        by_root: dict[str, list[FoundFile]] = {}
        for root, file in new:
            by_root.setdefault(root, []).append(file)
        discovery, readers = self._discovery, self._context.current_parallelism()
        for root, found in by_root.items():
            self._pending.extend(cut_into_splits(root, found, readers, discovery.splittable, discovery.min_split_size))

    def _give(self, subtask: int) -> bool:
        """Assign splits; False if there are none."""
        pending = self._pending
        given = bool(pending)
        if pending:
            left = sum(split.size for split in pending)
            budget = left // (2 * self._context.current_parallelism())
            while pending:
                split = pending.popleft()
                self._context.assign_split(split, subtask)
                budget -= split.size
                if not pending or pending[0].size > budget:
                    break
        if not pending and self._discovery.interval is None:
            for reader in {subtask, *self._context.registered_readers()} - self._done:
                self._done.add(reader)
                self._context.signal_no_more_splits(reader)
        return given
