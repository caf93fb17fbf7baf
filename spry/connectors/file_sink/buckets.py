"""Which directory below the base path a record goes to."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["BucketAssigner"]


class BucketAssigner(ABC):
    """Chooses a bucket, a directory below the base path, for every record. Must be picklable.

    >>> class ByCountry(BucketAssigner):
    ...     def get_bucket_id(self, element, context):
    ...         return f"country={element['country']}"
    """

    class Context(ABC):
        """What is known about the record."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The machine's clock, in ms."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Event time, in ms."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The record's event time in ms, None if it has none."""

    @abstractmethod
    def get_bucket_id(self, element: Any, context: BucketAssigner.Context) -> str:
        """A path relative to the base path; empty for the base path itself."""

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """All records go to the base path itself."""
        return _BasePath()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """Records go to a bucket for the time at which they are written, by the machine's clock.

        >>> BucketAssigner.date_time_bucket_assigner("yyyy/MM/dd", "UTC").format(0)
        '1970/01/01'

        :param format_str: As Java's DateTimeFormatter has it: ``y M d H h m s S a E D``, ``'text'``.
        :param timezone_id: Such as ``Europe/Berlin`` or ``UTC+1``; by default the machine's time zone.
        """
        return _DateTime(format_str, timezone_id)


class _BasePath(BucketAssigner):
    def get_bucket_id(self, element: Any, context: BucketAssigner.Context) -> str:
        return ""


class _DateTime(BucketAssigner):
    def __init__(self, pattern: str, timezone_id: str | None) -> None:
        self._zone = _zone(timezone_id)
        self._parts = list(_parse(pattern))
        self._unit = 1 if any(letter == "S" for letter, _ in self._parts) else 1000
        self._at = -1
        self._formatted = ""

    def get_bucket_id(self, element: Any, context: BucketAssigner.Context) -> str:
        now = context.current_processing_time()
        if now // self._unit != self._at:
            self._at = now // self._unit
            self._formatted = self.format(now)
        return self._formatted

    def format(self, millis: int) -> str:
        """The bucket of a time."""
        time = datetime.fromtimestamp(millis // 1000, self._zone) + timedelta(milliseconds=millis % 1000)
        return "".join(_FIELDS[letter](time, text) if letter else text for letter, text in self._parts)


def _number(value: int, letters: str) -> str:
    return str(value).zfill(len(letters))


def _year(time: datetime, letters: str) -> str:
    return f"{time.year % 100:02}" if len(letters) == 2 else _number(time.year, letters)


def _month(time: datetime, letters: str) -> str:
    return _number(time.month, letters) if len(letters) < 3 else _text(_MONTHS[time.month - 1], letters)


def _text(name: str, letters: str) -> str:
    return name if len(letters) == 4 else name[:3]


_MONTHS = ["January", "February", "March", "April", "May", "June", "July"]
_MONTHS += ["August", "September", "October", "November", "December"]  # English, whatever the locale.
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

_FIELDS: dict[str, Callable[[datetime, str], str]] = {
    "y": _year,
    "u": _year,
    "M": _month,
    "d": lambda time, letters: _number(time.day, letters),
    "D": lambda time, letters: _number(time.timetuple().tm_yday, letters),
    "E": lambda time, letters: _text(_DAYS[time.weekday()], letters),
    "H": lambda time, letters: _number(time.hour, letters),
    "h": lambda time, letters: _number(time.hour % 12 or 12, letters),
    "a": lambda time, letters: "AM" if time.hour < 12 else "PM",
    "m": lambda time, letters: _number(time.minute, letters),
    "s": lambda time, letters: _number(time.second, letters),
    "S": lambda time, letters: f"{time.microsecond:06}".ljust(len(letters), "0")[: len(letters)],
}


def _parse(pattern: str) -> list[tuple[str, str]]:
    """The parts of a pattern: a letter and its repetitions, or no letter and the text that stands there."""
    given: object = pattern
    if not isinstance(given, str) or not pattern:
        raise TypeError(f"BucketAssigner: format_str must be a pattern such as 'yyyy-MM-dd--HH', got {pattern!r}")
    parts: list[tuple[str, str]] = []
    for match in re.finditer(r"''|'((?:[^']|'')*)'|([A-Za-z])\2*|.", pattern, re.DOTALL):
        found, letter = match[0], match[2]
        if letter is not None:
            if letter not in _FIELDS:
                raise ValueError(
                    f"BucketAssigner: format_str {pattern!r} has the letter {letter!r}; there are "
                    f"{' '.join(_FIELDS)}, and text goes between single quotes"
                )
            parts.append((letter, found))
        elif found == "'":
            raise ValueError(f"BucketAssigner: format_str {pattern!r} has a single quote that is not closed")
        else:
            parts.append(("", "'" if found == "''" else (match[1] or "").replace("''", "'") or found))
    return parts


def _zone(timezone_id: str | None) -> tzinfo | None:
    if timezone_id is None:
        return None  # The machine's, where the sink runs.
    offset = re.fullmatch(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?", timezone_id)
    if offset is not None:
        sign = -1 if offset[1] == "-" else 1
        return timezone(sign * timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0)))
    try:
        return ZoneInfo("UTC" if timezone_id == "Z" else timezone_id)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"BucketAssigner: there is no time zone {timezone_id!r}; try 'Europe/Berlin'") from error
