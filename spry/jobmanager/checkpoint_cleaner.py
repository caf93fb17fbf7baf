"""The checkpoint cleaner: removes the files of checkpoints that nobody needs any more, in a thread of its own.

Files in ``shared`` belong to several checkpoints. The coordinator says which are needed; nothing else is known here, so
that a file never disappears because a checkpoint was on its way from one of the coordinator's lists to another.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue

from spry.runtime.checkpoints.metadata import METADATA, CheckpointMetadata
from spry.runtime.checkpoints.storage import location, open_checkpoint_store

__all__ = ["SHARED", "CheckpointCleaner"]

SHARED = "shared"
"""The directory of shared files, beside those of checkpoints."""
_PATIENCE_SECONDS = 1.0
_CLOSE_SECONDS = 300.0


class CheckpointCleaner:
    """Removes what it is told to unless it is needed. What cannot be removed stays."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """Guards the fields; never held while files are removed."""
        self._deleting = threading.Lock()
        """Held while a file is removed that a new checkpoint might write again."""
        self._needed: frozenset[str] = frozenset()
        self._uploading = False
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False

    def keep(self, checkpoints: Iterable[CheckpointMetadata], files: Iterable[str], uploading: bool) -> None:
        """These checkpoints and these files, by location, are needed, and no others.

        ``uploading`` says whether slots may be writing shared files that are in no list yet.
        """
        needed = set(files)
        for checkpoint in checkpoints:
            needed |= locations(checkpoint)
        with self._lock:
            self._needed, self._uploading = frozenset(needed), uploading

    def begin_upload(self) -> bool:
        """Slots are about to write shared files: nothing is swept from now on, until ``keep`` allows it again.

        False if a removal hangs: it could hit a file that the new checkpoint writes again.
        """
        with self._lock:
            self._uploading = True
        if not self._deleting.acquire(timeout=_PATIENCE_SECONDS):
            return False
        self._deleting.release()
        return True

    def remove_checkpoint(self, checkpoint: CheckpointMetadata) -> None:
        """Remove a checkpoint's files, and the shared ones that no other needs."""
        if checkpoint.directory is not None:
            self.run(partial(self._remove_checkpoint, checkpoint, checkpoint.directory))

    def _remove_checkpoint(self, checkpoint: CheckpointMetadata, directory: str) -> None:
        if self._is_needed(location(directory, METADATA)):
            return
        store = open_checkpoint_store(directory)
        store.remove(METADATA)  # First, so that a half-removed checkpoint is none.
        with contextlib.suppress(Exception):
            store.remove("")
        for path in checkpoint.shared_files():
            # What is live in a database is in its newest checkpoint, too: nobody writes such a file again.
            if not self._is_needed(location(directory, path)):
                store.remove(path)

    def remove_directory(self, directory: str) -> None:
        """Remove a checkpoint that never was complete, or that was given up."""
        self.run(lambda: open_checkpoint_store(directory).remove(""))

    def sweep(self, directory: str) -> None:
        """Remove shared files in a job's own directory that no checkpoint refers to: given-up ones have left them."""
        self.run(partial(self._sweep, directory))

    def _sweep(self, directory: str) -> None:
        store = open_checkpoint_store(directory)
        for name in store.names(SHARED):
            path = f"{SHARED}/{name}"
            # The next checkpoint may write just this file again, as nobody told its slot that it is there.
            with self._deleting:
                with self._lock:
                    if self._uploading:
                        return
                if not self._is_needed(location(directory, path)):
                    store.remove(path)

    def tidy_up(self, directory: str) -> None:
        """Remove from a job's own directory what belongs to no complete checkpoint, and itself if nothing is left."""
        self.run(partial(self._tidy_up, directory))

    def _tidy_up(self, directory: str) -> None:
        store = open_checkpoint_store(directory)
        names = store.names()
        kept = [n for n in names if n.startswith("chk-") and store.size(f"{n}/{METADATA}") is not None]
        for name in names:
            if name not in kept and (name.startswith("chk-") or (name == SHARED and not kept)):
                store.remove(name)
        if not store.names():
            store.remove("")

    def _is_needed(self, where: str) -> bool:
        with self._lock:
            return where in self._needed

    # The thread

    def run(self, call: Callable[[], None]) -> None:
        """Do something after all that was asked for before."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._calls.put(call)
                if self._thread is None:
                    # A store that hangs does not keep the process from ending.
                    self._thread = threading.Thread(target=self._work, name="checkpoint cleaner", daemon=True)
                    self._thread.start()
        if closed:
            with contextlib.suppress(Exception):
                call()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            with contextlib.suppress(Exception):
                call()

    def close(self) -> None:
        """Wait until all is removed, within reason."""
        with self._lock:
            self._closed = True
        self._calls.put(None)
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)


def locations(checkpoint: CheckpointMetadata) -> set[str]:
    """Where a checkpoint's metadata and its shared files are."""
    directory = checkpoint.directory
    if directory is None:
        return set()
    return {location(directory, name) for name in (METADATA, *checkpoint.shared_files())}
