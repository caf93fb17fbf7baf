"""Progress: a live line in a terminal, a line every few seconds in a log."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

from spry.common.options import ProgressMode

__all__ = ["Progress", "console_lines"]

_REDRAW_SECONDS = 0.1


def _count(number: float) -> str:
    """A number that people can read.

    >>> _count(950), _count(12_345), _count(3_200_000)
    ('950', '12.3k', '3.2M')
    """
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


class Progress:
    """Shows how far one job is."""

    def __init__(
        self, job_name: str, mode: ProgressMode, interval_seconds: float, stream: TextIO | None = None
    ) -> None:
        self._stream = stream if stream is not None else sys.stderr
        terminal = self._stream.isatty()
        if mode is ProgressMode.AUTO:
            mode = ProgressMode.LIVE if terminal else ProgressMode.LOG
        self._mode = mode
        self._name = job_name
        self._interval = _REDRAW_SECONDS if mode is ProgressMode.LIVE else interval_seconds
        self._last_shown = time.monotonic()
        self._started = time.monotonic()
        self._rate_from = (time.monotonic(), 0)
        self._rate = 0.0
        self._drawn = False

    def update(self, epoch: int, records: int, backlog: bool) -> None:
        """After each epoch: records read so far, and whether there is more to read right now."""
        now = time.monotonic()
        since, before = self._rate_from
        if records < before:  # The job was restarted.
            self._rate_from = since, before = now, records
        if now - since >= 0.5:
            self._rate = (records - before) / (now - since)
            self._rate_from = (now, records)
        if self._mode is ProgressMode.NONE or now - self._last_shown < self._interval:
            return
        self._last_shown = now
        state = "catching up" if backlog else "up to date"
        self._show(
            f"{self._name}: epoch {epoch}, {_count(records)} records, {_count(self._rate)}/s, {state}, "
            f"{now - self._started:.0f} s"
        )

    def note(self, text: str) -> None:
        """Something that happens once and takes a while."""
        if self._mode is not ProgressMode.NONE:
            self._show(f"{self._name}: {text}" if self._name else text)

    def _show(self, text: str) -> None:
        if self._mode is ProgressMode.LIVE:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[2K" + text[:width])
            self._drawn = True
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def clear(self) -> None:
        """Take the live line away, so that something else can be printed."""
        if self._drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._drawn = False


def console_lines(lines: list[tuple[bool, str]], progress: Progress) -> None:
    """Print what the job's print sinks have to say."""
    if not lines:
        return
    progress.clear()
    for to_error in (False, True):
        texts = [text for error, text in lines if error is to_error]
        if texts:
            stream = sys.stderr if to_error else sys.stdout
            stream.write("\n".join(texts) + "\n")
            stream.flush()
